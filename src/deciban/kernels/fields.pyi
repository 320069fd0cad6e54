import numpy as np
from numpy.typing import NDArray

BOOLEAN: int
INTEGER: int
NUMBER: int
DATE: int
MOMENT: int
CLOCK: int
NESTED: int

_Offsets = NDArray[np.int64]
_Bytes = NDArray[np.uint8]
_Mask = NDArray[np.bool_]

def kinds(offsets: _Offsets, data: _Bytes, missing: _Mask, possible: int, json: bool) -> int: ...
def mark_missing(
    offsets: _Offsets, data: _Bytes, missing: _Mask, markers: list[bytes]
) -> _Mask: ...
def whole(
    offsets: _Offsets, data: _Bytes, missing: _Mask, kind: int
) -> tuple[NDArray[np.int64], _Mask]: ...
def numbers(offsets: _Offsets, data: _Bytes, missing: _Mask) -> NDArray[np.float64]: ...
