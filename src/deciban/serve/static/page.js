// The page: its parts, one at a time, and where it is, which the URL's fragment says.

import { at, element, show } from "./dom.js";
import { buildManyRows } from "./manyrows.js";
import { buildModel } from "./modelview.js";
import { buildOneRow } from "./onerow.js";
import { ask, rememberToken } from "./service.js";
import { changed, forgetListeners, fragment, onChange, readFragment, restore } from "./state.js";
import { buildTeach } from "./teach.js";
import { buildTrain } from "./train.js";
import { buildWatch } from "./watch.js";
import { chooseLanguage, language, say } from "./words.js";

let model;
let parts = {}; // what is done when a part is opened
let current;

function complain(error) {
  at("problem").textContent = error ? error.message : "";
  at("problem").hidden = !error;
  if (error?.status === 401) {
    at("login").hidden = false;
    at("token").focus();
  }
}

function open(part) {
  current = part;
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== `view-${part}`;
  for (const link of at("parts").children) {
    if (link.dataset.part === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  parts[part]?.();
}

function route() {
  const { part, kept } = readFragment();
  if (part === "main") return; // where the keyboard skips to
  const known = part in parts ? part : Object.keys(parts)[0];
  if (model.kind !== null && part === "row" && Object.keys(kept).length) {
    restore(kept, model);
    changed("link");
  }
  if (known !== current) open(known);
}

function describe() {
  at("title").textContent = model.target ?? "deciban";
  document.title = `${model.target ?? model.kind ?? say("train")} · deciban`;
  at("about").textContent = model.kind === null ? say("noModel") : say("about", model);
  show(at("parts"), Object.keys(parts).map((part) =>
    element("a", { href: `#${part}`, "data-part": part, "aria-current": part === current ? "page" : null, textContent: say(`part_${part}`) })));
}

// After a lesson: figures of the model are no longer those that are shown.
async function renew() {
  const before = model.names.join("\n");
  Object.assign(model, await ask("/api/model"));
  if (model.names.join("\n") !== before) await begin();
  else describe();
}

let writing;

function remember(source) {
  if (source === "link") return;
  clearTimeout(writing); // browsers limit how often an address may change
  writing = setTimeout(() => { if (current === "row") history.replaceState(null, "", fragment("row")); }, 250);
}

function build() {
  parts = {};
  forgetListeners();
  onChange(remember);
  if (model.trains) parts.train = buildTrain(complain, begin);
  if (model.kind !== null) {
    const update = buildOneRow(model, complain);
    buildManyRows(model, complain);
    Object.assign(parts, { row: update, rows: () => {}, model: buildModel(model) });
    at("teach-this").hidden = !model.learns;
    if (model.learns) parts.teach = buildTeach(model, complain, renew);
    parts.watch = buildWatch(model, complain);
  }
}

async function begin() {
  try {
    const isFirst = model === undefined;
    model = await ask("/api/model");
    at("login").hidden = true;
    complain(null);
    if (isFirst) chooseLanguage(model.language);
    build();
    describe();
    if (model.kind !== null && isFirst) restore(readFragment().kept, model);
    if (isFirst) route();
    changed("link");
  } catch (error) {
    complain(error);
  } finally {
    at("main").removeAttribute("aria-busy");
  }
}

window.addEventListener("hashchange", () => { if (model) route(); }); // begin() goes there else
at("row").addEventListener("submit", (event) => event.preventDefault());
at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  rememberToken(at("token").value);
  begin();
});
at("language").addEventListener("change", () => {
  chooseLanguage(at("language").value, true);
  location.reload();
});
at("copy-link").addEventListener("click", async () => {
  history.replaceState(null, "", fragment("row"));
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  at("copied").textContent = say("copied");
  setTimeout(() => { at("copied").textContent = ""; }, 3000);
});
at("teach-this").addEventListener("click", () => { location.hash = "#teach"; });
at("open-trained").addEventListener("click", () => { location.hash = "#row"; });
language();
begin();
