import numpy as np
from numpy.typing import NDArray

def surrogates(texts: list[str | None]) -> bool: ...
def utf8(
    texts: list[str | None],
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.bool_]]: ...
