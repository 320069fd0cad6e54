import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

def add_normal(
    X: _Floats, mean: _Floats, precision: _Floats, constant: _Floats, work: _Floats, out: _Floats
) -> None: ...
def add_student(
    X: _Floats,
    mean: _Floats,
    precision: _Floats,
    constant: _Floats,
    df: _Floats,
    most: _Floats,
    out: _Floats,
) -> None: ...
def leave_out(
    x: _Floats,
    own: NDArray[np.intp],
    column: NDArray[np.intp],
    classes: _Floats,
    prior: _Floats,
    less: _Floats,
    lam: _Floats,
    most: _Floats,
    method: str,
    floor: float,
    out: _Floats,
) -> None: ...
def remove_rows(
    x: _Floats,
    own: NDArray[np.intp],
    weight: _Floats,
    classes: _Floats,
    cancelled: float,
    out: _Floats,
) -> bool: ...
