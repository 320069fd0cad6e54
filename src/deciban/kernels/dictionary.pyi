from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_Codes = NDArray[np.int64]

class Dictionary:
    def __init__(self, labels: Iterable[str] = ()) -> None: ...
    def __len__(self) -> int: ...
    def encode(
        self, offsets: NDArray[np.int64], data: NDArray[np.uint8], missing: NDArray[np.bool_]
    ) -> _Codes: ...
    def lookup(
        self, offsets: NDArray[np.int64], data: NDArray[np.uint8], missing: NDArray[np.bool_]
    ) -> _Codes: ...
    def labels(self) -> list[str]: ...
