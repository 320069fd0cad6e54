import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

def hash_text(text: bytes, seed: int) -> int: ...
def add_numbers(values: NDArray[np.float64], seed: int, out: Keys) -> None: ...
def add_integers(
    values: NDArray[np.int64], missing: NDArray[np.uint8], seed: int, out: Keys
) -> None: ...
def add_texts(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    missing: NDArray[np.uint8],
    seed: int,
    out: Keys,
) -> None: ...
def mix(keys: Keys) -> None: ...
def distinct(
    keys: Keys, weight: NDArray[np.float64] | None, limit: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]: ...
