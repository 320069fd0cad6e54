// The page of one row: controls from the schema, posterior, evidence; all live.

import { fillTable } from "./bars.js";
import { buildControls } from "./controls.js";
import { ask, rememberToken } from "./service.js";
import { chooseLanguage, say } from "./words.js";

const at = (id) => document.getElementById(id);
let readRow = () => ({});
let asked = 0;

function complain(error) {
  at("problem").textContent = error ? error.message : "";
  at("problem").hidden = !error;
  if (error?.status === 401) at("login").hidden = false;
}

function showPosterior(prediction, unseen) {
  const rows = Object.entries(prediction.probabilities)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 20)
    .map(([name, p]) => ({ name, value: p, most: 1, text: `${(100 * p).toFixed(1)} %` }));
  fillTable(at("posterior"), rows, false);
  at("unseen").textContent = Object.entries(unseen ?? {})
    .map(([name, entry]) => say("unseen", name, entry.reason))
    .join("; ");
}

const signed = (value) => (value === null ? "∞" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`);

function showEvidence(why) {
  at("compared").textContent = say("compared", why.answer, why.runner_up);
  const terms = why.terms
    .filter((term) => term.decibans !== 0)
    .sort((a, b) => Math.abs(b.decibans ?? Infinity) - Math.abs(a.decibans ?? Infinity))
    .map((term) => ({
      name: `${term.feature} = ${term.value ?? say("missing")}`,
      value: term.decibans, text: signed(term.decibans), unseen: term.unseen,
    }));
  terms.push({ name: say("prior"), value: why.prior, text: signed(why.prior) });
  terms.push({ name: say("total"), value: why.total, text: signed(why.total), total: true });
  fillTable(at("evidence"), terms, true);
}

async function update() {
  const mine = ++asked; // answers that come too late are not shown
  const row = readRow();
  try {
    const [answer, why] = await Promise.all([
      ask("/api/predict", { rows: [row] }),
      ask("/api/explain", { row }),
    ]);
    if (mine !== asked) return;
    complain(null);
    showPosterior(answer.predictions[0], answer.unseen);
    showEvidence(why);
  } catch (error) {
    if (mine === asked) complain(error);
  }
}

async function begin() {
  try {
    const model = await ask("/api/model");
    at("login").hidden = true;
    chooseLanguage(model.language);
    at("title").textContent = model.target ?? "deciban";
    document.title = `${model.target ?? model.kind} · deciban`;
    at("about").textContent = say("about", model);
    readRow = buildControls(at("row"), model.columns);
    await update();
  } catch (error) {
    complain(error);
  }
}

at("row").addEventListener("input", update);
at("row").addEventListener("submit", (event) => event.preventDefault());
at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  rememberToken(at("token").value);
  begin();
});
begin();
