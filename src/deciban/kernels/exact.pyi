from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Codes = NDArray[np.intp]
_Digits = NDArray[np.int64]

def moments(
    X: _Floats, y: _Codes, n_classes: int
) -> tuple[int, _Digits | Any, int, _Digits | Any, int, _Digits | Any, int]: ...
def weighted_moments(
    X: _Floats, y: _Codes, weight: _Floats, n_classes: int
) -> tuple[int, _Digits | Any, int, _Digits | Any, int, _Digits | Any, int]: ...
def from_floats(x: _Floats) -> tuple[_Digits, int]: ...
def carried(digits: _Digits) -> None: ...
def to_floats(digits: _Digits, base: int) -> _Floats: ...
def spread(
    n: _Digits, n_base: int, s1: _Digits, s1_base: int, s2: _Digits, s2_base: int
) -> _Floats: ...
