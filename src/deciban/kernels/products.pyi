from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]

def add_product_csr(
    data: FloatArray | None,
    columns: Indices,
    starts: Indices,
    W: FloatArray,
    out: FloatArray,
) -> None: ...
def add_transposed_product_csr(
    data: FloatArray | None,
    columns: Indices,
    starts: Indices,
    R: FloatArray,
    out: FloatArray,
    squares: bool,
) -> None: ...
def add_gram_csr(
    data: FloatArray | None,
    columns: Indices,
    starts: Indices,
    weight: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
def add_product_csc(
    data: FloatArray | None,
    rows: Indices,
    starts: Indices,
    W: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
def transposed_product_csc(
    data: FloatArray | None,
    rows: Indices,
    starts: Indices,
    R: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
    squares: bool,
) -> None: ...
def add_gram_product_csc(
    data: FloatArray | None,
    rows: Indices,
    starts: Indices,
    unit: FloatArray,
    R: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None: ...
