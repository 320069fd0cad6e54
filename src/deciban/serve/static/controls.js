// Controls for the columns of a model: each gives its value, undefined where it is missing.

import { say } from "./words.js";

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function choice(values, name) {
  const select = element("select", { name });
  select.append(element("option", { value: "", textContent: say("missing") }));
  values.forEach((value, i) => {
    const text = value === true ? say("yes") : value === false ? say("no") : String(value);
    select.append(element("option", { value: String(i), textContent: text }));
  });
  return [select, () => (select.value === "" ? undefined : values[Number(select.value)])];
}

function field(column) {
  const kinds = { date: "date", timestamp: "datetime-local", time: "time" };
  const type = kinds[column.unit] ?? (column.kind === "categorical" ? "text" : "number");
  const input = element("input", { name: column.name, type });
  if (type === "number") input.step = "any";
  const value = () => {
    if (input.value === "") return undefined;
    return type === "number" ? input.valueAsNumber : input.value;
  };
  return [input, value];
}

function control(column) {
  if (column.kind === "boolean") return choice([true, false], column.name);
  if (column.kind === "categorical" && column.values.length) {
    return choice(column.values, column.name);
  }
  if (column.kind === "text") {
    const area = element("textarea", { name: column.name, rows: 4 });
    return [area, () => (area.value === "" ? undefined : area.value)];
  }
  return field(column);
}

export function buildControls(form, columns) {
  const values = new Map();
  form.replaceChildren();
  for (const column of columns.filter((one) => one.used)) {
    const [made, value] = control(column);
    const label = element("label", { title: column.reason }, column.name, made);
    if (column.kind === "text") label.className = "wide";
    form.append(label);
    values.set(column.name, value);
  }
  return () => {
    const row = {};
    for (const [name, value] of values) {
      const one = value();
      if (one !== undefined) row[name] = one;
    }
    return row;
  };
}
