import numpy as np
from numpy.typing import NDArray

from deciban.kernels.team import Team

FloatArray = NDArray[np.float64]
Cells = NDArray[np.uint8]
Nodes = NDArray[np.int32]
Sets = NDArray[np.uint64]

MAX_RARE_SHARE: float

def boost(
    X: Cells,
    y: NDArray[np.intp],
    weight: FloatArray,
    X_held: Cells,
    y_held: NDArray[np.intp],
    weight_held: FloatArray,
    offset: FloatArray,
    sizes: NDArray[np.intp],
    ordered: Cells,
    depth: int,
    n_leaves: int,
    rate: float,
    max_step: float,
    penalty: float,
    set_penalty: float,
    smoothing: float,
    min_weight: float,
    steady_rounds: float,
    max_growth: float,
    rounds: int,
    patience: int,
    min_gain: float,
    trim: float,
    n_columns: int,
    team: Team | None = None,
) -> tuple[Nodes, Sets, FloatArray, FloatArray]: ...
