// Watch: requests a second, drift of each column since training, and how well taught answers were
// foreseen, each judged before it was learnt.

import { axes, line } from "./chart.js";
import { at, element, shape, show } from "./dom.js";
import { percent } from "./numbers.js";
import { ask } from "./service.js";
import { say } from "./words.js";

const SECONDS = 2;
const MAX_POINTS = 90;
const MIN_ROWS = 30;
let seen = [];
let timer;

const tile = (name, value) => element("div", { className: "tile" }, element("span", { textContent: name }), element("strong", { textContent: value }));

function showRates() {
  const rates = seen.slice(1).map((now, i) => {
    const before = seen[i];
    const seconds = now.time - before.time || 1;
    const requests = now.requests - before.requests;
    return { time: now.time, requests: requests / seconds, rows: (now.rows - before.rows) / seconds,
      mean: requests ? (1000 * (now.seconds - before.seconds)) / requests : 0 };
  });
  const now = seen.at(-1);
  const last = rates.at(-1) ?? { requests: 0, rows: 0, mean: 0 };
  show(at("watch-tiles"),
    tile(say("requestsPerSecond"), last.requests.toFixed(1)), tile(say("rowsPerSecond"), last.rows.toFixed(1)),
    tile(say("milliseconds"), last.mean.toFixed(2)), tile(say("requests"), now.requests.toLocaleString()),
    tile(say("rowsTotal"), now.rows.toLocaleString()), tile(say("mistakes"), now.mistakes.toLocaleString()),
    tile(say("failures"), now.failures.toLocaleString()));
  if (rates.length < 2) return;
  const xs = rates.map((rate) => rate.time - now.time);
  const chart = axes({ x: [Math.min(-30, xs[0]), 0], y: [0, Math.max(1, ...rates.map((rate) => rate.requests))],
    xText: say("secondsAgo"), yText: say("requestsPerSecond"), label: say("requestsPerSecond"), height: 180, format: (v) => String(-v) });
  chart.drawing.append(line(chart, xs, rates.map((rate) => rate.requests), "c0"));
  show(at("watch-rates"), chart.drawing);
}

function driftRow(drift) {
  const width = Math.min(100, 200 * drift.index);
  return element("tr", {}, element("th", { scope: "row", textContent: drift.column }),
    element("td", { className: "number", textContent: drift.index.toFixed(3) }),
    element("td", { className: "bar" }, shape("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      shape("rect", { class: drift.verdict === "the same" ? "for" : "against", width, height: 10 }))),
    element("td", { textContent: say(drift.verdict) }),
    element("td", { textContent: drift.verdict === "the same" ? "" : say("movedMost", drift.cell, percent(drift.before), percent(drift.now)) }));
}

function showDrift(watched) {
  at("drift-note").textContent = watched.recent_rows < MIN_ROWS ? say("fewRows", watched.recent_rows, MIN_ROWS)
    : say("driftNote", watched.recent_rows.toLocaleString());
  show(at("drift"), watched.recent_rows < MIN_ROWS ? [] : watched.drift.map(driftRow));
}

function showLosses(points, learns) {
  at("losses-part").hidden = !learns;
  const some = points.filter((point) => point.log_loss !== null);
  if (!some.length) {
    show(at("losses"), element("p", { className: "note", textContent: say("noLosses") }));
    return;
  }
  let sum = 0;
  const xs = some.map((point) => (sum += point.lessons));
  const ys = some.map((point) => point.log_loss);
  const chart = axes({ x: [0, Math.max(...xs)], y: [0, Math.max(0.1, ...ys)], xText: say("lessonsTaught"), yText: say("log_loss"), label: say("lossLabel"), height: 200 });
  chart.drawing.append(line(chart, xs, ys, "c1"));
  xs.forEach((x, i) => chart.drawing.append(shape("circle", { class: "point c1", cx: chart.scaleX(x), cy: chart.scaleY(ys[i]), r: 3 })));
  show(at("losses"), chart.drawing);
}

export function buildWatch(model, complain) {
  const look = async () => {
    try {
      const watched = await ask("/api/watch");
      seen = [...seen, watched].slice(-MAX_POINTS);
      showRates();
      showDrift(watched);
      showLosses(watched.log_losses, model.learns);
    } catch (error) {
      complain(error);
    }
  };
  return async () => {
    clearInterval(timer);
    timer = setInterval(() => (at("view-watch").hidden ? clearInterval(timer) : look()), 1000 * SECONDS);
    await look();
  };
}
