// A text with its words marked by what they say. Positions count characters as Python does.

import { element } from "./dom.js";
import { signed } from "./numbers.js";

export function cut(text, ranges) {
  const letters = [...text];
  for (const [start, stop] of ranges.sort((a, b) => b[0] - a[0])) letters.splice(start, stop - start);
  return letters.join("").replace(/ {2,}/g, " ");
}

export function highlight(text, parts) {
  const letters = [...text];
  const most = Math.max(1e-9, ...parts.map((part) => Math.abs(part.decibans ?? 30)));
  const pieces = [];
  let done = 0;
  for (const part of [...parts].sort((a, b) => a.start - b.start)) {
    if (part.start < done) continue; // a phrase that overlaps another
    pieces.push(letters.slice(done, part.start).join(""));
    const strength = Math.min(4, Math.ceil((4 * Math.abs(part.decibans ?? 30)) / most));
    pieces.push(element("mark", {
      className: `${part.decibans < 0 ? "against" : "for"} s${strength}`, title: signed(part.decibans),
      textContent: letters.slice(part.start, part.stop).join(""),
    }));
    done = part.stop;
  }
  pieces.push(letters.slice(done).join(""));
  return pieces.filter((piece) => piece !== "");
}
