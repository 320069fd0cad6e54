import numpy as np
from numpy.typing import NDArray

def place(
    codes: NDArray[np.int64], cells: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def count(
    cells: NDArray[np.int64],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    start: NDArray[np.int64],
    first: int,
    last: int,
    pairs: NDArray[np.float64],
) -> None: ...
def score(
    cells: NDArray[np.int64],
    start: NDArray[np.int64],
    pairs: NDArray[np.float64],
    share: NDArray[np.float64],
    over: NDArray[np.float64],
    support: NDArray[np.float64],
    m: float,
    least: float,
    out: NDArray[np.float64],
) -> None: ...
def score_left_out(
    cells: NDArray[np.int64],
    start: NDArray[np.int64],
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
    cells: NDArray[np.int64],
    start: NDArray[np.int64],
    pairs: NDArray[np.float64],
    share: NDArray[np.float64],
    over: NDArray[np.float64],
    support: NDArray[np.float64],
    m: float,
    least: float,
    out: NDArray[np.float64],
) -> None: ...
