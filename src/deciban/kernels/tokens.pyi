from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deciban.kernels.dictionary import Dictionary
from deciban.kernels.ngrams import NGrams
from deciban.kernels.sinks import Sink

WORDS: int
CHARACTERS: int
EDGES: int

class Scanner(NGrams):
    def __init__(
        self,
        classes: NDArray[np.uint8],
        folds: NDArray[np.int32] | None,
        fold: Callable[[bytes], bytes],
        mode: int,
        any_script: bool,
        digits: bool,
        shortest: int,
        low: int,
        high: int,
        stops: Dictionary,
    ) -> None: ...
    def scan(
        self,
        offsets: NDArray[np.int64],
        data: NDArray[np.uint8],
        missing: NDArray[np.bool_],
        words: Dictionary | None,
        buckets: int,
        grow: bool,
        sink: Sink,
    ) -> None: ...
