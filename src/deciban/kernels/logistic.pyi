from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

def residuals(
    scores: FloatArray, y: NDArray[np.intp], weight: FloatArray | None, out: FloatArray
) -> float: ...
def curve(proba: FloatArray, weight: FloatArray | None, change: FloatArray) -> None: ...
def scatter(
    data: FloatArray | None,
    rows: NDArray[Any],
    starts: NDArray[Any],
    W: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
def gather(
    data: FloatArray | None,
    rows: NDArray[Any],
    starts: NDArray[Any],
    R: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
    squares: bool,
) -> None: ...
def likeness(
    data: FloatArray | None,
    rows: NDArray[Any],
    starts: NDArray[Any],
    unit: FloatArray,
    R: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
def gram(
    data: FloatArray | None,
    columns: NDArray[Any],
    starts: NDArray[Any],
    weight: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
def values(X: FloatArray, found: FloatArray, times: NDArray[np.intp]) -> None: ...
def marks(
    X: FloatArray,
    columns: NDArray[np.intp],
    common: FloatArray,
    indices: NDArray[np.int32],
    starts: NDArray[np.int32],
) -> None: ...
def told(
    data: FloatArray | None,
    columns: NDArray[Any],
    starts: NDArray[Any],
    W: FloatArray,
    out: FloatArray,
) -> None: ...
def marked(
    data: FloatArray | None,
    columns: NDArray[Any],
    starts: NDArray[Any],
    R: FloatArray,
    out: FloatArray,
    squares: bool,
) -> None: ...
def crossed(
    columns: NDArray[Any],
    starts: NDArray[Any],
    D: FloatArray,
    weights: FloatArray,
    mixed: FloatArray,
    both: FloatArray,
) -> None: ...
