import numpy as np
from numpy.typing import NDArray

class Table:
    def __init__(
        self,
        start: NDArray[np.int64],
        pairs: NDArray[np.float64],
        share: NDArray[np.float64],
        known: NDArray[np.float64],
        support: NDArray[np.float64],
        least: float,
        columns: int,
    ) -> None: ...

def place(
    codes: NDArray[np.int64], cells: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int32]: ...
def count(
    cells: NDArray[np.int32],
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    start: NDArray[np.int64],
    first: int,
    last: int,
    pairs: NDArray[np.float64],
) -> None: ...
def score(
    table: Table,
    cells: NDArray[np.int64],
    strengths: NDArray[np.float64],
    out: NDArray[np.float64],
    y: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
    own_share: NDArray[np.float64] | None = None,
) -> None: ...
def explain(table: Table, cells: NDArray[np.int64], m: float, out: NDArray[np.float64]) -> None: ...
