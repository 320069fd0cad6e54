import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Codes = NDArray[np.intp]
_Digits = NDArray[np.int64]

def count(
    X: _Floats, y: _Codes, n_classes: int
) -> tuple[int, _Digits | None, int, _Digits | None, int, _Digits | None, int]: ...
def count_weighted(
    X: _Floats, y: _Codes, weight: _Floats, n_classes: int
) -> tuple[int, _Digits | None, int, _Digits | None, int, _Digits | None, int]: ...
