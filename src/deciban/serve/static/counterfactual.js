// What would have to change for another answer; a click makes the change.

import { at, element, latest, options, show } from "./dom.js";
import { cut } from "./highlight.js";
import { percent, signed } from "./numbers.js";
import { ask } from "./service.js";
import { setRow, state } from "./state.js";
import { say } from "./words.js";

let why;
let model;

// The row with a change made; a word is taken out of its text.
function applied(row, change) {
  const next = { ...row };
  if (change.removes) {
    const term = why.terms.find((one) => one.feature === change.feature);
    const ranges = (term?.parts ?? []).filter((part) => part.text === change.before)
      .map((part) => [part.start, part.stop]);
    next[change.feature] = cut(row[change.feature] ?? "", ranges);
  } else if (change.after === null) delete next[change.feature];
  else next[change.feature] = change.after;
  return next;
}

function line(change) {
  const text = change.removes ? say("without", change.before)
    : `${change.before ?? say("missing")} → ${change.after ?? say("missing")}`;
  return element("li", {}, element("span", {}, element("b", { textContent: change.feature }), ` ${text} `,
    element("span", { className: "number", textContent: signed(change.decibans) })),
  element("button", { type: "button", textContent: say("apply"),
    "aria-label": say("applyOf", change.feature, text),
    onclick: () => setRow(applied(state.row, change), "counterfactual") }));
}

const find = latest(async () => {
  const asked = why;
  const target = at("wanted").value;
  const body = { row: state.row };
  if (target !== "") body.target = model.classes[Number(target)];
  let other;
  try {
    ({ counterfactual: other } = await ask("/api/counterfactual", body));
  } catch (error) {
    show(at("changes"), element("li", { textContent: error.message }));
    return;
  }
  if (asked !== why) return; // the row has moved on
  if (!other || !other.changes.length) {
    show(at("changes"), element("li", { textContent: say(other ? "alreadySo" : "noChange") }));
    at("apply-all").hidden = true;
    at("becomes").textContent = "";
    return;
  }
  at("becomes").textContent = say("becomes", other.new_answer, percent(other.probability_before), percent(other.probability_after));
  show(at("changes"), other.changes.map(line));
  at("apply-all").hidden = other.changes.length < 2;
  at("apply-all").onclick = () => setRow(other.changes.reduce(applied, state.row), "counterfactual");
});

let waiting;

// It takes longer than the rest, so it waits until the hand rests.
export function showCounterfactual(described, explanation) {
  if (model !== described) {
    model = described;
    options(at("wanted"), [["", say("anyOther")], ...model.names.map((name, i) => [String(i), name])]);
    at("wanted").onchange = find;
  }
  why = explanation;
  clearTimeout(waiting);
  waiting = setTimeout(find, 150);
}
