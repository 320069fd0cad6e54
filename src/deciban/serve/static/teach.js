// Teach: say the right answer of the row, see what changed, take it back.

import { posterior, signedBars } from "./bars.js";
import { at, element, show, table } from "./dom.js";
import { percent, short } from "./numbers.js";
import { ask } from "./service.js";
import { onChange, state } from "./state.js";
import { say } from "./words.js";

const summary = (row) => (typeof row === "string" ? row
  : Object.entries(row).map(([name, value]) => `${name} = ${short(value)}`).join(", "));
const key = () => `page-${Date.now()}-${crypto.getRandomValues(new Uint32Array(1))[0]}`;

function probabilities(why) {
  return new Map(why.classes.map((label, i) => [String(label), why.probabilities[i]]));
}

// What a lesson changed: the posterior before and after, and the terms that moved most.
function showChange(before, after, title) {
  const [old, now] = [probabilities(before), probabilities(after)];
  const rows = [...now].map(([name, p], i) => ({ name, p, at: i, before: old.get(name) ?? 0 }))
    .sort((a, b) => b.p - a.p).slice(0, 10);
  const bars = element("table", { className: "posterior" });
  posterior(bars, rows, String(after.answer));
  const terms = new Map(before.terms.map((term) => [term.feature, term.decibans]));
  const moved = after.terms.map((term) => ({ name: term.feature, value: (term.decibans ?? 0) - (terms.get(term.feature) ?? 0) }))
    .filter((row) => Math.abs(row.value) > 0.005).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 8);
  const changes = moved.length ? [element("h3", { textContent: say("movedEvidence", after.answer, after.runner_up) }),
    signedBars(moved.map((row) => ({ ...row, text: `${row.value < 0 ? "−" : "+"}${Math.abs(row.value).toFixed(2)}` })), say("movedEvidence", after.answer, after.runner_up))] : [];
  show(at("taught"), element("h3", { textContent: title }),
    element("p", { className: "note", textContent: say("beforeMark") }), bars, ...changes);
}

export function buildTeach(model, complain, renew) {
  const list = async () => {
    const { lessons, count } = await ask("/api/lessons");
    at("lesson-count").textContent = say("lessonCount", count);
    const rows = lessons.map((lesson) => [
      new Date(1000 * lesson.taught).toLocaleString(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" }),
      String(lesson.answer), summary(lesson.row),
      lesson.log_loss === null ? "–" : percent(Math.exp(-lesson.log_loss)),
      element("button", { type: "button", textContent: say("undo"), "aria-label": say("undoOf", lesson.answer, summary(lesson.row)), onclick: () => forget(lesson.id) }),
    ]);
    show(at("lessons"), rows.length ? table([say("when"), say("answerHead"), say("rowHead"), say("expected"), ""], rows, say("lastLessons"))
      : element("p", { className: "note", textContent: say("noLessons") }));
  };

  const change = async (path, body, title) => {
    try {
      complain(null);
      const { row } = state;
      const before = await ask("/api/explain", { row });
      await ask(path, { ...body, wait: true });
      const after = await ask("/api/explain", { row, against: before.runner_up });
      showChange(before, after.answer === before.answer ? after : await ask("/api/explain", { row }), title);
      await Promise.all([list(), renew()]);
    } catch (error) {
      complain(error);
    }
  };

  const forget = (id) => change("/api/forget", { ids: [id] }, say("takenBack"));

  const draw = () => {
    at("teach-row").textContent = Object.keys(state.row).length ? summary(state.row) : say("emptyRow");
  };
  show(at("teach-answers"), model.classes.map((label, i) => element("button", {
    type: "button", className: `answer border c${i % 8}`, textContent: model.names[i],
    onclick: () => change("/api/learn", { lessons: [{ id: key(), row: state.row, answer: label }] }, say("learnt", model.names[i])),
  })));
  at("teach-new").onsubmit = (event) => {
    event.preventDefault();
    const answer = at("new-class").value.trim();
    if (!answer) return;
    at("new-class").value = "";
    change("/api/learn", { lessons: [{ id: key(), row: state.row, answer }], new_classes: true }, say("learnt", answer));
  };
  onChange(draw);
  return async () => {
    draw();
    try {
      await list();
    } catch (error) {
      complain(error);
    }
  };
}
