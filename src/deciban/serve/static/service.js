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

export async function ask(path, body) {
  const headers = {};
  const token = sessionStorage.getItem(key);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const content = await response.json();
  if (!response.ok) throw new Problem(content);
  return content;
}
