"""A deed done once without a fault, and what must hold after one with a fault."""

import tempfile
from pathlib import Path
from typing import NamedTuple

from torture.part import check
from torture.shim import copy_of, fork


class Rehearsal(NamedTuple):
    """The folder that a deed begins in, the states it goes through, and how many calls it makes."""

    template: Path
    states: list[str]
    calls: int


def rehearse(deed, folder: Path) -> Rehearsal:
    """Do a deed without a fault."""
    template = folder / "template"
    template.mkdir()
    check(fork(lambda f, _: deed.prepare(f), template).code == 0, "preparing failed")
    first = deed.state(template)
    with copy_of(template, folder / "whole") as whole:
        ended = fork(deed.act, whole)
        check(ended.code == 0, f"{deed.name} failed without a fault: {ended.printed}")
        states = [first, *ended.acknowledged]
        check(deed.state(whole) == states[-1], "the last state is not what was acknowledged")
    return Rehearsal(template, states, ended.calls)


def verify(deed, folder: Path, acknowledged: list[str], states: list[str], where: str) -> None:
    """See what a fault has left, and that the next run goes well."""
    state, promised = deed.state(folder), len(acknowledged)
    if deed.resumes:
        check(not promised or state == states[-1], where + "what was acknowledged is not there")
    else:
        check(state in states[promised:], where + "neither the old state nor the new one is there")
    deed.again(folder)
    if deed.resumes:
        check(deed.state(folder) == states[-1], where + "the next run did not finish the work")
    strays = {entry.name for entry in folder.iterdir()} - deed.files()
    strays |= {entry.name for entry in Path(tempfile.gettempdir()).iterdir()}
    check(not strays, f"{where}{sorted(strays)} are left after the next run")
