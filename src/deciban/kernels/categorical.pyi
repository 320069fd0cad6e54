import numpy as np
from numpy.typing import NDArray

def largest(X: NDArray[np.int64]) -> NDArray[np.int64]: ...
def count(
    X: NDArray[np.int64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    offsets: NDArray[np.intp],
    n_classes: int,
) -> NDArray[np.float64]: ...
def sum_columns(count: NDArray[np.float64], offsets: NDArray[np.intp]) -> NDArray[np.float64]: ...
def count_column(
    codes: NDArray[np.uint8] | NDArray[np.int32] | NDArray[np.int64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    n_values: int,
    n_classes: int,
) -> NDArray[np.float64]: ...
