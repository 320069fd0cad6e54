"""``deciban mail filter`` and ``deciban mail classify``: what a mail server runs for every message.

These two start as fast as they can: they do without Typer and Rich, and read their few options
themselves. Their exit codes are those that mail servers and users of bogofilter know:

====  ==========================================================================
code  meaning
====  ==========================================================================
0     ``classify``: spam, or several files; ``filter``: done
1     ``classify``: ham
2     ``classify``: unsure
3     ``classify``: an error, said on the standard error
75    ``filter``: an error; the message was passed through as it came (EX_TEMPFAIL)
====  ==========================================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deciban.errors import DecibanError, ParameterError
from deciban.mail.verdict import Costs, Verdict, decide

if TYPE_CHECKING:
    from deciban.kernels.lexicon import Tokens
    from deciban.mail.store import Store

__all__ = ["CODES", "Options", "classify", "default_store", "from_input", "run", "screen"]

CODES = {"spam": 0, "ham": 1, "unsure": 2}
ERROR, TRY_LATER = 3, 75
#: Messages that are judged by one state of the store; others may write in between.
GROUP_MESSAGES = 100


class Options(NamedTuple):
    """What both commands take."""

    store: str = ""
    lost: float = Costs().lost
    unsure: float = Costs().unsure


def run(arguments: Sequence[str]) -> int | None:
    """Run ``filter`` or ``classify``; the exit code, or None if it is for another to run."""
    command = arguments[0] if arguments else ""
    if command not in ("filter", "classify") or {"--help", "-h"} & set(arguments):
        return None
    if command == "filter":
        return screen(arguments[1:])
    try:
        options, files = _parsed(arguments[1:])
        code = classify(options, files)
        sys.stdout.flush()
        return code
    except Exception as error:
        return _failed(error, ERROR)


def classify(options: Options, files: Sequence[str] = ()) -> int:
    """Say what messages are: the code of a single one, and 0 for several."""
    from deciban.mail.garbage import rare_collections
    from deciban.mail.mailboxes import read as contents
    from deciban.mail.mailboxes import some_places
    from deciban.mail.store import Store

    costs = Costs(options.lost, options.unsure).check()
    places = [] if from_input(files) else some_places(files)
    with Store(options.store or default_store()) as store, rare_collections():
        if len(places) < 2:
            raw = contents(places[0]) if places else sys.stdin.buffer.read()
            verdict = next(_verdicts(store, [raw], costs))
            print(verdict)
            return CODES[verdict.answer]
        for start in range(0, len(places), GROUP_MESSAGES):
            group = places[start : start + GROUP_MESSAGES]
            for place, verdict in zip(
                group, _verdicts(store, map(contents, group), costs), strict=True
            ):
                print(f"{place}: {verdict}")
    return 0


def _verdicts(store: Store, messages: Iterable[bytes], costs: Costs) -> Iterator[Verdict]:
    """What messages are; those before one that cannot be read too."""
    from deciban.mail.envelope import canonical
    from deciban.mail.lessons import score_all
    from deciban.mail.tokens import tokens

    done: list[Tokens] = []
    lexicon = store.lexicon
    error: Exception | None = None
    try:  # those before an error stay
        done.extend(tokens(canonical(raw), lexicon) for raw in messages)
    except Exception as raised:
        error = raised
    for score in score_all(store, done):
        yield decide(score, costs)
    if error is not None:
        raise error


def screen(arguments: Sequence[str]) -> int:
    """Copy a message from the standard input to the standard output, with one header added.

    Whatever goes wrong, the message is copied.
    """
    try:
        raw = sys.stdin.buffer.read()
    except OSError as error:
        return _failed(error, TRY_LATER)
    out, code = raw, 0
    try:
        options, files = _parsed(arguments)
        if files:
            raise ParameterError(
                f"filter reads the standard input, got {files[0]!r}.", hint="use < to read a file"
            )
        out = _marked(raw, options)
    except Exception as error:
        code = _failed(error, TRY_LATER)
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except OSError as error:
        return _failed(error, TRY_LATER)
    return code


def from_input(files: Sequence[str] | None) -> bool:
    """Whether messages come from the standard input: no files are named, or ``-`` is."""
    return not files or list(files) == ["-"]


def default_store() -> str:
    """``$DECIBAN_MAIL``, or ``mail.db`` where the desktop standard has the data of programs."""
    named = os.environ.get("DECIBAN_MAIL")
    if named:
        return named
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return str(Path(data) / "deciban" / "mail.db")


def _marked(raw: bytes, options: Options) -> bytes:
    from deciban.mail.envelope import with_header
    from deciban.mail.store import Store

    costs = Costs(options.lost, options.unsure).check()
    with Store(options.store or default_store()) as store:
        (verdict,) = _verdicts(store, [raw], costs)
        return with_header(raw, str(verdict))


def _parsed(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """Options, as ``--store FILE`` or ``--store=FILE``, and files."""
    chosen: dict[str, Any] = {}
    files: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        if argument == "--":
            return Options(**chosen), files + left
        if not argument.startswith("-") or argument == "-":
            files.append(argument)
            continue
        option, equals, value = argument.partition("=")
        name = option.removeprefix("--")
        if name not in Options._fields:
            hint = "there are --store, --lost and --unsure; see deciban mail --help"
            raise ParameterError(f"there is no option {option}.", hint=hint)
        if not equals:
            if not left:
                raise ParameterError(f"{option} needs a value.", hint="see deciban mail --help")
            value = left.pop(0)
        chosen[name] = value if name == "store" else _number(name, value)
    return Options(**chosen), files


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        message = f"--{name} must be a number >= 0, got {value!r}."
        raise ParameterError(message, hint="30 for --lost and 0.3 for --unsure are usual") from None


def _failed(error: Exception, code: int) -> int:
    """Say what went wrong on one line; the code for it."""
    text = " ".join(str(error).split())
    if not isinstance(error, DecibanError | OSError):
        text = f"this is a bug of deciban: {type(error).__name__}: {text}"
        if os.environ.get("DECIBAN_DEBUG") == "1":
            import traceback

            traceback.print_exception(error)
    print(f"error: {text}", file=sys.stderr)
    return code
