// A nomogram that answers: each scale has a mark that follows the pointer or the arrow keys; the
// points add up to a probability. It begins with the values of the row.

import { at, element, options, shape, show } from "./dom.js";
import { percent, short } from "./numbers.js";
import { ask } from "./service.js";
import { state } from "./state.js";
import { say } from "./words.js";

const MAX_SCALES = 30;
const WIDTH = 640;
const PAD = 14;

const x = (points) => PAD + ((WIDTH - 2 * PAD) * points) / 100;

// Whether a value is missing is a scale of its own, and shows in the value itself.
const tellsMissing = (scale) => scale.name === `${scale.feature} (missing)`;
const missingAt = (scale, isMissing) => scale.values.findIndex((value) => Boolean(Number(value)) === isMissing);

// Categories that are parts of a time; weeks begin on Monday.
const PARTS = { hour: (time) => time.getHours(), weekday: (time) => (time.getDay() + 6) % 7 };

// The part of a row's time that a scale is about; a date or a time of day alone is a time too.
function partOf(scale, value) {
  const part = PARTS[scale.name.slice(scale.feature.length + 2, -1)];
  const text = String(value);
  const date = text.includes("-") ? text : `2000-01-01T${text}`;
  const time = new Date(date.includes(":") ? date.replace(" ", "T") : `${date}T00:00`);
  return part && !Number.isNaN(time.getTime()) ? part(time) : undefined;
}

// The position of the row's value on a scale; null where it is missing.
function begin(scale) {
  let value = state.row[scale.feature];
  if (tellsMissing(scale)) return missingAt(scale, value === undefined);
  if (value !== undefined && scale.name !== scale.feature) value = partOf(scale, value);
  if (value === undefined) return null;
  if (scale.edges) {
    const at_ = scale.edges.filter((edge) => Number(value) >= edge).length;
    return Math.min(at_, scale.points.length - 1);
  }
  if (scale.kind === "category") {
    const i = scale.values.findIndex((one) => String(one) === String(value));
    return i < 0 ? null : i;
  }
  const number = (one) => (typeof one === "number" ? one : Date.parse(one));
  const distance = scale.values.map((one) => Math.abs(number(one) - number(value)));
  return distance.every(Number.isNaN) ? null : distance.indexOf(Math.min(...distance));
}

function scaleRow(scale, update) {
  let chosen = begin(scale);
  const order = scale.points.map((_, i) => i);
  const marker = shape("circle", { class: "marker", r: 6, cy: 12 });
  const drawing = shape("svg", {
    class: "scale", viewBox: `0 0 ${WIDTH} 36`, tabindex: 0, role: "slider", "aria-label": scale.name,
    "aria-valuemin": 0, "aria-valuemax": scale.points.length - 1,
  }, shape("line", { class: "axis", x1: x(Math.min(...scale.points)), x2: x(Math.max(...scale.points)), y1: 12, y2: 12 }));
  let end = -Infinity; // of the last text
  for (const i of [...order].sort((a, b) => scale.points[a] - scale.points[b])) {
    const place = x(scale.points[i]);
    drawing.append(shape("line", { class: "axis", x1: place, x2: place, y1: 8, y2: 16 }));
    const isNumber = scale.kind === "number" && typeof scale.values[i] === "number" && !scale.edges;
    const text = short(isNumber ? scale.values[i] : scale.labels[i]);
    const width = 7 * text.length;
    const left = Math.max(0, Math.min(WIDTH - width, place - width / 2));
    if (left < end + 8) continue;
    drawing.append(shape("text", { x: left + width / 2, y: 31, "text-anchor": "middle" }, text));
    end = left + width;
  }
  drawing.append(marker);
  const value = element("output", {});
  const draw = () => {
    const points = chosen === null ? scale.missing : scale.points[chosen];
    marker.setAttribute("cx", x(Math.max(0, Math.min(100, points))));
    marker.classList.toggle("empty", chosen === null);
    value.textContent = `${chosen === null ? say("missing") : scale.labels[chosen]}: ${points.toFixed(0)}`;
    drawing.setAttribute("aria-valuenow", chosen ?? 0);
    drawing.setAttribute("aria-valuetext", value.textContent);
  };
  const choose = (i) => {
    chosen = i;
    draw();
    update(scale, i === null);
  };
  const follow = (event) => {
    const box = drawing.getBoundingClientRect();
    const at_ = ((event.clientX - box.left) / box.width) * WIDTH;
    const nearest = order.reduce((best, i) => (Math.abs(x(scale.points[i]) - at_) < Math.abs(x(scale.points[best]) - at_) ? i : best), 0);
    choose(nearest);
  };
  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    follow(event);
  });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) follow(event); });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") choose(null);
    else if (step) choose(Math.max(0, Math.min(order.length - 1, chosen === null ? (step > 0 ? 0 : order.length - 1) : chosen + step)));
    else return;
    event.preventDefault();
  });
  draw();
  const node = element("div", { className: "scale-row" }, element("span", { className: "name", textContent: scale.name }), drawing, value);
  const tell = (feature, isMissing) => {
    if (!tellsMissing(scale) || scale.feature !== feature) return;
    chosen = missingAt(scale, isMissing);
    draw();
  };
  return { node, tell, points: () => (chosen === null ? scale.missing : scale.points[chosen]) };
}

function build(sheet) {
  const total = element("strong", { id: "nomogram-total", role: "status" });
  const bar = shape("rect", { class: "for", height: 10 });
  let rows = [];
  const update = (moved, isMissing) => {
    if (moved && moved.name === moved.feature) rows.forEach((row) => row.tell(moved.feature, isMissing));
    const sum = rows.reduce((points, row) => points + row.points(), 0);
    const p = 1 / (1 + 10 ** (-(sheet.start + sum / sheet.unit) / 10));
    total.textContent = say("nomogramTotal", sum.toFixed(0), sheet.of, percent(p));
    bar.setAttribute("width", 100 * p);
  };
  rows = sheet.scales.slice(0, MAX_SCALES).map((scale) => scaleRow(scale, update));
  update();
  return [...rows.map((row) => row.node), element("p", {}, total),
    shape("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      shape("rect", { class: "ground", width: 100, height: 10 }), bar)];
}

export async function buildNomogram(model) {
  const pairs = model.names.map((name, i) => [String(i), name]);
  const part = at("nomogram");
  const several = model.classes.length > 2;
  at("nomogram-pair").hidden = !several;
  const text = model.columns.find((column) => column.kind === "text");
  if (text || !model.additive) {
    at("nomogram-pair").hidden = true;
    show(part, element("p", { className: "note", textContent: text ? say("noScale", text.name) : say("notAdditive") }));
    return;
  }
  const load = async (body) => {
    try {
      const sheet = await ask("/api/nomogram", body);
      const missing = sheet.scales.slice(MAX_SCALES).reduce((sum, scale) => sum + scale.missing, 0);
      show(part, build({ ...sheet, start: sheet.start + missing / sheet.unit }));
      return sheet;
    } catch (error) {
      show(part, element("p", { className: "note", textContent: error.message }));
      return null;
    }
  };
  const sheet = await load({});
  if (!sheet || !several) return;
  const place = (label) => String(model.classes.indexOf(label));
  options(at("nomogram-of"), pairs, place(sheet.of));
  options(at("nomogram-against"), pairs, place(sheet.against));
  const again = () => {
    const [of, against] = [at("nomogram-of").value, at("nomogram-against").value];
    if (of !== against) load({ of: model.classes[Number(of)], against: model.classes[Number(against)] });
  };
  at("nomogram-of").onchange = again;
  at("nomogram-against").onchange = again;
}
