from typing import Any

import numpy as np
from numpy.typing import NDArray

def number(values: list[Any]) -> tuple[dict[Any, int], NDArray[np.int64]]: ...
