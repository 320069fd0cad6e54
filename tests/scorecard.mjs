// A reader of scorecards: the probability of every class for rows of a table.
import { readFileSync } from "node:fs";
const gone = (x) => x === null || x === undefined || Number.isNaN(x);
const num = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);
const math = { exp: Math.exp, log: Math.log, log1p: Math.log1p, sin: Math.sin, sqrt: Math.sqrt,
  abs: Math.abs, floor: Math.floor, square: (x) => x * x };
function value(e, row) {
  if (!Array.isArray(e)) return num(e);
  const [name, ...rest] = e, x = () => rest.map((part) => value(part, row));
  if (name === "label") return rest[0];
  if (name === "column") return row[rest[0]] === "" && !rest[2] ? null : row[rest[0]];
  if (name === "missing") return gone(value(rest[0], row));
  if (name === "case") {
    const hit = rest.slice(0, -1).find(([condition]) => value(condition, row) === true);
    return value(hit ? hit[1] : rest.at(-1), row);
  }
  const all = x();
  if (name === "and") return all.every((one) => one === true);
  if (name === "or") return all.some((one) => one === true);
  if (all.some(gone)) return null;
  if (name in math) return math[name](all[0]);
  const [a, b] = all;
  return { "+": () => all.reduce((s, t) => s + t, 0), "*": () => a * b, "/": () => a / b,
    modulo: () => ((a % b) + b) % b, "=": () => a === b, "<": () => a < b, "<=": () => a <= b,
    ">": () => a > b, ">=": () => a >= b }[name]();
}
function points(part, row) {
  if (part.formula) return part.formula.map((e) => value(e, row));
  const x = value(part.x, row);
  if (gone(x)) return part.missing.map(num);
  if (part.edges) return part.points[part.edges.filter((edge) => edge <= x).length].map(num);
  const at = part.values.indexOf(x);
  return (at < 0 ? part.unseen : part.points[at]).map(num);
}
export function predict(card, row) {
  if (card.refused.some((condition) => value(condition, row) === true)) return null;
  const total = card.prior.map(num);
  for (const column of card.columns)
    for (const part of column.parts) points(part, row).forEach((p, k) => (total[k] += p));
  const top = Math.max(...total), best = top === -Infinity ? card.fallback.map(num) : total;
  const odds = best.map((t) => 10 ** ((t - Math.max(...best)) / 10));
  return odds.map((o) => o / odds.reduce((s, t) => s + t));
}
const { card, rows } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map((row) => predict(card, row))));
