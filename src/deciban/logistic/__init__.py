"""Logistic regression: log-odds that are linear in the columns, fitted by their likelihood.

Read in this order: ``columns``, what columns were in training, and ``bounds``, where they lay;
``model``, what a fitted regression is; ``solvers``, the optimum of the likelihood;
``closed_form``, coefficients without a search; ``fitting``, from rows to coefficients, with
``options``; ``penalty``, what the rows choose; ``left_out`` and ``held_out``, rows without which
it is judged;
``classifier`` and ``estimator``, the shell of scikit-learn's API, loaded when it is first used;
``stored``, the model in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.logistic.estimator import LogisticRegression

__all__ = ["LogisticRegression"]

__getattr__ = lazy.attributes(__name__, {"LogisticRegression": "deciban.logistic.estimator"})
