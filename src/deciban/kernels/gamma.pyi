import numpy as np
from numpy.typing import NDArray

def log_gamma(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
