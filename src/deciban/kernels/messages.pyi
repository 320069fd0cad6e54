from collections.abc import Iterable, Mapping

Pairs = dict[str, tuple[int, int]]

def known(
    tokens: Iterable[str], seen: Mapping[str, tuple[int, int] | None], prefixes: tuple[str, ...]
) -> tuple[Pairs, int]: ...
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
def scaled(
    out: dict[str, float], weights: dict[str, float], factor: float, divisor: float
) -> dict[str, float]: ...
def familiar(tokens: Pairs, half: float, prefixes: tuple[str, ...]) -> tuple[int, float]: ...
