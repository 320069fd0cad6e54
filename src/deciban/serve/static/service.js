// Requests to the service. A token, where one is needed, is kept for as long as the tab is open.

const key = "deciban-token";

export class Problem extends Error {
  constructor(body) {
    super(body.hint ? `${body.detail} (${body.hint})` : body.detail);
    this.status = body.status;
  }
}

export function rememberToken(token) {
  sessionStorage.setItem(key, token);
}

// The response to a request; what went wrong is a Problem.
export async function send(path, { method = "GET", body, headers = {} } = {}) {
  const token = sessionStorage.getItem(key);
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { method, headers, body });
  if (!response.ok) throw new Problem(await response.json());
  return response;
}

export async function ask(path, body) {
  const what = body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  };
  return (await send(path, what)).json();
}

const types = {
  csv: "text/csv", txt: "text/csv", tsv: "text/tab-separated-values", tab: "text/tab-separated-values",
  jsonl: "application/x-ndjson", ndjson: "application/x-ndjson",
  arrow: "application/vnd.apache.arrow.stream", parquet: "application/vnd.apache.parquet",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xls: "application/vnd.ms-excel", ods: "application/vnd.oasis.opendocument.spreadsheet",
};
export const endings = Object.keys(types).map((ending) => `.${ending}`).join(",");

// Sends a file as a table; its name says what it is.
export function sendFile(path, file, headers = {}) {
  const parts = file.name.toLowerCase().split(".");
  const packed = parts.at(-1) === "gz" && parts.pop();
  const type = types[parts.at(-1)];
  if (!type) throw new Problem({ detail: `${file.name}: ${endings}`, status: 415 });
  if (packed) headers["Content-Encoding"] = "gzip";
  return send(path, { method: "POST", body: file, headers: { ...headers, "Content-Type": type } });
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
