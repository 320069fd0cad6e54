// What a person has set: the row, base rates, costs. It is in the URL's fragment, which never leaves
// the machine, so that a link brings it back.

export const state = { row: {}, priors: null, costs: {}, abstain: null };
const listeners = new Set();

export const onChange = (listener) => listeners.add(listener);
export const forgetListeners = () => listeners.clear();

export function readFragment() {
  const [part, written = ""] = location.hash.slice(1).split("?");
  let kept = {};
  try {
    kept = written ? JSON.parse(decodeURIComponent(written)) : {};
  } catch {
    kept = {}; // a link that was cut off
  }
  return { part, kept: kept && typeof kept === "object" ? kept : {} };
}

// Takes what a link says; only columns and classes that the model has.
export function restore(kept, model) {
  const names = new Set(model.columns.filter((column) => column.used).map((column) => column.name));
  const known = (of) => of && typeof of === "object"
    && Object.keys(of).every((name) => model.names.includes(name));
  const row = Object.entries(kept.row ?? {}).filter(([name, value]) =>
    names.has(name) && ["string", "number", "boolean"].includes(typeof value));
  state.row = Object.fromEntries(row);
  state.priors = known(kept.priors) ? kept.priors : null;
  state.costs = known(kept.costs) ? kept.costs : {};
  state.abstain = typeof kept.abstain === "number" ? kept.abstain : null;
}

export function fragment(part) {
  const kept = { row: state.row };
  if (state.priors) kept.priors = state.priors;
  if (Object.keys(state.costs).length) kept.costs = state.costs;
  if (state.abstain !== null) kept.abstain = state.abstain;
  const something = Object.keys(state.row).length || Object.keys(kept).length > 1;
  return `#${part}${something ? `?${encodeURIComponent(JSON.stringify(kept))}` : ""}`;
}

export function changed(source) {
  for (const listener of listeners) listener(source);
}

export function setRow(row, source) {
  state.row = row;
  changed(source);
}
