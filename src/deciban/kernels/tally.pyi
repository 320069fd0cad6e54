import numpy as np
from numpy.typing import NDArray

from deciban.kernels.sinks import Sink

_Sums = NDArray[np.uint32] | NDArray[np.float64]

DIRECT: int

class Pairs(Sink):
    taken: int
    weighted: bool
    def __init__(
        self,
        y: NDArray[np.int64],
        n_classes: int,
        weight: NDArray[np.float64] | None,
        weighted: bool = False,
    ) -> None: ...
    def absorb(
        self, other: Pairs, codes: NDArray[np.int32], classes: NDArray[np.int32]
    ) -> None: ...
    def aim(self, y: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None: ...
    def result(
        self, places: NDArray[np.int64], n_cells: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], _Sums, _Sums]: ...
