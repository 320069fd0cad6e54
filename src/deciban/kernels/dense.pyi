import numpy as np
from numpy.typing import NDArray

def count(
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    n_classes: int,
) -> NDArray[np.float64]: ...
