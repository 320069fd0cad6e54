import numpy as np
from numpy.typing import NDArray

from deciban.kernels.dictionary import Dictionary
from deciban.kernels.sinks import Sink

class NGrams:
    def __init__(self, low: int, high: int, short_chains: bool, stops: Dictionary) -> None: ...
    def gather(
        self,
        pointers: NDArray[np.int64],
        offsets: NDArray[np.int64],
        data: NDArray[np.uint8],
        words: Dictionary | None,
        buckets: int,
        grow: bool,
        sink: Sink,
    ) -> None: ...
