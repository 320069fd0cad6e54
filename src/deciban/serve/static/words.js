// What the page says, by language: the one that was chosen, or that of the service.

import { words as en } from "./words-en.js";
import { words as zh } from "./words-zh.js";

const languages = { en, zh };
const key = "deciban-language";
let chosen = en;

export function chooseLanguage(name, remember = false) {
  if (remember) localStorage.setItem(key, name);
  const wanted = localStorage.getItem(key) ?? name;
  const known = wanted in languages ? wanted : "en";
  chosen = languages[known];
  document.documentElement.lang = known;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = say(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
  const select = document.getElementById("language");
  if (select) select.value = known;
}

export const language = () => chooseLanguage(navigator.language.startsWith("zh") ? "zh" : "en");

export function say(name, ...values) {
  const text = chosen[name] ?? en[name] ?? name;
  return typeof text === "function" ? text(...values) : text;
}
