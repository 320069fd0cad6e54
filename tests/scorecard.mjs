// A reader of scorecards: the probability of every class for rows of a table.
import { readFileSync } from "node:fs";
const gone = (x) => x === null || x === undefined || Number.isNaN(x), yes = (x) => x === true;
const num = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);
const logic = { missing: gone, and: (...all) => all.every(yes), or: (...all) => all.some(yes) };
const math = { "+": (...all) => all.reduce((s, t) => s + t, 0), "*": (a, b) => a * b,
  "/": (a, b) => a / b, modulo: (a, b) => ((a % b) + b) % b, square: (a) => a * a, "=": (a, b) => a === b,
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
function value(e, row) {
  if (!Array.isArray(e)) return num(e);
  const [name, first, , empty] = e, held = ([when]) => yes(value(when, row));
  if (name === "label") return first;
  if (name === "column") return row[first] === "" && !empty ? null : row[first];
  if (name === "case") return value((e.slice(1, -1).find(held) ?? [null, e.at(-1)])[1], row);
  const all = e.slice(1).map((part) => value(part, row));
  if (name in logic) return logic[name](...all);
  return all.some(gone) ? null : (math[name] ?? Math[name])(...all);
}
function points(part, row) {
  if (part.formula) return part.formula.map((e) => value(e, row));
  const x = value(part.x, row);
  const at = part.edges ? part.edges.filter((edge) => edge <= x).length : part.values.indexOf(x);
  return (gone(x) ? part.missing : at < 0 ? part.unseen : part.points[at]).map(num);
}
export function predict(card, row) {
  if (card.refused.some((condition) => yes(value(condition, row)))) return null;
  const all = card.columns.flatMap((column) => column.parts.map((part) => points(part, row)));
  const total = card.prior.map((p, k) => all.reduce((sum, own) => sum + own[k], num(p)));
  const best = Math.max(...total) === -Infinity ? card.fallback.map(num) : total;
  const odds = best.map((t) => 10 ** ((t - Math.max(...best)) / 10));
  return odds.map((o) => o / odds.reduce((s, t) => s + t));
}
const { card, rows } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map((row) => predict(card, row))));
