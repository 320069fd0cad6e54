import numpy as np
from numpy.typing import NDArray

def shared_entries(
    data: NDArray[np.float64],
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    weight: NDArray[np.float64],
    documents: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]: ...
def leave_one_out(
    data: NDArray[np.float64],
    worth: NDArray[np.float64],
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    y: NDArray[np.int64],
    weight: NDArray[np.float64],
    shared_mask: NDArray[np.bool_],
    starts: NDArray[np.int64],
    classes: NDArray[np.int32],
    amounts: NDArray[np.float64],
    logs: NDArray[np.float64],
    by_cell: NDArray[np.float64],
    own_totals: NDArray[np.float64],
    rest_totals: NDArray[np.float64],
    smoothing: float,
    own: NDArray[np.float64],
    rest: NDArray[np.float64],
) -> None: ...
