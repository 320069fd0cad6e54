import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Cells = NDArray[np.uint8]
Nodes = NDArray[np.int32]
Sets = NDArray[np.uint64]

def add(
    X: Cells, column: Nodes, left: Sets, value: FloatArray, out: FloatArray, unknown: bool
) -> None: ...
def explain(X: Cells, column: Nodes, left: Sets, value: FloatArray, out: FloatArray) -> None: ...
