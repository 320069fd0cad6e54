from array import array
from collections.abc import Iterable, Mapping

Pairs = dict[str, tuple[int, int]]
Sums = tuple[list[int], list[float], int, float]

def known(
    tokens: Iterable[str], seen: Mapping[str, tuple[int, int] | None], prefixes: tuple[str, ...]
) -> tuple[Pairs, int]: ...
def left(
    tokens: list[str],
    counts: array[int],
    without: array[int],
    hams: int,
    spams: int,
    prefixes: tuple[str, ...],
) -> tuple[Pairs, int]: ...
def texts(tokens: Iterable[str], prefixes: tuple[str, ...]) -> list[str]: ...
def least_hashes(words: Iterable[str], multiplier: int, places: int) -> tuple[int, ...]: ...
def strong(
    tokens: Pairs,
    ham: float,
    spam: float,
    prior: float,
    least: float,
    sections: dict[str, str],
    body: str,
    head: str,
) -> dict[str, dict[str, float]]: ...

class Summary:
    def __init__(
        self,
        ham: float,
        spam: float,
        prior: float,
        least: float,
        half: float,
        prefixes: tuple[str, ...],
        text_prefixes: int,
    ) -> None: ...
    def of_pairs(self, tokens: Pairs) -> Sums: ...
    def of_counts(self, tokens: list[str], counts: array[int]) -> Sums: ...

def scaled(
    out: dict[str, float], weights: dict[str, float], factor: float, divisor: float
) -> dict[str, float]: ...
def familiar(tokens: Pairs, half: float, prefixes: tuple[str, ...]) -> tuple[int, float]: ...
