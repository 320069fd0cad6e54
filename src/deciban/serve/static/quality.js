// How good the model is on labelled rows: figures beside guessing, confusion and reliability.

import { axes, line } from "./chart.js";
import { element, shape, show, table } from "./dom.js";
import { percent } from "./numbers.js";
import { say } from "./words.js";

const MAX_MATRIX = 20;

function figures(e) {
  const row = (name, format) => {
    const { value, interval, baseline } = e[name];
    const between = interval ? `${format(interval[0])} – ${format(interval[1])}` : "";
    return [say(name), format(value), between, format(baseline)];
  };
  const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  const share = (value) => (value === null || value === undefined ? "–" : percent(value));
  return table([say("figure"), say("value"), say("interval", percent(e.confidence)), say("guessing", e.guess)],
    [row("accuracy", share), row("log_loss", number), row("brier", number), row("roc_auc", number),
      row("calibration_error", share)], say("good"));
}

function confusion(e) {
  const names = e.classes.map((one) => one.class ?? one.label ?? one.name);
  if (names.length > MAX_MATRIX) return element("p", { className: "note", textContent: say("tooMany", names.length) });
  const most = Math.max(...e.confusion.flat());
  const cell = (value, i, j) => {
    const strength = value ? Math.max(1, Math.ceil((5 * value) / most)) : 0;
    return element("td", { className: `cell ${i === j ? "right" : "wrong"} s${strength}`, textContent: value.toLocaleString() });
  };
  return element("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": say("confusion") },
    element("table", { className: "confusion" },
      element("thead", {}, element("tr", {}, element("td", { textContent: say("truthAnswer") }),
        names.map((name) => element("th", { scope: "col", textContent: name })))),
      element("tbody", {}, e.confusion.map((row, i) => element("tr", {},
        element("th", { scope: "row", textContent: names[i] }), row.map((value, j) => cell(value, i, j)))))));
}

function reliability(e) {
  const bins = e.reliability.filter((bin) => bin.weight > 0);
  const chart = axes({ x: [0, 1], y: [0, 1], xText: say("stated"), yText: say("cameTrue"), label: say("reliability"), format: (v) => percent(v).replace(".0", "") });
  chart.drawing.append(shape("line", { class: "zero", x1: chart.scaleX(0), x2: chart.scaleX(1), y1: chart.scaleY(0), y2: chart.scaleY(1) }),
    line(chart, bins.map((bin) => bin.stated), bins.map((bin) => bin.observed), "c0"));
  for (const bin of bins) {
    const x = chart.scaleX(bin.stated);
    chart.drawing.append(
      shape("line", { class: "whisker", x1: x, x2: x, y1: chart.scaleY(bin.interval[0]), y2: chart.scaleY(bin.interval[1]) }),
      shape("circle", { class: "point c0", cx: x, cy: chart.scaleY(bin.observed), r: 4 }));
  }
  return chart.drawing;
}

export function drawQuality(part, e) {
  show(part, element("p", { textContent: say(e.leave_one_out ? "judgedLeftOut" : "judgedOn", e.rows.toLocaleString()) }), figures(e),
    element("div", { className: "pair" },
      element("div", {}, element("h3", { textContent: say("confusion") }), confusion(e)),
      element("div", {}, element("h3", { textContent: say("reliability") }), reliability(e))));
}
