from typing import Any

import numpy as np
from numpy.typing import NDArray

def count(
    data: NDArray[np.float64],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    n_columns: int,
) -> NDArray[np.float64]: ...
