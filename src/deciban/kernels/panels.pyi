from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

def cut(table: _Floats) -> _Floats: ...
def cut_bags(table: _Floats) -> _Floats: ...
def add_codes(
    X: NDArray[np.int64], offsets: NDArray[np.intp], panels: _Floats, out: _Floats
) -> None: ...
def add_bags(
    data: _Floats, indices: NDArray[Any], indptr: NDArray[Any], panels: _Floats, out: _Floats
) -> None: ...
