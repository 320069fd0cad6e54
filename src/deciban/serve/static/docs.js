// The description of the API as a page; it comes from the service itself.

import { ask } from "./service.js";
import { chooseLanguage, say } from "./words.js";

function add(parent, name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

// The schemas that a schema refers to, by name.
function schemasOf(schema, all, chosen = {}) {
  for (const [name] of JSON.stringify(schema).matchAll(/(?<=#\/components\/schemas\/)\w+/g)) {
    if (name in chosen) continue;
    chosen[name] = all[name];
    schemasOf(all[name], all, chosen);
  }
  return chosen;
}

function show(parent, title, content, all) {
  if (!content) return;
  add(parent, "h3", `${title}: ${Object.keys(content).join(", ")}`);
  const schemas = schemasOf(content, all);
  if (Object.keys(schemas).length) add(parent, "pre", JSON.stringify(schemas, null, 1));
}

try {
  const [model, api] = await Promise.all([ask("/api/model"), ask("/api/openapi.json")]);
  chooseLanguage(model.language);
  const all = api.components.schemas;
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const section = add(document.getElementById("paths"), "section", "");
      add(section, "h2", `${method.toUpperCase()} ${path}`);
      add(section, "p", operation.summary);
      for (const one of operation.parameters ?? []) {
        add(section, "p", `?${one.name}: ${one.description}`);
      }
      show(section, say("asks"), operation.requestBody?.content, all);
      show(section, say("answers"), Object.values(operation.responses)[0].content, all);
    }
  }
} catch (error) {
  const problem = document.getElementById("problem");
  problem.textContent = error.message;
  problem.hidden = false;
}
