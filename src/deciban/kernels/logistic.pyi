import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

def residuals(
    logits: FloatArray, y: NDArray[np.intp], weight: FloatArray | None, out: FloatArray
) -> float: ...
def hessian_product(proba: FloatArray, weight: FloatArray | None, change: FloatArray) -> None: ...
