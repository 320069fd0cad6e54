import numpy as np
from numpy.typing import NDArray

def losses(
    prior: NDArray[np.float64],
    said: NDArray[np.float64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64],
    discounts: NDArray[np.float64],
    most: float,
) -> NDArray[np.float64]: ...
