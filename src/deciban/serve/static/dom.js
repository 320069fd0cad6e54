// Elements of the page, made by script: text is always text, and nothing needs inline styles.

const namespace = "http://www.w3.org/2000/svg";

export const at = (id) => document.getElementById(id);

function fill(made, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list" && !(made instanceof SVGElement)) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function element(name, properties = {}, ...children) {
  return fill(document.createElement(name), properties, children);
}

export function shape(name, properties = {}, ...children) {
  return fill(document.createElementNS(namespace, name), properties, children);
}

export function show(parent, ...children) {
  parent.replaceChildren(...children.flat().filter(Boolean));
}

export function options(select, pairs, chosen) {
  show(select, pairs.map(([value, text]) => element("option", { value, textContent: text })));
  if (chosen !== undefined) select.value = chosen;
}

// A table: the first row of cells are headings; cells are texts or elements.
export function table(headings, rows, caption) {
  const cell = (content) => (content instanceof Node ? content : String(content ?? ""));
  return element("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": caption },
    element("table", {},
      element("caption", { className: "hidden", textContent: caption }),
      element("thead", {}, element("tr", {},
        headings.map((text) => element("th", { scope: "col" }, cell(text))))),
      element("tbody", {}, rows.map((row) => element("tr", {},
        row.map((content, i) => (i ? element("td", {}, cell(content))
          : element("th", { scope: "row" }, cell(content)))))))));
}

// Runs a function now, or once more after the run that goes on: never two at a time.
export function latest(work) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      do {
        again = false;
        await work();
      } while (again);
    } finally {
      running = false;
    }
  };
}
