// Bars of the posterior and the waterfall of the evidence: rows of a table, drawn in SVG. Rows are
// kept and moved while a person turns a control, so that a browser can draw every frame.

import { element, shape } from "./dom.js";
import { percent, signed } from "./numbers.js";
import { say } from "./words.js";

export const colour = (i) => `c${i % 8}`;

// Bars of probabilities: [{ name, p, at, before }], `at` is the place of the class.
export function posterior(table, rows, decided) {
  const known = new Map([...table.rows].map((line) => [line.dataset.name, line]));
  const lines = rows.map(({ name, p, at, before }) => {
    const line = known.get(name) ?? element("tr", {},
      element("th", { scope: "row", textContent: name }),
      element("td", { className: "bar" }, shape("svg", {
        class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true",
      }, shape("rect", { class: "ground", width: 100, height: 10 }),
      shape("rect", { class: colour(at), height: 10 }),
      shape("line", { class: "before", y1: 0, y2: 10 }))),
      element("td", { className: "number" }));
    line.dataset.name = name;
    const [, bar, mark] = line.querySelector("svg").children;
    bar.setAttribute("width", 100 * p);
    mark.setAttribute("visibility", typeof before === "number" ? "visible" : "hidden");
    mark.setAttribute("x1", 100 * (before ?? 0));
    mark.setAttribute("x2", 100 * (before ?? 0));
    line.cells[2].textContent = percent(p);
    line.className = name === decided ? "decided" : "";
    return line;
  });
  table.replaceChildren(...lines);
}

const MAX_TERMS = 12;
const MAX_LETTERS = 60;

const shorten = (value) => {
  const letters = [...String(value)];
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS).join("")}…` : String(value);
};

// The rows of the waterfall: the prior, the strongest terms, the others together, the total.
function steps(why, all) {
  const strength = (term) => Math.abs(term.decibans ?? Infinity);
  const terms = why.terms.filter((term) => term.decibans !== 0).sort((a, b) => strength(b) - strength(a));
  const some = all || terms.length <= MAX_TERMS + 1 ? terms : terms.slice(0, MAX_TERMS);
  const rest = terms.slice(some.length);
  const rows = [{ name: say("prior"), value: why.prior }];
  for (const term of some) {
    rows.push({ name: term.feature, said: shorten(term.value ?? say("missing")), value: term.decibans, unseen: term.unseen });
  }
  if (rest.length) {
    rows.push({ name: say("others", rest.length), value: rest.reduce((sum, term) => sum + term.decibans, 0) });
  }
  return rows;
}

function stepBar(from, to, low, high, joined = true) {
  const x = (value) => (100 * (value - low)) / (high - low || 1);
  return shape("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("line", { class: "axis", x1: x(0), x2: x(0), y1: -6.5, y2: 16 }),
    shape("rect", { class: to < from ? "against" : "for", x: x(Math.min(from, to)), y: 0.5,
      width: Math.max(0.4, x(Math.max(from, to)) - x(Math.min(from, to))), height: 9 }),
    joined && shape("line", { class: "joint", x1: x(to), x2: x(to), y1: 9.5, y2: 22 }));
}

export function waterfall(table, why, all) {
  const rows = steps(why, all);
  let sum = 0;
  const ends = rows.map((row) => (sum += row.value ?? 0));
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const line = (row, from, to, kind) => element("tr", { className: kind },
    element("th", { scope: "row", className: row.unseen ? "unseen" : "", title: row.unseen ?? "" }, row.name,
      row.said === undefined ? null : element("span", { className: "said", textContent: ` = ${row.said}` })),
    element("td", { className: "number", textContent: signed(row.value) }),
    element("td", { className: "bar" }, stepBar(from, to, low, high, !row.last)));
  const lines = rows.map((row, i) => line(row, i ? ends[i - 1] : 0, ends[i], ""));
  lines.push(line({ name: say("total"), value: why.total, last: true }, 0, why.total ?? sum, "total"));
  table.replaceChildren(...lines);
  return why.terms.filter((term) => term.decibans !== 0).length > MAX_TERMS + 1;
}

// Bars for and against: [{ name, value, text }].
export function signedBars(rows, caption) {
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row.value)));
  const low = Math.min(0, ...rows.map((row) => row.value)) < 0 ? -most : 0;
  return element("table", { className: "bars" },
    element("caption", { className: "hidden", textContent: caption }),
    element("tbody", {}, rows.map((row) => element("tr", {},
      element("th", { scope: "row" }, row.name),
      element("td", { className: "number", textContent: row.text ?? signed(row.value) }),
      element("td", { className: "bar" }, stepBar(0, row.value, low, most, false))))));
}
