"""What is stated about texts: what a word is, and which words count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from deciban.errors import FileError, ParameterError

Ngrams = Annotated[
    str | None,
    typer.Option(
        "--ngrams",
        metavar="FEWEST-MOST",
        help="Texts: phrases of so many words are counted, such as 1-2; 2 means 1-2.",
    ),
]
Characters = Annotated[
    str | None,
    typer.Option(
        "--characters",
        metavar="FEWEST-MOST",
        help="Texts: runs of so many characters are counted instead of words, such as 3-5.",
    ),
]
TokenizerRule = Annotated[
    Literal["any-script", "words"] | None,
    typer.Option(
        "--tokenizer",
        metavar="RULE",
        help="Texts: what a word is. any-script cuts Chinese, Japanese and Thai into characters "
        "and pairs; words leaves them whole.",
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words",
        metavar="NAME|FILE",
        help="Texts: words that are left out: english, chinese, or a file with one a line.",
    ),
]
MinDf = Annotated[
    float | None,
    typer.Option(
        "--min-df",
        metavar="NUMBER",
        help="Texts: words of fewer texts are not used; below 1 it is a share of all texts.",
    ),
]
MaxWords = Annotated[
    int | None,
    typer.Option(
        "--max-words", min=1, metavar="N", help="Texts: no more than the N commonest words."
    ),
]


def text_parameters(
    ngrams: str | None,
    characters: str | None,
    rule: str | None,
    stop_words: str | None,
    min_df: float | None,
    max_words: int | None,
) -> dict[str, Any]:
    """The parameters of an estimator that are stated, and no others."""
    from deciban.text import Tokenizer

    given: dict[str, Any] = {}
    if ngrams is not None:
        given["ngrams"] = _range("--ngrams", ngrams)
    if characters is not None:
        given["characters"] = _range("--characters", characters, alone=True)
    if rule is not None:
        given["rule"] = rule
    if stop_words is not None:
        given["stop_words"] = _stop_words(stop_words)
    parameters: dict[str, Any] = {"tokenizer": Tokenizer(**given)} if given else {}
    if min_df is not None:
        parameters["min_df"] = int(min_df) if min_df >= 1 and min_df.is_integer() else min_df
    if max_words is not None:
        parameters["max_words"] = max_words
    return parameters


def _range(option: str, stated: str, *, alone: bool = False) -> tuple[int, int]:
    """``1-2`` as a pair; one number is the most, or both.

    >>> _range("--ngrams", "1-2"), _range("--ngrams", "3"), _range("--characters", "3", alone=True)
    ((1, 2), (1, 3), (3, 3))
    """
    first, dash, last = stated.replace(",", "-").partition("-")
    try:
        if dash:
            return int(first), int(last)
        return (int(first), int(first)) if alone else (1, int(first))
    except ValueError:
        raise typer.BadParameter(
            f"{stated!r} is not FEWEST-MOST, such as 1-2", param_hint=option
        ) from None


def _stop_words(stated: str) -> str | list[str]:
    """The name of a list, or the words of a file, one a line."""
    from deciban.text.stop_words import STOP_WORDS

    if stated in STOP_WORDS:
        return stated
    path = Path(stated).expanduser()
    if not path.exists():
        raise ParameterError(
            f"--stop-words {stated} is neither a language nor a file.",
            hint=f"there are {' and '.join(STOP_WORDS)}; a file has one word a line",
        )
    try:
        words = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise FileError(f"{path} is not in UTF-8.", hint="save it as UTF-8") from None
    some = [word.strip().lower() for word in words if word.strip() and not word.startswith("#")]
    if not some:
        raise FileError(f"{path} has no words.", hint="give one a line")
    return some


def is_stated(parameters: Mapping[str, Any]) -> bool:
    """Whether anything is stated about texts."""
    return bool({"tokenizer", "min_df", "max_words"} & set(parameters))
