// A place for a file: dropped, or chosen.

import { at } from "./dom.js";
import { endings } from "./service.js";

const takers = new Map();

export function onFile(place, input, taker) {
  const known = takers.has(place);
  takers.set(place, taker);
  if (known) return;
  const take = (file) => takers.get(place)(file);
  at(input).accept = `${endings},.gz`;
  at(input).addEventListener("change", () => {
    const [file] = at(input).files;
    if (file) take(file);
    at(input).value = "";
  });
  const zone = at(place);
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}
