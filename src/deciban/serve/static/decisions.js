// Controls of the decision: base rates, costs and abstaining. The evidence does not move with them.

import { cost, withRate } from "./decision.js";
import { at, element, show } from "./dom.js";
import { percent } from "./numbers.js";
import { changed, onChange, state } from "./state.js";
import { say } from "./words.js";

//: More classes than this have no controls: nobody would read them.
const MAX_RATES = 12;
const MAX_COSTS = 6;

function rates(model) {
  const lines = model.names.map((name, i) => {
    const slider = element("input", { type: "range", min: 0, max: 1, step: 0.005, "aria-label": say("rateOf", name) });
    const shown = element("output", {});
    slider.addEventListener("input", () => {
      state.priors = withRate(state.priors ?? model.priors, name, Number(slider.value));
      changed("decision");
    });
    const draw = () => {
      const rate = (state.priors ?? model.priors)[name];
      slider.value = rate;
      slider.setAttribute("aria-valuetext", percent(rate));
      shown.textContent = percent(rate);
    };
    return { node: element("div", { className: "rate" }, element("span", { className: `text c${i % 8}`, textContent: name }), slider, shown), draw };
  });
  return lines;
}

function costs(model) {
  const inputs = [];
  const input = (answer, truth) => {
    const made = element("input", { type: "number", min: 0, step: "any", "aria-label": say("costOf", answer, truth) });
    made.addEventListener("input", () => {
      const row = { ...state.costs[answer] };
      if (made.value === "") delete row[truth];
      else row[truth] = made.valueAsNumber;
      state.costs = { ...state.costs, [answer]: row };
      if (!Object.keys(row).length) delete state.costs[answer];
      changed("decision");
    });
    const draw = () => {
      if (document.activeElement !== made) made.value = cost(state.costs, answer, truth);
    };
    inputs.push({ draw });
    return made;
  };
  const head = element("tr", {}, element("td", { textContent: say("answerTruth") }),
    model.names.map((truth) => element("th", { scope: "col", textContent: truth })));
  const rows = model.names.map((answer) => element("tr", {}, element("th", { scope: "row", textContent: answer }),
    model.names.map((truth) => element("td", {}, input(answer, truth)))));
  return { node: element("div", { className: "scroll" }, element("table", { className: "costs" }, head, rows)), inputs };
}

export function buildDecision(model) {
  const parts = [];
  const drawn = [];
  if (model.priors && model.names.length <= MAX_RATES) {
    const lines = rates(model);
    drawn.push(...lines);
    parts.push(element("h3", { textContent: say("rates") }), ...lines.map((line) => line.node));
  }
  if (model.names.length <= MAX_COSTS) {
    const { node, inputs } = costs(model);
    drawn.push(...inputs);
    parts.push(element("h3", { textContent: say("costs") }), node);
  }
  const abstain = element("input", { type: "number", min: 0, step: 0.01, id: "abstain", placeholder: say("never") });
  abstain.addEventListener("input", () => {
    state.abstain = abstain.value === "" ? null : abstain.valueAsNumber;
    changed("decision");
  });
  drawn.push({ draw: () => { if (document.activeElement !== abstain) abstain.value = state.abstain ?? ""; } });
  const reset = element("button", { type: "button", textContent: say("reset"), onclick: () => {
    Object.assign(state, { priors: null, costs: {}, abstain: null });
    document.activeElement.blur();
    changed("decision");
  } });
  parts.push(element("p", { className: "line" }, element("label", { htmlFor: "abstain", textContent: say("abstainCost") }), abstain, reset));
  show(at("decision-controls"), parts);
  const draw = () => drawn.forEach((one) => one.draw());
  onChange(draw);
  draw();
}
