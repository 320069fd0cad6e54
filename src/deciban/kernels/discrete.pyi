import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Positions = NDArray[np.intp]

#: Less than this share of a row is rounding of fractional weights.
ROUNDED_SHARE: float

def log_shares(amount: _Floats, total: _Floats | float, size: _Floats | float) -> _Floats: ...
def seen_once(amount: _Floats) -> _Floats: ...
def log_unseen_shares(
    total: _Floats, once: _Floats, lam: _Floats | float, size: _Floats | float
) -> _Floats: ...
def leave_out_unseen(
    total: _Floats,
    once: _Floats,
    own: _Positions,
    weight: _Floats,
    lam: _Floats | float,
    size: _Floats | float,
) -> _Floats: ...
def estimate_log_shares(
    count: _Floats,
    offsets: _Positions,
    pseudo_counts: _Floats,
    sizes: _Floats,
    unseen: str,
) -> _Floats: ...
def leave_out_cells(
    amount: _Floats, offsets: _Positions, lam: _Floats, new_values: bool
) -> tuple[_Floats, _Positions, _Positions, _Floats]: ...
