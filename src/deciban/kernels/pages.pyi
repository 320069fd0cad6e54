from collections.abc import Callable

def scan(
    text: str,
    inline: frozenset[str],
    describe: Callable[[str], tuple[str, bool, str, list[str], bool]],
) -> tuple[str, str, list[str], set[str]]: ...
def unescape(text: str, mean: Callable[[str], str]) -> str: ...
