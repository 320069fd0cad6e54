import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

def log_shares(amount: _Floats, smoothing: _Floats, total: _Floats) -> _Floats: ...
