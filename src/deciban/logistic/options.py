"""What the caller asks of a fit, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deciban import checks
from deciban.logistic import solvers
from deciban.logistic.fitting import Options

__all__ = ["check_options"]


def check_options(parameters: Mapping[str, Any]) -> Options:
    """The options that parameters of the estimator state.

    >>> from deciban import LogisticRegression
    >>> check_options(LogisticRegression(C=0.5).get_params()).lam
    2.0
    """
    checks.one_of("multi_class", parameters["multi_class"], "softmax", "ovr")
    checks.one_of("start", parameters["start"], "zero", "bayes")
    tol = checks.number("tol", parameters["tol"], "1e-8 is usual", above=True)
    max_iter = parameters["max_iter"]
    if max_iter is not None:
        max_iter = int(checks.number("max_iter", max_iter, "None is usual", least=1))
    solvers.choose(parameters["solver"], 1, 1)
    return Options(
        lam=_penalty(parameters["lam"], parameters["C"]),
        one_vs_rest=parameters["multi_class"] == "ovr",
        fit_intercept=bool(parameters["fit_intercept"]),
        solver=parameters["solver"],
        tol=tol,
        max_iter=max_iter,
    )


def _penalty(lam: float | None, C: float | str) -> float | None:
    """The penalty; None is to be selected."""
    if lam is not None:
        return checks.number("lam", lam, "0 is no penalty, 1 is usual")
    if isinstance(C, str) and C == "auto":
        return None
    hint = '"auto" leaves it to the rows, lam=0 is no penalty'
    return 1.0 / checks.number("C", C, hint, above=True)
