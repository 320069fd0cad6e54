// Small charts in SVG: lines with bands, points, and a pointer that is answered.

import { element, shape } from "./dom.js";
import { short, ticks } from "./numbers.js";

const WIDTH = 640;
const HEIGHT = 280;
const LEFT = 52;
const BOTTOM = 34;
const TOP = 26;
const RIGHT = 26;

export function axes({ x, y, xText, yText, label, height = HEIGHT, format = short }) {
  const scaleX = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * (value - x[0])) / (x[1] - x[0] || 1);
  const scaleY = (value) => height - BOTTOM - ((height - BOTTOM - TOP) * (value - y[0])) / (y[1] - y[0] || 1);
  const drawing = shape("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label });
  for (const value of ticks(...y, 4)) {
    drawing.append(
      shape("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: scaleY(value), y2: scaleY(value) }),
      shape("text", { x: LEFT - 6, y: scaleY(value) + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of ticks(...x, 6)) {
    drawing.append(shape("text", { x: scaleX(value), y: height - BOTTOM + 16, "text-anchor": "middle" }, format(value)));
  }
  if (y[0] < 0 && y[1] > 0) drawing.append(shape("line", { class: "zero", x1: LEFT, x2: WIDTH - RIGHT, y1: scaleY(0), y2: scaleY(0) }));
  drawing.append(
    shape("text", { x: WIDTH - RIGHT, y: height - 4, "text-anchor": "end", class: "title" }, xText ?? ""),
    shape("text", { x: 4, y: 13, "text-anchor": "start", class: "title" }, yText ?? ""));
  return { drawing, scaleX, scaleY, value: (pixel) => x[0] + ((pixel - LEFT) / (WIDTH - LEFT - RIGHT)) * (x[1] - x[0]) };
}

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export function line(chart, xs, ys, kind) {
  const points = xs.map((x, i) => [chart.scaleX(x), chart.scaleY(ys[i])]);
  return shape("path", { class: `line ${kind}`, d: path(points) });
}

export function band(chart, xs, low, high, kind) {
  const up = xs.map((x, i) => [chart.scaleX(x), chart.scaleY(high[i])]);
  const down = xs.map((x, i) => [chart.scaleX(x), chart.scaleY(low[i])]).reverse();
  return shape("path", { class: `band ${kind}`, d: `${path([...up, ...down])}Z` });
}

// Says what is under the pointer: `tell` gives a text for a value of x.
export function pointed(chart, xs, tell) {
  const rule = shape("line", { class: "rule", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  const told = element("p", { className: "told", role: "status" });
  chart.drawing.append(rule);
  chart.drawing.addEventListener("pointermove", (event) => {
    const box = chart.drawing.getBoundingClientRect();
    const value = chart.value(((event.clientX - box.left) / box.width) * WIDTH);
    const nearest = xs.reduce((best, x, i) => (Math.abs(x - value) < Math.abs(xs[best] - value) ? i : best), 0);
    rule.setAttribute("x1", chart.scaleX(xs[nearest]));
    rule.setAttribute("x2", chart.scaleX(xs[nearest]));
    rule.setAttribute("visibility", "visible");
    told.textContent = tell(nearest);
  });
  return told;
}

export function legend(names, kinds) {
  return element("p", { className: "legend" }, names.map((name, i) =>
    element("span", { className: `key ${kinds[i]}` }, name)));
}
