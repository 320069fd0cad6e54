from array import array
from collections.abc import Iterable, Mapping

from deciban.kernels.lexicon import Tokens

Pairs = dict[str, tuple[int, int]]
Sums = tuple[list[int], list[float], int, float]

def known(
    tokens: Iterable[str], seen: Mapping[str, tuple[int, int] | None], prefixes: tuple[str, ...]
) -> tuple[Pairs, int]: ...
def left(tokens: Tokens, without: array[int], hams: int, spams: int) -> array[int]: ...
def texts(tokens: Tokens, text_prefixes: int) -> list[str]: ...
def least_hashes(words: Iterable[str], multiplier: int, places: int) -> bytes: ...
def are_near(one: bytes, other: bytes, similarity: float) -> bool: ...
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
        sections: tuple[int, ...],
        text_prefixes: int,
    ) -> None: ...
    def of_tokens(self, tokens: Tokens, counts: array[int] | None = None) -> Sums: ...

def scaled(
    out: dict[str, float], weights: dict[str, float], factor: float, divisor: float
) -> dict[str, float]: ...
def familiar(tokens: Pairs, half: float, prefixes: tuple[str, ...]) -> tuple[int, float]: ...
