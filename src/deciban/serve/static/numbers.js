// Numbers in words.

export const percent = (p) =>
  p > 0.9995 && p < 1 ? "> 99.9 %" : p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`;

export const signed = (value) =>
  value === null || value === undefined ? "∞" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

export function short(value) {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toPrecision(3);
  return String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
}

// Round values that divide a range into a few parts.
export function ticks(low, high, n = 5) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough);
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
}
