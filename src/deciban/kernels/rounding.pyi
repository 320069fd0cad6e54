import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

#: Counts of fractional weights that differ by less than this share are the same.
ROUNDING: float

def difference(a: _Floats, b: _Floats) -> _Floats: ...
def same(a: _Floats, b: _Floats) -> bool: ...
