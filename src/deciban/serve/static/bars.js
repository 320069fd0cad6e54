// Tables with bars, drawn in SVG: attributes, never styles, so that nothing needs an exception.

const svg = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function bar(value, most, signed) {
  const drawing = shape("svg", {
    class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true",
  });
  const zero = signed ? 50 : 0;
  const width = most > 0 ? ((signed ? 50 : 100) * Math.abs(value)) / most : 0;
  drawing.append(
    shape("rect", {
      class: value < 0 ? "against" : "for", x: value < 0 ? zero - width : zero, y: 1, width, height: 8,
    }),
  );
  if (signed) drawing.append(shape("line", { class: "axis", x1: 50, x2: 50, y1: 0, y2: 10 }));
  return drawing;
}

export function fillTable(table, rows, signed) {
  const most = Math.max(0, ...rows.map((row) => Math.abs(row.value ?? 0)));
  table.replaceChildren();
  for (const row of rows) {
    const line = table.insertRow();
    if (row.total) line.className = "total";
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = row.name;
    if (row.unseen) name.className = "unseen";
    const number = document.createElement("td");
    number.className = "number";
    number.textContent = row.text;
    const cell = document.createElement("td");
    cell.className = "bar";
    cell.append(bar(row.value ?? 0, row.most ?? most, signed));
    line.append(name, number, cell);
  }
}
