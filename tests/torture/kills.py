"""Killed at every system call: the old state or the new one, and nothing acknowledged is lost."""

import signal

from torture import deeds
from torture.part import Part, check
from torture.shim import KILL, KILL_HALFWAY, copy_of, fork
from torture.trial import rehearse, verify


def killed_everywhere(make):
    """An attempt: one deed, killed before each of its calls and in the midst of it."""

    def attempt(chance, folder):
        deed = make(chance)
        template, states, calls = rehearse(deed, folder)
        faults = [(at, fault) for at in range(calls) for fault in (KILL, KILL_HALFWAY)]
        for at, fault in faults:
            with copy_of(template, folder / f"{at}-{fault}") as copy:
                ended = fork(deed.act, copy, at, fault)
                where = f"{deed.name}, killed at call {at} ({fault}): "
                check(
                    ended.code in (0, -signal.SIGKILL),
                    f"{where}it ended with {ended.code} {ended.printed}",
                )
                verify(deed, copy, ended.acknowledged, states, where)
        return len(faults)

    return attempt


PARTS = [
    Part(
        f"kill: {deed.name}",
        "the old state or the new one, whole; nothing acknowledged is lost or doubled",
        killed_everywhere(deed),
        wanted=1000,
        preload=True,
    )
    for deed in (
        deeds.Saving, deeds.Command, deeds.MailLessons, deeds.MailTraining, deeds.Teaching,
    )
]  # fmt: skip
