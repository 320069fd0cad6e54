// Controls for the columns of a model, made from its schema and its counts; empty means missing.
// Each is { node, set(value), mark(term) }; `change` is called with what a person has set.

import { element, options, shape, show } from "./dom.js";
import { highlight } from "./highlight.js";
import { percent, short } from "./numbers.js";
import { say } from "./words.js";

let made = 0;

function histogram(bars) {
  const most = Math.max(1e-9, ...bars.map(([, , rows]) => rows));
  const drawing = shape("svg", {
    class: "histogram", viewBox: `0 0 ${bars.length} 20`, preserveAspectRatio: "none", "aria-hidden": "true",
  });
  const rects = bars.map(([, , rows], i) => {
    const height = rows ? Math.max(0.6, (20 * rows) / most) : 0;
    return shape("rect", { x: i + 0.06, width: 0.88, y: 20 - height, height });
  });
  drawing.append(...rects);
  const mark = (value) => bars.forEach(([low, high], i) =>
    rects[i].classList.toggle("here", value >= low && (value < high || i === bars.length - 1)));
  return [drawing, mark];
}

function slider(column, change) {
  const [low, high] = [column.bars[0][0], column.bars.at(-1)[1]];
  const step = column.whole ? 1 : (high - low) / 200;
  const range = element("input", { type: "range", min: low, max: high, step, "aria-label": say("slider", column.name) });
  const box = element("input", { type: "number", step: "any", name: column.name, id: column.id, placeholder: say("missing") });
  const [drawing, mark] = histogram(column.bars);
  const set = (value) => {
    const number = value === undefined || value === "" ? undefined : Number(value);
    box.value = number === undefined || Number.isNaN(number) ? "" : number;
    range.classList.toggle("empty", box.value === "");
    range.setAttribute("aria-valuetext", box.value === "" ? say("missing") : short(number));
    range.value = box.value === "" ? (low + high) / 2 : number;
    mark(box.value === "" ? NaN : number);
  };
  const give = (value) => {
    set(value);
    change(box.value === "" ? undefined : box.valueAsNumber);
  };
  range.addEventListener("input", () => give(column.whole ? Math.round(range.value) : Number(Number(range.value).toPrecision(6))));
  box.addEventListener("input", () => give(box.value));
  return [element("div", { className: "slider" }, element("div", { className: "track" }, drawing, range), box), set];
}

function menu(column, change) {
  const total = (column.rows ?? []).reduce((sum, rows) => sum + rows, 0);
  const order = column.values.map((_, i) => i);
  if (column.rows) order.sort((a, b) => column.rows[b] - column.rows[a]);
  const name = (i) => String(column.values[i]) + (total ? ` (${percent(column.rows[i] / total)})` : "");
  const select = element("select", { name: column.name, id: column.id });
  const pairs = [["", say("missing")], ...order.map((i) => [String(i), name(i)])];
  options(select, pairs);
  select.addEventListener("change", () => change(select.value === "" ? undefined : column.values[Number(select.value)]));
  const set = (value) => {
    const i = column.values.findIndex((one) => String(one) === String(value));
    if (value !== undefined && i < 0) { // a value that training did not have
      column.values.push(value);
      column.rows?.push(0);
      select.append(element("option", { value: String(column.values.length - 1), textContent: `${value} (${say("new")})` }));
    }
    select.value = value === undefined ? "" : String(i < 0 ? column.values.length - 1 : i);
  };
  return [select, set];
}

function toggle(column, change) {
  const choices = [[true, say("yes")], [false, say("no")], [undefined, say("missing")]];
  const group = `switch-${(made += 1)}`;
  const inputs = choices.map(([value], i) => element("input", {
    type: "radio", name: group, id: i ? undefined : column.id, onchange: () => change(value),
  }));
  const node = element("div", { className: "switch", role: "radiogroup", "aria-label": column.name },
    choices.map(([, text], i) => element("label", {}, inputs[i], element("span", { textContent: text }))));
  return [node, (value) => { inputs[choices.findIndex(([one]) => one === value)].checked = true; }];
}

function field(column, change) {
  const kinds = { date: "date", timestamp: "datetime-local", time: "time" };
  const type = kinds[column.unit] ?? (column.kind === "categorical" ? "text" : "number");
  const input = element("input", { name: column.name, id: column.id, type, placeholder: say("missing") });
  if (type === "number") input.step = "any";
  if (type === "datetime-local" || type === "time") input.step = 1;
  input.addEventListener("input", () =>
    change(input.value === "" ? undefined : type === "number" ? input.valueAsNumber : input.value));
  return [input, (value) => { input.value = value ?? ""; }];
}

function text(column, change) {
  const area = element("textarea", { name: column.name, id: column.id, rows: 5, placeholder: say("missing") });
  const behind = element("div", { className: "behind", "aria-hidden": "true" });
  const follow = () => { behind.scrollTop = area.scrollTop; };
  area.addEventListener("input", () => {
    show(behind, area.value);
    change(area.value === "" ? undefined : area.value);
  });
  area.addEventListener("scroll", follow);
  const set = (value) => {
    area.value = value ?? "";
    show(behind, area.value);
  };
  const mark = (term) => {
    if (term && term.value === area.value) show(behind, highlight(area.value, term.parts));
    follow();
  };
  return [element("div", { className: "text" }, behind, area), set, mark];
}

function kindOf(column) {
  if (column.kind === "boolean") return toggle;
  if (column.kind === "text") return text;
  if (column.kind === "categorical" && column.values.length) return menu;
  return column.bars?.length ? slider : field;
}

export function control(column, change) {
  const known = { ...column, id: `control-${(made += 1)}` };
  const make = kindOf(column);
  const [node, set, mark] = make(known, change);
  const label = make === toggle
    ? element("span", { className: "name", textContent: column.name })
    : element("label", { className: "name", htmlFor: known.id, textContent: column.name });
  const clear = element("button", {
    type: "button", className: "clear", textContent: "×", title: say("clear"), "aria-label": say("clearOf", column.name),
    onclick: () => { set(undefined); change(undefined); },
  });
  const whole = element("div", { className: "control", title: column.reason },
    element("div", { className: "head" }, label, make === toggle ? null : clear), node);
  return { node: whole, set, mark: mark ?? (() => {}) };
}
