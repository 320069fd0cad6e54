// The decision: probabilities under other base rates, and the answer of least expected cost. The
// arithmetic is that of deciban.decision; it is done here so that it moves with a finger.

export function rebase(probabilities, names, old, rates) {
  if (!rates || !old) return probabilities;
  const odds = probabilities.map((p, i) => (p * (rates[names[i]] ?? 0)) / (old[names[i]] || 1));
  const total = odds.reduce((sum, one) => sum + one, 0);
  return total > 0 ? odds.map((one) => one / total) : probabilities;
}

export const cost = (costs, answer, truth) => costs[answer]?.[truth] ?? (answer === truth ? 0 : 1);

// The class of least expected cost, its cost, and whether abstaining is cheaper.
export function decide(probabilities, names, costs, abstain) {
  const risks = names.map((answer) =>
    names.reduce((sum, truth, i) => sum + probabilities[i] * cost(costs, answer, truth), 0));
  const best = risks.indexOf(Math.min(...risks));
  return { best, risk: risks[best], abstains: abstain !== null && risks[best] > abstain * (1 + 1e-9) };
}

// Base rates after one of them was set: the others keep their proportions.
export function withRate(rates, name, rate) {
  const others = Object.keys(rates).filter((one) => one !== name);
  const left = others.reduce((sum, one) => sum + rates[one], 0);
  const share = (one) => (left > 0 ? rates[one] / left : 1 / others.length);
  return { ...Object.fromEntries(others.map((one) => [one, (1 - rate) * share(one)])), [name]: rate };
}
