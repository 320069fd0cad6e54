"""What River's pipelines and evaluations ask of a classifier, without importing River.

River asks ``isinstance(model, river.base.Classifier)``, and where that is not so, whether the last
step of a pipeline is one. So an estimator names a stand-in as its last step.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from deciban.plain import PlainDict

__all__ = ["RiverStep"]


class StandIn:
    """Registered as a classifier of River's, and nothing else."""


@cache
def _stand_in() -> object:
    base: Any = sys.modules["river.base"]
    base.Classifier.register(StandIn)
    return StandIn()


class RiverStep(BaseEstimator):
    """The attributes of River's classifiers."""

    _supervised = True
    _multiclass = True

    @property
    def _last_step(self) -> object:
        """What tells River that this is a classifier; only River asks."""
        if "river.base" not in sys.modules:
            raise AttributeError("River is not there to ask")
        return _stand_in()

    def _get_params(self) -> PlainDict:
        params: PlainDict = self.get_params(deep=False)
        return params

    def clone(self, new_params: PlainDict | None = None, **_: object) -> Self:
        """An estimator of the same parameters that has learned nothing, as River makes one.

        >>> from deciban import NaiveBayes
        >>> NaiveBayes(half_life=100).clone({"smoothing": 1}).get_params()["half_life"]
        100
        """
        other: Self = clone(self)
        other.set_params(**(new_params or {}))
        return other
