"""How a run ends: exit codes, and one line on the standard error for every mistake and warning.

====  ===========================================================================
code  meaning
====  ===========================================================================
0     done
1     a file, the data or a value is wrong; nothing was written, old files are intact
2     the command line is wrong: an unknown option, a missing argument
3     a bug of deciban; the traceback is shown if ``DECIBAN_DEBUG=1``
4     ``drift``: new rows are not like those of training
130   interrupted (Ctrl-C); the line says which files were written whole before, if any
141   whoever read the standard output stopped reading
====  ===========================================================================
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from deciban.cli import clock
from deciban.errors import DecibanError, DecibanWarning

if TYPE_CHECKING:
    import typer

    from deciban.encoding.unseen import UnseenValues

#: No more columns with unseen values are named.
MAX_WARNED_COLUMNS = 10
OK, WRONG, USAGE, BUG, DRIFTED, INTERRUPTED, PIPE = 0, 1, 2, 3, 4, 130, 141


def stand_in_for_closed_streams() -> None:
    """Give a standard stream that is closed its number back, before a file that is opened gets it.

    What stands in for it cannot be read or written: who tries ends with an error.
    """
    for name, mode in (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, mode)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))


def run(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code."""
    start = time.monotonic()
    clock.begin()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # names may hold what a terminal cannot show
    if arguments[:1] == ["mail"]:
        from deciban.cli import delivery

        ended = delivery.run(arguments[1:])
        if ended is not None:
            _unwritten()
            return ended
    code = _run(arguments, start)
    error = _unwritten()
    return code if error is None or code not in (OK, DRIFTED) else _told(error, arguments, start)


def _run(arguments: Sequence[str], start: float) -> int:
    """Run any command but those of mail servers; the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DecibanWarning)
            warnings.showwarning = _show_warning
            code = _ended(arguments)
        if code == INTERRUPTED:
            return _interrupted(arguments, start)
        return code if isinstance(code, int) else OK
    except BaseException as error:
        return _told(error, arguments, start)


def _unwritten() -> OSError | None:
    """What keeps the standard output from being written to its end, if anything does.

    It goes nowhere then: Python would try again when it ends, and complain in its own way.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        return error
    return None


def _ended(arguments: Sequence[str]) -> object:
    """What a command ends with; a plain ``deciban mail train`` starts without Typer."""
    if arguments[:2] == ["mail", "train"]:
        from deciban.cli import mail_training

        options = mail_training.plain(arguments[2:])
        if options is not None:
            mail_training.train(options)
            return OK
    from deciban.cli.app import build, build_for

    # A shell that completes a command line asks about all commands.
    app = build() if "_DECIBAN_COMPLETE" in os.environ else build_for(arguments)
    return app(list(arguments), prog_name="deciban", standalone_mode=False)


def _told(error: BaseException, arguments: Sequence[str], start: float) -> int:
    """Say what went wrong; the exit code for it."""
    import typer

    if isinstance(error, typer.TyperException):
        return _usage(error)
    # Typer ends with 1 where a pipe is closed.
    if isinstance(error.__context__ if isinstance(error, SystemExit) else error, BrokenPipeError):
        return PIPE
    if isinstance(error, DecibanError):
        return _say(f"error: {_one_line(error)}", WRONG)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _interrupted(arguments, start)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"error: {where}{error.strerror}.", WRONG)
    if isinstance(error, MemoryError):
        return _say("error: there is not enough memory.", WRONG)
    if not isinstance(error, Exception):
        raise error
    return _bug(error)


def _interrupted(arguments: Sequence[str], start: float) -> int:
    """Say what is on the disk, whenever Ctrl-C came."""
    if arguments[:1] == ["mail"]:
        what = "what was learnt before stays, and no message is half learnt"
    else:
        from deciban.files.atomic import written

        files = ", ".join(path.name for path in written(start))
        what = f"{files} was written before" if files else "no file was written"
    return _say(f"interrupted: {what}.", INTERRUPTED)


def _usage(error: typer.TyperException) -> int:
    """A mistake in the command line, and how to see what is right."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "deciban"
    text = " ".join(message.split())
    if not text:  # nothing was asked for, and the help has been shown
        return USAGE
    end = "" if text.endswith((".", "?")) else "."
    return _say(f"error: {text}{end} Hint: see {command} --help.", USAGE)


def _bug(error: Exception) -> int:
    if os.environ.get("DECIBAN_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    text = _one_line(error) or "no message"
    return _say(
        f"error: this is a bug of deciban: {type(error).__name__}: {text}. "
        f"Hint: DECIBAN_DEBUG=1 shows the traceback; please report it.",
        BUG,
    )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def warn(text: str) -> None:
    """One line for people, on the standard error."""
    _say(f"warning: {text}")


def warn_unseen(unseen: Mapping[str, UnseenValues]) -> None:
    """A line for every column that has values which training did not."""
    for name, values in list(unseen.items())[:MAX_WARNED_COLUMNS]:
        _say(f"warning: column {name!r} has {values}.")
    if len(unseen) > MAX_WARNED_COLUMNS:
        _say(f"warning: {len(unseen) - MAX_WARNED_COLUMNS} more columns have unseen values.")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; where in the code it was given is of no use to who types commands."""
    _say(f"warning: {' '.join(str(message).split())}")


def _say(line: str, code: int = OK) -> int:
    print(line, file=sys.stderr)
    return code
