"""What deciban does, on two small tables: count, show the probabilities, decide, give reasons."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from sklearn.datasets import load_wine

from deciban import NaiveBayes, evaluate
from deciban.conjugate import Beta

#: The textbook's fifteen rows: x1, x2 and the label.
X1 = [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]
X2 = list("SMMSSSMMLLLMMLL")
Y = [-1, -1, 1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1]

console = Console(width=96, highlight=False)


def heading(words: str) -> None:
    """A line across the screen."""
    console.print()
    console.print(Rule(words, align="left"))


def textbook() -> None:
    """Fifteen rows, three ways to estimate, and an answer that can be checked by hand."""
    heading("Fifteen rows, x = (2, S)")
    table = Table(box=None, pad_edge=False)
    for name in ("", "joint of 1", "joint of -1", "P(-1 | x)"):
        table.add_column(name, justify="right" if name else "left")
    new = {"x1": [2], "x2": ["S"]}
    for method, lam in (("ml", 0), ("map", 2), ("bayes", 1)):
        model = NaiveBayes(
            kinds={"x1": "categorical"}, method=method, smoothing=lam, calibrate=False
        ).fit({"x1": X1, "x2": X2}, Y)
        minus, plus = np.exp(model.predict_joint_log_proba(new)[0])
        share = model.predict_proba(new)[0, 0]
        table.add_row(f"{method}, lam = {lam}", f"{plus:.4f}", f"{minus:.4f}", f"{share:.3f}")
    console.print(table)
    console.print("\nby hand: 10/17 · 4/12 · 2/12 = 0.0327, 7/17 · 3/9 · 4/9 = 0.0610\n")
    console.print(model.explain({"x1": 2, "x2": "S"}))


def wine() -> None:
    """Thirteen measurements of 178 wines: figures, reasons, costs, forgetting."""
    heading("178 wines, 13 measurements")
    data = load_wine()
    kinds = np.array(["Barolo", "Grignolino", "Barbera"])[data.target]
    seen = np.arange(len(kinds)) % 5 != 0

    def table(rows: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(data.feature_names, data.data[rows].T, strict=True))

    model = NaiveBayes().fit(table(seen), kinds[seen])
    e = evaluate(model, table(~seen), kinds[~seen])
    low, high = e.interval("accuracy")
    console.print(
        f"right on {e.accuracy:.1%} ({low:.1%} to {high:.1%}) of {e.rows} wines it has not seen; "
        f"always {e.guess}: {e.baseline.accuracy:.1%}\n"
    )
    reasons = model.explain_rows(table(~seen))
    console.print(reasons[int(np.argmin(reasons.total))])
    answers = model.decide(table(~seen), abstain=0.1).tolist()
    console.print(f"\nif no answer costs 0.1, there is none for {answers.count(None)} of {e.rows}")

    half = np.arange(len(kinds)) % 2 == 0
    first, second = (NaiveBayes().fit(table(rows), kinds[rows]) for rows in (half, ~half))
    left = (first + second).forget(table(half), kinds[half])
    same = left.counts_ == second.counts_
    console.print(f"two halves merged and one forgotten equal the other half, to the bit: {same}")


def coin() -> None:
    """Seven heads in ten tosses, by three ways of estimating."""
    heading("A coin: 7 heads in 10 tosses")
    posterior = Beta(2, 2).update(successes=7, failures=3)
    low, high = posterior.interval(0.95)
    console.print(
        f"maximum likelihood {7 / 10:.3f};  with the prior Beta(2, 2): mode {posterior.mode:.3f}, "
        f"mean {posterior.mean:.3f},\n95% between {low:.3f} and {high:.3f}; "
        f"the next toss is heads with probability {posterior.predictive():.3f}"
    )


if __name__ == "__main__":
    textbook()
    wine()
    coin()
