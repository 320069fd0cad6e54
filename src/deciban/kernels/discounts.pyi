import numpy as np
from numpy.typing import NDArray

def losses(
    prior: NDArray[np.float64],
    log_likelihood: NDArray[np.float64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64],
    discounts: NDArray[np.float64],
    max_loss: float,
) -> NDArray[np.float64]: ...
def expected_rows(
    prior: NDArray[np.float64],
    log_likelihood: NDArray[np.float64],
    weight: NDArray[np.float64],
    discount: float,
) -> NDArray[np.float64]: ...
