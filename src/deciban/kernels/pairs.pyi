import numpy as np
from numpy.typing import NDArray

def count(
    cells: NDArray[np.intp],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    start: NDArray[np.intp],
    first: int,
    last: int,
    pairs: NDArray[np.float64],
) -> None: ...
def score(
    cells: NDArray[np.intp],
    start: NDArray[np.intp],
    pairs: NDArray[np.float64],
    share: NDArray[np.float64],
    over: NDArray[np.float64],
    support: NDArray[np.float64],
    m: float,
    least: float,
    out: NDArray[np.float64],
) -> None: ...
def score_left_out(
    cells: NDArray[np.intp],
    start: NDArray[np.intp],
    pairs: NDArray[np.float64],
    share: NDArray[np.float64],
    over: NDArray[np.float64],
    support: NDArray[np.float64],
    m: float,
    least: float,
    y: NDArray[np.intp],
    weight: NDArray[np.float64],
    own_share: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def explain(
    cells: NDArray[np.intp],
    start: NDArray[np.intp],
    pairs: NDArray[np.float64],
    share: NDArray[np.float64],
    over: NDArray[np.float64],
    support: NDArray[np.float64],
    m: float,
    least: float,
    out: NDArray[np.float64],
) -> None: ...
