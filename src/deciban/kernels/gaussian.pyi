import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

def add_normal(
    X: _Floats, mean: _Floats, precision: _Floats, constant: _Floats, work: _Floats, out: _Floats
) -> None: ...
def add_student(
    X: _Floats, mean: _Floats, precision: _Floats, constant: _Floats, df: _Floats, out: _Floats
) -> None: ...
