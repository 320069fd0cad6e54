import numpy as np
from numpy.typing import NDArray

def normalise(
    joint: NDArray[np.float64], fallback: NDArray[np.float64], logarithm: bool
) -> None: ...
def largest(joint: NDArray[np.float64]) -> NDArray[np.intp]: ...
