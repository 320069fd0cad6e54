import numpy as np
from numpy.typing import NDArray

def order(
    starts: NDArray[np.int64], ends: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
