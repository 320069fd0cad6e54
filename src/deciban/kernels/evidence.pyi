import numpy as np
from numpy.typing import NDArray

def add_codes(
    X: NDArray[np.int64],
    offsets: NDArray[np.intp],
    log_prob: NDArray[np.float64],
    at: NDArray[np.intp],
    out: NDArray[np.float64],
) -> None: ...
def compare(out: NDArray[np.float64], against: int, scale: float) -> None: ...
def totals(evidence: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]: ...
def differences(
    evidence: NDArray[np.float64], a: NDArray[np.intp], b: NDArray[np.intp]
) -> NDArray[np.float64]: ...
