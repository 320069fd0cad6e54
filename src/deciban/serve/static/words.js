// What the page says, by language.

const words = {
  en: {
    api: "API", token: "Token", open: "Open", row: "Row", answer: "Answer",
    evidence: "Evidence, in decibans", prior: "prior", total: "total", missing: "(missing)",
    yes: "yes", no: "no", none: "no answer",
    about: (m) => `${m.kind}: predicts ${m.target ?? "a class"}${m.rows === null ? "" : ` from ${m.rows.toLocaleString()} rows`}`,
    compared: (a, b) => `for ${a}, against ${b}`,
    unseen: (name, reason) => `${name}: ${reason}`,
    page: "Requests and answers of this service",
    asks: "takes", answers: "gives",
  },
  zh: {
    api: "接口", token: "令牌", open: "打开", row: "一行数据", answer: "结果",
    evidence: "证据（deciban）", prior: "先验", total: "合计", missing: "（缺失）",
    yes: "是", no: "否", none: "不作答",
    about: (m) => `${m.kind}：预测 ${m.target ?? "类别"}${m.rows === null ? "" : `，基于 ${m.rows.toLocaleString()} 行`}`,
    compared: (a, b) => `支持 ${a}，相对 ${b}`,
    unseen: (name, reason) => `${name}：训练中未见（${reason}）`,
    page: "本服务的请求与应答",
    asks: "请求", answers: "应答",
  },
};

let chosen = words.en;

export function chooseLanguage(name) {
  chosen = words[name] ?? words.en;
  document.documentElement.lang = name in words ? name : "en";
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = chosen[element.dataset.text];
  }
}

export function say(name, ...values) {
  const text = chosen[name];
  return typeof text === "function" ? text(...values) : text;
}
