import numpy as np
from numpy.typing import NDArray

BOOLEAN: int
INTEGER: int
NUMBER: int
DATE: int
MOMENT: int
CLOCK: int
NESTED: int
LIST: int
POINT: int
POINT_COMMA: int
POINT_SPACE: int
POINT_QUOTE: int
COMMA: int
COMMA_POINT: int
COMMA_SPACE: int
COMMA_QUOTE: int
DAY_FIRST: int
DAY_FIRST_MOMENT: int
MONTH_FIRST: int
MONTH_FIRST_MOMENT: int
YEAR_FIRST: int
YEAR_FIRST_MOMENT: int

_Offsets = NDArray[np.int64]
_Bytes = NDArray[np.uint8]
_Mask = NDArray[np.bool_]

def kinds(
    offsets: _Offsets, data: _Bytes, missing: _Mask, possible: int, affixes: list[bytes]
) -> tuple[int, int]: ...
def kinds_in_json(offsets: _Offsets, data: _Bytes, missing: _Mask, possible: int) -> int: ...
def odd(
    offsets: _Offsets, data: _Bytes, missing: _Mask, kinds: int, affixes: list[bytes]
) -> NDArray[np.intp]: ...
def trim_fields(
    offsets: _Offsets, data: _Bytes, missing: _Mask
) -> tuple[_Offsets, _Bytes, _Mask] | None: ...
def mark_missing(
    offsets: _Offsets, data: _Bytes, missing: _Mask, markers: list[bytes]
) -> _Mask: ...
def whole(
    offsets: _Offsets, data: _Bytes, missing: _Mask, kind: int
) -> tuple[NDArray[np.int64], _Mask]: ...
def numbers(offsets: _Offsets, data: _Bytes, missing: _Mask) -> NDArray[np.float64]: ...
def written_numbers(
    offsets: _Offsets, data: _Bytes, missing: _Mask, kind: int, affixes: list[bytes]
) -> NDArray[np.float64]: ...
