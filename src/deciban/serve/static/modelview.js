// The model: importance, curves of evidence, a nomogram, words, and how good it is.

import { signedBars } from "./bars.js";
import { drawCurve } from "./curves.js";
import { at, element, latest, options, show } from "./dom.js";
import { buildNomogram } from "./nomogram.js";
import { drawQuality } from "./quality.js";
import { ask } from "./service.js";
import { say } from "./words.js";

const MAX_FEATURES = 20;
const MAX_WORD_CLASSES = 6;

const note = (error) => element("p", { className: "note", textContent: error.message });

async function importance(model, draw) {
  try {
    const { features, curves } = await ask("/api/importance");
    const used = new Set(model.columns.filter((column) => column.used).map((column) => column.name));
    const rows = features.filter((one) => used.has(one.feature)).slice(0, MAX_FEATURES).map((one) => ({
      name: curves.includes(one.feature) ? element("button", {
        type: "button", className: "link", textContent: one.feature, onclick: () => { at("curve-of").value = one.feature; draw(); },
      }) : one.feature,
      value: one.decibans,
    }));
    show(at("importance"), signedBars(rows, say("importance")));
    const order = new Map(features.map((one, i) => [one.feature, i]));
    const place = (name) => order.get(name) ?? order.size;
    const names = [...curves].sort((a, b) => place(a) - place(b));
    options(at("curve-of"), names.map((name) => [name, name]));
    at("curve-part").hidden = names.length === 0;
    if (names.length) await draw();
  } catch (error) {
    show(at("importance"), note(error));
    at("curve-part").hidden = true;
  }
}

async function words(model) {
  const has = model.columns.some((column) => column.kind === "text");
  at("words-part").hidden = !has;
  if (!has) return;
  const some = model.classes.slice(0, MAX_WORD_CLASSES);
  const lists = await Promise.all(some.map(async (of) => {
    try {
      const answer = await ask("/api/words", { of, n: 15 });
      const rows = answer.words.map((word) => ({ name: word.value, value: word.decibans }));
      return element("div", { className: "words" }, element("h3", { textContent: answer.of }), signedBars(rows, say("wordsFor", answer.of)));
    } catch (error) {
      return note(error);
    }
  }));
  show(at("words"), lists);
}

export function buildModel(model) {
  options(at("curve-against"), [["", say("allOthers")], ...model.names.map((name, i) => [String(i), name])]);
  const draw = latest(async () => {
    const against = at("curve-against").value;
    const body = { column: at("curve-of").value };
    if (against !== "") body.against = model.classes[Number(against)];
    try {
      show(at("curve"), drawCurve(await ask("/api/curve", body)));
    } catch (error) {
      show(at("curve"), note(error));
    }
  });
  at("curve-of").onchange = draw;
  at("curve-against").onchange = draw;
  let built = -1;
  return async () => {
    if (built === model.position) return;
    built = model.position;
    await Promise.all([
      importance(model, draw), words(model), buildNomogram(model),
      model.has_data ? ask("/api/evaluate", {}).then((e) => drawQuality(at("quality"), e), (error) => show(at("quality"), note(error)))
        : show(at("quality"), element("p", { className: "note", textContent: say("noData") })),
    ]);
  };
}
