// Train: a table is taken, a person says what to predict, and a model comes out of it.

import { onFile } from "./drop.js";
import { at, element, options, show, table } from "./dom.js";
import { drawQuality } from "./quality.js";
import { ask, download, send, sendFile } from "./service.js";
import { say } from "./words.js";

const MILLISECONDS = 300;
const KINDS = ["numeric", "categorical", "boolean", "time", "text", "identifier"];
const LIKELY = /^(label|target|class|y|outcome|category|answer|species|type|result)$/i;
let sent;

// The column that is likeliest to be predicted.
function likely(columns) {
  const few = (column) => column.distinct > 1 && column.distinct <= 20;
  return columns.find((column) => LIKELY.test(column.name) && column.distinct <= 100)
    ?? columns.findLast((column) => few(column) && column.kind !== "numeric")
    ?? columns.findLast(few) ?? columns.at(-1);
}

function showTable(described) {
  sent = described;
  const { columns } = described;
  at("train-table-part").hidden = false;
  at("train-name").textContent = described.rows === null ? described.name : say("tableRows", described.name, described.rows.toLocaleString());
  const rows = columns.map((column) => {
    const select = element("select", { name: column.name, "aria-label": say("kindOf", column.name) });
    const kinds = KINDS.includes(column.kind) ? KINDS : [column.kind, ...KINDS];
    options(select, kinds.map((kind) => [kind, say(`kind_${kind}`)]), column.kind);
    const examples = described.preview.slice(0, 4).map((row) => row[column.name]).filter((value) => value !== null);
    return [column.name, select, column.reason, element("span", { className: "examples", textContent: examples.join(" · ") })];
  });
  show(at("train-columns"), table([say("column"), say("takenFor"), say("because"), say("examples")], rows, say("columns")));
  options(at("train-target"), columns.map((column) => [column.name, column.name]), likely(columns).name);
  at("train-done").hidden = true;
  at("train-target").focus();
}

function showState(training) {
  const bar = at("train-progress");
  at("train-running").hidden = training.stage === "none";
  at("train-state").textContent = training.stage === "failed" ? "" : say(`stage_${training.stage}`, (training.rows ?? 0).toLocaleString(), (training.seconds ?? 0).toFixed(1));
  const share = { waiting: 0.02, reading: 0.1, fitting: 0.6, judging: 0.8, done: 1 }[training.stage];
  const read = training.stage === "reading" && training.total ? training.rows / training.total : 0;
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = training.stage === "reading" ? 0.1 + 0.5 * read : share;
}

export function buildTrain(complain, adopt) {
  const begin = async () => {
    complain(null);
    const kinds = {};
    for (const select of at("train-columns").querySelectorAll("select")) {
      const before = sent.columns.find((column) => column.name === select.name).kind;
      if (select.value !== before && select.name !== at("train-target").value) kinds[select.name] = select.value;
    }
    at("train-start").disabled = true;
    at("train-done").hidden = true;
    try {
      await ask("/api/train", { target: at("train-target").value, kinds, model: at("train-model").value });
      let training;
      do {
        await new Promise((resolve) => { setTimeout(resolve, MILLISECONDS); });
        training = await ask("/api/training");
        showState(training);
      } while (!["done", "failed"].includes(training.stage));
      if (training.stage === "failed") {
        at("train-running").hidden = true;
        complain(new Error(training.problem.hint ? `${training.problem.detail} (${training.problem.hint})` : training.problem.detail));
        return;
      }
      drawQuality(at("train-quality"), training.quality);
      await adopt(); // before it can be opened
      at("train-done").hidden = false;
      at("train-done").scrollIntoView({ block: "start" });
    } catch (error) {
      complain(error);
    } finally {
      at("train-start").disabled = false;
    }
  };

  options(at("train-model"), ["NaiveBayes", "AODE", "BayesClassifier"].map((name) => [name, say(`about_${name}`)]));
  at("train-form").onsubmit = (event) => {
    event.preventDefault();
    begin();
  };
  onFile("train-drop", "train-file", async (file) => {
    complain(null);
    at("train-name").textContent = say("reading", file.name);
    try {
      const response = await sendFile(`/api/table?name=${encodeURIComponent(file.name)}`, file);
      showTable(await response.json());
    } catch (error) {
      at("train-name").textContent = "";
      complain(error);
    }
  });
  at("train-download").onclick = async () => {
    const response = await send("/api/trained");
    download(await response.blob(), `${at("train-target").value}.deciban`);
  };
  return async () => {
    if (sent) return;
    try {
      const { table: there } = await ask("/api/columns");
      if (there) showTable(there);
    } catch (error) {
      complain(error);
    }
  };
}
