import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Keys = NDArray[np.int64]

def count(
    values: _Floats,
    y: NDArray[np.intp],
    weight: _Floats | None,
    n_classes: int,
    drop: int,
    max_keys: int,
) -> tuple[int, _Keys, _Floats]: ...
def cut(
    total: _Floats, offsets: NDArray[np.intp], bins: _Keys
) -> tuple[NDArray[np.intp], NDArray[np.intp]]: ...
def floats(keys: _Keys, drop: int) -> _Floats: ...
def only_counts(keys: _Keys, max_count: float) -> bool: ...
def bins(X: _Floats, edges: _Floats, offsets: NDArray[np.intp]) -> _Keys: ...
