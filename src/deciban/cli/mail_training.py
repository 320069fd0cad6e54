"""``deciban mail train``: its work, and a command line that is read without Typer.

Typer takes longer to import than a few thousand short messages take to be learnt. So options that
are spelt out are read here; whatever else is asked, help and mistakes, is left to Typer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["NONE", "Training", "plain", "print_facts", "train"]

NONE = "there were no messages to read"


class Training(NamedTuple):
    """What is to be learnt, and how."""

    spam: Sequence[str] = ()
    ham: Sequence[str] = ()
    store: str = ""
    processes: int | None = None
    json: bool = False
    quiet: bool = False


def plain(arguments: Sequence[str]) -> Training | None:
    """The options of a command line that is spelt out; None if it is for Typer to read.

    >>> plain(["--ham", "a", "--ham", "b", "--processes", "2"])
    Training(spam=[], ham=['a', 'b'], store='', processes=2, json=False, quiet=False)
    >>> plain(["--ham", "a", "--help"]), plain(["--store", "a"])
    (None, None)
    """
    boxes: dict[str, list[str]] = {"--spam": [], "--ham": []}
    chosen: dict[str, Any] = {}
    left = iter(arguments)
    for option in left:
        if option in ("--json", "--quiet", "-q"):
            chosen["json" if option == "--json" else "quiet"] = True
            continue
        value = next(left, "-")
        if value.startswith("-"):
            return None
        if option in boxes:
            boxes[option].append(value)
        elif option == "--store":
            chosen["store"] = value
        elif option == "--processes" and value.isdecimal() and int(value):
            chosen["processes"] = int(value)
        else:
            return None
    spam, ham = boxes["--spam"], boxes["--ham"]
    return Training(spam, ham, **chosen) if spam or ham else None


def train(options: Training) -> None:
    """Learn the messages, and print what became of them."""
    from deciban.cli.delivery import default_store
    from deciban.mail import training
    from deciban.mail.mailboxes import places
    from deciban.mail.store import Store

    messages = [(place, False) for place in places(options.ham)]
    messages += [(place, True) for place in places(options.spam)]
    with Store(options.store or default_store(), create=True) as opened:
        done = training.train(opened, messages, options.processes)
        with opened.reading():
            facts = {**done._asdict(), "total": opened.totals()._asdict()}
    print_facts(facts, _lines, options.json, options.quiet)


def print_facts(
    facts: dict[str, Any], say: Callable[..., Iterator[str]], as_json: bool, quiet: bool = False
) -> None:
    """Print facts as one JSON object, or as lines for people."""
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
    elif not quiet:
        print("\n".join(say(**facts)))


def _lines(ham: int, spam: int, known: int, conflicts: int, total: dict[str, int]) -> Iterator[str]:
    yield f"learnt {ham:,} ham and {spam:,} spam"
    if known:
        yield f"left alone {known:,} that were known already"
    if conflicts:
        yield f"left alone {conflicts:,} that are given or known as the other class: see relearn"
    if not (ham or spam or known or conflicts):
        yield NONE
    yield f"the store has {total['ham']:,} ham and {total['spam']:,} spam"
    missing = [name for name, count in total.items() if not count]
    if missing:
        yield f"nothing can be told apart before it has some {' and '.join(missing)}"
