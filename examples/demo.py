"""What deciban does, on two small tables: count, show the probabilities, decide, give reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from sklearn.datasets import load_wine

from deciban.conjugate import Beta
from deciban.naive_bayes import CategoricalNB, GaussianNB

#: The textbook's fifteen rows: x1, x2 and the label.
ROWS = """
1 S -1, 1 M -1, 1 M 1, 1 S 1, 1 S -1, 2 S -1, 2 M -1, 2 M 1, 2 L 1, 2 L 1,
3 L 1, 3 M 1, 3 M 1, 3 L 1, 3 L -1
"""

#: Half the width of a bar chart, in characters.
HALF = 20

console = Console(width=96, highlight=False)


def bar(decibans: float, scale: float) -> Text:
    """Evidence as a bar: to the right for the class, to the left against it."""
    length = min(HALF, round(abs(decibans) / scale * HALF))
    if decibans < 0:
        return Text(" " * (HALF - length)).append("█" * length, "red").append("│" + " " * HALF)
    return Text(" " * HALF + "│").append("█" * length, "green").append(" " * (HALF - length))


def evidence_table(title: str, lines: Sequence[tuple[str, str, float]]) -> Table:
    """One line of evidence each: what, its value, its decibans and their bar; then the sum."""
    total = sum(line[2] for line in lines)
    scale = max(1.0, *(abs(line[2]) for line in lines))
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading, side in (("", "left"), ("value", "right"), ("decibans", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    table.add_column(f"{'against ':>{HALF}}│ for", no_wrap=True)
    for name, value, decibans in lines:
        table.add_row(name, value, f"{decibans:+.1f}", bar(decibans, scale))
    odds = 10 ** (total / 10)
    said = f"odds {odds:.3g} to 1" if odds >= 1 else f"odds 1 to {1 / odds:.3g}"
    table.add_row("[bold]sum", "", f"[bold]{total:+.1f}", said)
    return table


def probability_table(title: str, head: Iterable[Any], rows: Iterable[Sequence[str]]) -> Table:
    """A small table of probabilities."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in head:
        table.add_column(str(name), justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def textbook() -> None:
    """Fifteen rows, Laplace's rule, and the answer that can be checked by hand."""
    rows = [row.split() for row in ROWS.replace("\n", " ").split(",")]
    X, y = [row[:2] for row in rows], [int(row[2]) for row in rows]
    console.print(Rule("Fifteen rows by hand", align="left"))
    counted = CategoricalNB().fit(X, y)
    prior = (counted.class_count_ + 1) / (counted.class_count_ + 1).sum()
    model = CategoricalNB(alpha=1.0, class_prior=prior).fit(X, y)
    for j, values in enumerate(model.categories_):
        table = [
            (f"Y={label}", *(f"{p:.3f}" for p in np.exp(model.feature_log_prob_[j][c])))
            for c, label in enumerate(model.classes_)
        ]
        console.print(probability_table(f"P(x{j + 1} | Y)", ["", *values], table))
    row = [["2", "S"]]
    joint = np.exp(model.predict_joint_log_proba(row)[0])
    console.print(
        f"\nP(Y=1) = {prior[1]:.4f} = 10/17;  for x = (2, S) the joints are "
        f"{joint[1]:.4f} and {joint[0]:.4f}: the answer is [bold]{model.predict(row)[0]}[/]\n"
    )
    said = model.evidence(row)[0, :, 0]
    lines = [("prior", "", float(model.prior_evidence()[0]))]
    lines += [(f"x{j + 1}", row[0][j], float(said[j])) for j in range(2)]
    console.print(evidence_table("Evidence for Y=-1 against Y=1", lines))


def wine() -> None:
    """Thirteen measurements of 178 wines: probabilities, reasons, a costly mistake, forgetting."""
    data = load_wine()
    kinds = np.array(["Barolo", "Grignolino", "Barbera"])[data.target]
    train = np.arange(len(kinds)) % 5 != 0
    model = GaussianNB().fit(data.data[train], kinds[train])
    console.print(Rule("178 wines, 13 measurements", align="left"))
    stats = [
        (name, *(f"{model.theta_[c, j]:.2f} ± {model.var_[c, j] ** 0.5:.2f}" for c in range(3)))
        for j, name in enumerate(data.feature_names[:4])
    ]
    console.print(probability_table("Means and deviations", ["", *model.classes_], stats))
    accuracy = model.score(data.data[~train], kinds[~train])
    console.print(f"\nright on {accuracy:.1%} of {np.sum(~train)} wines it has not seen\n")

    posterior = model.predict_proba(data.data[~train])
    for i in (int(np.argmax(posterior.max(1))), int(np.argmin(posterior.max(1)))):
        row = data.data[~train][i : i + 1]
        second, first = model.classes_[np.argsort(posterior[i])[-2:]]
        c = int(np.flatnonzero(model.classes_ == first)[0])
        said = model.evidence(row, against=second)[0, :, c]
        lines = [("prior", "", float(model.prior_evidence(against=second)[c]))]
        lines += [
            (data.feature_names[j], f"{row[0, j]:.2f}", float(said[j]))
            for j in np.argsort(-np.abs(said))[:5]
        ]
        rest = float(said.sum() - sum(line[2] for line in lines[1:]))
        lines.append((f"{len(said) - 5} more", "", rest))
        title = f"{first} (p = {posterior[i, c]:.4f}), against {second}"
        console.print(evidence_table(title, lines))
        console.print()

    answers = model.decide(data.data[~train], abstain=0.01)
    unsure = sum(answer is None for answer in answers)
    console.print(f"with a cost of 0.01 for no answer, it abstains on {unsure} of {len(answers)}")

    half = np.arange(len(kinds)) % 2 == 0
    merged = GaussianNB().fit(data.data[half], kinds[half]) + GaussianNB().fit(
        data.data[~half], kinds[~half]
    )
    left = merged.forget(data.data[half], kinds[half])
    same = left.counts_ == GaussianNB().fit(data.data[~half], kinds[~half]).counts_
    console.print(f"two halves merged and one forgotten equal the other half, to the bit: {same}\n")


def coin() -> None:
    """Seven heads in ten tosses, by three ways of estimating."""
    console.print(Rule("A coin: 7 heads in 10 tosses", align="left"))
    posterior = Beta(2, 2).update(successes=7, failures=3)
    low, high = posterior.interval(0.95)
    console.print(
        f"maximum likelihood {7 / 10:.3f};  with the prior Beta(2, 2): mode {posterior.mode:.3f}, "
        f"mean {posterior.mean:.3f},\n95% between {low:.3f} and {high:.3f}; "
        f"the next toss is heads with probability {posterior.predictive():.3f}"
    )


if __name__ == "__main__":
    textbook()
    console.print()
    wine()
    coin()
