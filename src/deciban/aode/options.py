"""What a user asks of AODE."""

from __future__ import annotations

from dataclasses import dataclass

from deciban import checks
from deciban.aode.calibration import STRENGTHS_IN_ROWS
from deciban.errors import ParameterError

__all__ = ["AODEOptions"]


@dataclass(frozen=True)
class AODEOptions:
    """What the user asks for.

    ``smoothing`` is ``m``, how many rows the shares of a column are worth beside
    those of a parent, and smooths the shares as well; None leaves both to the
    data. A value is a parent from a weight of ``min_support`` on. ``calibrate`` is
    whether the evidence is discounted.
    """

    smoothing: float | None = None
    missing: str = "auto"
    min_support: float = 0.0
    calibrate: bool = True

    @classmethod
    def of(
        cls,
        smoothing: float | str = "auto",
        missing: str = "auto",
        support: float = 0.0,
        calibrate: bool = True,
    ) -> AODEOptions:
        """The options that the parameters of an estimator state, checked."""
        strength = None
        if not (isinstance(smoothing, str) and smoothing == "auto"):
            if not (checks.is_number(smoothing) and 1e-6 <= float(smoothing) <= 1e6):
                raise ParameterError(
                    f'smoothing must be a number from 1e-6 to 1e6 or "auto", got {smoothing!r}.',
                    hint="1 is what Weka takes; without any, most pairs of values are impossible",
                )
            strength = float(smoothing)
        checks.one_of("missing", missing, "auto", "skip", "value")
        hint = "30 is what the authors of AODE took, 0 lets every value be a parent"
        return cls(strength, missing, checks.number("support", support, hint), calibrate)

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths ``m`` among which calibration selects."""
        return STRENGTHS_IN_ROWS if self.smoothing is None else (self.smoothing,)
