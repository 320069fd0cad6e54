import numpy as np
from numpy.typing import NDArray

class Sink: ...

class Table(Sink):
    def __init__(
        self,
        y: NDArray[np.int64],
        n_classes: int,
        weight: NDArray[np.float64] | None,
        binary: bool,
        documents: bool,
    ) -> None: ...
    def result(
        self, n_codes: int
    ) -> tuple[NDArray[np.int64 | np.float64], NDArray[np.int64 | np.float64] | None]: ...

class Rows(Sink):
    def __init__(self, n_rows: int, unique: bool, binary: bool) -> None: ...
    def result(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...

def arrange(
    pointers: NDArray[np.int64],
    codes: NDArray[np.int32],
    counts: NDArray[np.int32],
    ranks: NDArray[np.int32],
    out_codes: NDArray[np.int32],
    out_counts: NDArray[np.int32],
) -> None: ...
