import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Columns = NDArray[np.int32]
Rows = NDArray[np.int64]

def ascend(
    data: Singles,
    columns: Columns,
    starts: Rows,
    y: Rows,
    weight: Singles,
    offset: Singles,
    spread: Singles,
    cells: Singles,
    duals: Singles,
    order: Rows,
    intercept: Singles,
    accuracy: float,
    least: float,
) -> tuple[float, float, NDArray[np.float64]]: ...
def add_coefficients(
    data: Singles, columns: Columns, starts: Rows, order: Rows, cells: Singles, out: Singles
) -> None: ...
def add_variances(
    data: Singles, columns: Columns, starts: Rows, order: Rows, cells: Singles, out: Singles
) -> None: ...
def add_duals(
    data: Singles, columns: Columns, starts: Rows, order: Rows, duals: Singles, cells: Singles
) -> None: ...
