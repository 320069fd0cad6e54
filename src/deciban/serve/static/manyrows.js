// Many rows: a file with an answer for every row; the unsure and the surprising ones first.

import { onFile } from "./drop.js";
import { at, element, options, show, table } from "./dom.js";
import { percent, short } from "./numbers.js";
import { download, sendFile } from "./service.js";
import { setRow } from "./state.js";
import { say } from "./words.js";

//: Rows that are kept of each order while a file of any size goes by, and rows that are shown.
const MAX_KEPT = 2000;
const MAX_SHOWN = 200;
const MAX_COLUMNS = 6;
let file;
let orders = {};
let names = [];

// The first of an order: rows come one after the other, the best are kept.
class Best {
  constructor(value) {
    this.value = value;
    this.rows = [];
  }

  add(row) {
    this.rows.push(row);
    if (this.rows.length >= 2 * MAX_KEPT) this.rows = this.sorted();
  }

  sorted() {
    return this.rows.sort((a, b) => this.value(b) - this.value(a) || a.number - b.number).slice(0, MAX_KEPT);
  }
}

async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const pieces = (rest + part.value).split("\n");
    rest = pieces.pop();
    for (const piece of pieces) if (piece) yield JSON.parse(piece);
  }
  if (rest) yield JSON.parse(rest);
}

// A line of the answer: the values that came, the answer, and how unsure and surprising it is.
function read(line, number, model) {
  const p = model.names.map((name) => line[`p_${name}`]);
  const answer = line.prediction;
  const truth = model.target in line ? line[model.target] : undefined;
  const chance = p[model.names.indexOf(String(truth))];
  const known = new Set(["prediction", "novelty", ...model.names.map((name) => `p_${name}`)]);
  return {
    number, answer, truth, p: Math.max(...p),
    unsure: -p.reduce((sum, one) => sum + (one > 0 ? one * Math.log(one) : 0), 0),
    surprising: chance === undefined ? 1 - (line.novelty ?? 1) : 1 - chance,
    values: Object.fromEntries(Object.entries(line).filter(([name]) => !known.has(name))),
  };
}

function open(row, model) {
  const used = new Set(model.columns.filter((column) => column.used).map((column) => column.name));
  const values = Object.entries(row.values).filter(([name, value]) => used.has(name) && value !== null);
  setRow(Object.fromEntries(values), "opened");
  at("truth").textContent = row.truth === undefined ? "" : say("truth", row.truth);
  location.hash = "#row";
}

function draw(model) {
  const order = orders[at("order").value];
  if (!order) return;
  const used = model.columns.filter((column) => column.used && names.includes(column.name)).map((column) => column.name);
  const columns = used.slice(0, MAX_COLUMNS);
  const labelled = names.includes(model.target);
  const headings = [say("number"), say("answerHead"), say("probability"), ...(labelled ? [model.target] : []), say("surprising"), ...columns];
  const rows = order.sorted().slice(0, MAX_SHOWN).map((row) => [
    element("button", { type: "button", className: "link", textContent: row.number, "aria-label": say("openRow", row.number), onclick: () => open(row, model) }),
    row.answer, percent(row.p),
    ...(labelled ? [element("span", { className: String(row.truth) === String(row.answer) ? "" : "wrong", textContent: row.truth ?? "" })] : []),
    percent(row.surprising), ...columns.map((name) => (row.values[name] === null ? "" : short(row.values[name]))),
  ]);
  show(at("rows-table"), table(headings, rows, say("rows")));
}

async function take(chosen, model, complain) {
  file = chosen;
  complain(null);
  at("rows-state").textContent = say("reading", file.name);
  show(at("rows-table"));
  at("rows-tools").hidden = true;
  const counts = new Map(model.names.map((name) => [name, 0]));
  orders = { unsure: new Best((row) => row.unsure), surprising: new Best((row) => row.surprising), order: new Best((row) => -row.number) };
  let number = 0;
  try {
    const response = await sendFile(`/api/batch?keep=*&novelty=${model.novelty}`, file, { Accept: "application/x-ndjson" });
    for await (const line of lines(response)) {
      number += 1;
      if (number === 1) names = Object.keys(line);
      const row = read(line, number, model);
      counts.set(String(row.answer), (counts.get(String(row.answer)) ?? 0) + 1);
      for (const order of Object.values(orders)) order.add(row);
      if (number % 5000 === 0) at("rows-state").textContent = say("readSoFar", number);
    }
  } catch (error) {
    at("rows-state").textContent = "";
    complain(error);
    return;
  }
  const shares = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name, n]) => `${name} ${n.toLocaleString()}`);
  at("rows-state").textContent = `${say("readAll", file.name, number)}: ${shares.join(", ")}`;
  at("rows-tools").hidden = number === 0;
  draw(model);
}

export function buildManyRows(model, complain) {
  options(at("order"), [["unsure", say("byUnsure")], ["surprising", say("bySurprising")], ["order", say("byNumber")]]);
  at("order").onchange = () => draw(model);
  onFile("rows-drop", "rows-file", (chosen) => take(chosen, model, complain));
  at("rows-download").onclick = async () => {
    try {
      const response = await sendFile("/api/batch?keep=*", file, { Accept: "text/csv" });
      download(await response.blob(), `${file.name.replace(/\.\w+(\.gz)?$/, "")}.predictions.csv`);
    } catch (error) {
      complain(error);
    }
  };
}
