"""Killed at every system call: the old state or the new one, and nothing acknowledged is lost."""

import signal

from torture import deeds
from torture.part import Part, check
from torture.shim import KILL, KILL_HALFWAY, copy_of, fork


def killed_everywhere(make):
    """An attempt: one deed, killed before each of its calls and in the midst of it."""

    def attempt(chance, folder):
        deed, template = make(chance), folder / "template"
        template.mkdir()
        check(fork(lambda f, _: deed.prepare(f), template).code == 0, "preparing failed")
        first = deed.state(template)
        with copy_of(template, folder / "whole") as whole:
            ended = fork(deed.act, whole)
            check(ended.code == 0, f"{deed.name} failed without a fault: {ended.printed}")
            states = [first, *ended.acknowledged]
            check(deed.state(whole) == states[-1], "the last state is not what was acknowledged")
        faults = [(at, fault) for at in range(ended.calls) for fault in (KILL, KILL_HALFWAY)]
        for at, fault in faults:
            with copy_of(template, folder / f"{at}-{fault}") as copy:
                _killed(deed, copy, at, fault, states)
        return len(faults)

    return attempt


def _killed(deed, folder, at, fault, states):
    """Act, be killed at a call, and see what is left; then act again."""
    ended = fork(deed.act, folder, at, fault)
    where = f"{deed.name}, killed at call {at} ({fault}): "
    check(ended.code in (0, -signal.SIGKILL), f"{where}it ended with {ended.code} {ended.printed}")
    state, promised = deed.state(folder), len(ended.acknowledged)
    if deed.resumes:
        check(not promised or state == states[-1], where + "what was acknowledged is not there")
    else:
        check(state in states[promised:], where + "neither the old state nor the new one is there")
    deed.again(folder)
    if deed.resumes:
        check(deed.state(folder) == states[-1], where + "the next run did not finish the work")
    strays = {entry.name for entry in folder.iterdir()} - deed.files()
    check(not strays, f"{where}{sorted(strays)} are left after the next run")


PARTS = [
    Part(
        f"kill: {deed.name}",
        "the old state or the new one, whole; nothing acknowledged is lost or doubled",
        killed_everywhere(deed),
        preload=True,
    )
    for deed in (
        deeds.Saving, deeds.Command, deeds.MailLessons, deeds.MailTraining, deeds.Teaching,
    )
]  # fmt: skip
