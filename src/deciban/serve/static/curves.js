// The evidence of the values of one column, for every class, with the band of the counts.

import { colour } from "./bars.js";
import { axes, band, legend, line, pointed } from "./chart.js";
import { element, table } from "./dom.js";
import { short, signed } from "./numbers.js";
import { say } from "./words.js";

const MAX_CLASSES = 8;
const LIMIT = 100; // decibans beyond this are drawn here

const bounded = (value) => Math.max(-LIMIT, Math.min(LIMIT, value ?? LIMIT));

function shown(curve) {
  const all = curve.classes.map((_, i) => i).filter((i) => curve.classes[i] !== curve.against);
  return (curve.classes.length === 2 && curve.against === null ? [1] : all).slice(0, MAX_CLASSES);
}

function told(curve, i, classes) {
  const says = classes.map((c) => `${curve.classes[c]} ${signed(curve.decibans[i][c])}`).join(", ");
  const rows = curve.rows ? ` · ${say("rowsOf", Math.round(curve.rows[i]).toLocaleString())}` : "";
  return `${curve.labels[i]}: ${says}${rows}`;
}

// Where a value is on the axis: a number, or a time in milliseconds.
const place = (value) => (typeof value === "number" ? value : Date.parse(value));
const isTime = (curve) => curve.x.every((value) => typeof value === "string" && /^\d{4}-\d\d/.test(value));

function numbers(curve, classes) {
  const xs = curve.x.map(place);
  const date = (value) => new Date(value).toISOString().slice(0, 10);
  const column = (of, c) => of.map((row) => bounded(row[c]));
  const drawn = classes.flatMap((c) => [...column(curve.decibans, c),
    ...(curve.low ? [...column(curve.low, c), ...column(curve.high, c)] : [])]);
  const chart = axes({
    x: [Math.min(...xs), Math.max(...xs)], y: [Math.min(0, ...drawn), Math.max(0, ...drawn)],
    format: isTime(curve) ? date : undefined, xText: curve.column, yText: say("decibans"), label: say("curveLabel", curve.column),
  });
  for (const c of classes) {
    if (curve.low) chart.drawing.append(band(chart, xs, column(curve.low, c), column(curve.high, c), colour(c)));
  }
  for (const c of classes) chart.drawing.append(line(chart, xs, column(curve.decibans, c), colour(c)));
  const answer = pointed(chart, xs, (i) => told(curve, i, classes));
  return [chart.drawing, answer];
}

function values(curve, classes) {
  const order = curve.x.map((_, i) => i);
  if (curve.rows) order.sort((a, b) => curve.rows[b] - curve.rows[a]);
  const interval = (i, c) => (curve.low ? ` (${signed(curve.low[i][c])} … ${signed(curve.high[i][c])})` : "");
  const rows = order.slice(0, 40).map((i) => [
    curve.labels[i], ...classes.map((c) => element("span", { className: curve.decibans[i][c] < 0 ? "text against" : "text for" },
      signed(curve.decibans[i][c]), element("small", { textContent: interval(i, c) }))),
    curve.rows ? Math.round(curve.rows[i]).toLocaleString() : "",
  ]);
  return [table([curve.column, ...classes.map((c) => curve.classes[c]), say("rowsTotal")], rows, say("curveLabel", curve.column))];
}

export function drawCurve(curve) {
  const classes = shown(curve);
  const numeric = curve.kind !== "category" && curve.x.length > 1 && (isTime(curve) || curve.x.every((x) => typeof x === "number"));
  const head = numeric ? [legend(classes.map((c) => curve.classes[c]), classes.map(colour))] : [];
  const foot = curve.low && numeric ? [element("p", { className: "note", textContent: say("bandNote", short(100 * curve.level)) })] : [];
  return [...head, ...(numeric ? numbers(curve, classes) : values(curve, classes)), ...foot];
}
