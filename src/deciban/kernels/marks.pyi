from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]

def find_two_values(X: FloatArray, values: FloatArray, times: NDArray[np.intp]) -> None: ...
def mark_rare(
    X: FloatArray,
    columns: NDArray[np.intp],
    common: FloatArray,
    indices: NDArray[np.int32],
    starts: NDArray[np.int32],
) -> None: ...
def add_cross_products(
    columns: Indices,
    starts: Indices,
    D: FloatArray,
    weights: FloatArray,
    mixed: FloatArray,
    both: FloatArray,
) -> None: ...
