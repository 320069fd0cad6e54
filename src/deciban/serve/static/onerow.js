// One row: a control for every column, and what the model makes of it while they move.

import { posterior, waterfall } from "./bars.js";
import { control } from "./controls.js";
import { showCounterfactual } from "./counterfactual.js";
import { buildDecision } from "./decisions.js";
import { decide, rebase } from "./decision.js";
import { at, element, latest, show } from "./dom.js";
import { percent } from "./numbers.js";
import { ask } from "./service.js";
import { onChange, setRow, state } from "./state.js";
import { say } from "./words.js";

const MAX_BARS = 20;
let model;
let controls = new Map();
let why;
let all = false;
let example = 0;

function change(name, value) {
  const row = { ...state.row };
  if (value === undefined) delete row[name];
  else row[name] = value;
  setRow(row, "control");
}

// The bars and the answer: what changes with base rates and costs, without asking again.
function showDecision() {
  if (!why) return;
  const { names } = model;
  const p = rebase(why.probabilities, names, model.priors, state.priors);
  const { best, risk, abstains } = decide(p, names, state.costs, state.abstain);
  const asked = state.priors || state.abstain !== null || Object.keys(state.costs).length > 0;
  show(at("decision"), element("strong", { className: abstains ? "" : `text c${best % 8}`,
    textContent: abstains ? say("abstains") : names[best] }),
  asked ? ` ${say("risk", risk.toPrecision(3))}` : ` ${percent(p[best])}`);
  const rows = names.map((name, i) => ({
    name, p: p[i], at: i, before: state.priors ? why.probabilities[i] : null,
  })).sort((a, b) => b.p - a.p).slice(0, MAX_BARS);
  posterior(at("posterior"), rows, abstains ? null : names[best]);
}

function showEvidence() {
  at("compared").textContent = say("compared", why.answer, why.runner_up);
  at("more-terms").hidden = !waterfall(at("evidence"), why, all);
  at("more-terms").textContent = say(all ? "fewer" : "more");
  const terms = new Map(why.terms.map((term) => [term.feature, term]));
  for (const [name, one] of controls) one.mark(terms.get(name));
  at("unseen").textContent = why.terms.filter((term) => term.unseen)
    .map((term) => say("unseen", term.feature, term.value, term.unseen)).join("; ");
  at("novelty").textContent = why.novelty === undefined ? "" : say("novelty", percent(1 - why.novelty));
}

export function buildOneRow(described, complain) {
  model = described;
  const update = latest(async () => {
    const row = state.row;
    try {
      why = await ask("/api/explain", { row, novelty: model.novelty });
    } catch (error) {
      complain(error);
      return;
    }
    complain(null);
    showDecision();
    showEvidence();
    at("view-row").dataset.shown = JSON.stringify(row);
    showCounterfactual(model, why);
  });

  controls = new Map(model.columns.filter((column) => column.used)
    .map((column) => [column.name, control(column, (value) => change(column.name, value))]));
  show(at("row"), [...controls.values()].map((one) => one.node));
  buildDecision(model);

  onChange((source) => {
    if (source !== "control") for (const [name, one] of controls) one.set(state.row[name]);
    if (source === "decision") showDecision();
    else update();
  });
  at("more-terms").onclick = () => {
    all = !all;
    showEvidence();
  };
  at("clear-row").onclick = () => setRow({}, "button");
  at("example").onclick = async () => {
    try {
      const { row, answer } = await ask(`/api/example?number=${example}`);
      example += 1;
      const known = Object.entries(row).filter(([name, value]) => controls.has(name) && value !== null);
      setRow(Object.fromEntries(known), "example");
      at("truth").textContent = answer === null ? "" : say("truth", answer);
    } catch (error) {
      complain(error);
    }
  };
  return update;
}
