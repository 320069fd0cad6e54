"""Calls that fail, Ctrl-C in the midst, a clock that jumps: said plainly, nothing half done."""

import errno
import os
import time

from torture import deeds
from torture.part import Part, check
from torture.shim import INTERRUPT, copy_of, fork
from torture.trial import rehearse, verify

#: A full disk, a broken one, one that may only be read, no permission, too many open files.
ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE, errno.EFBIG,
)  # fmt: skip
#: Commands may end with these: done, what was wrong is said, interrupted.
CODES = (0, 1, 130)
#: What a person must never read.
BUGS = ("Traceback", "bug of deciban")


def failing_everywhere(make):
    """An attempt: one deed; each of its calls fails, once or from then on, or is interrupted."""

    def attempt(chance, folder):
        deed = make(chance)
        template, states, calls = rehearse(deed, folder)
        faults = [(at, _fault(chance)) for at in range(calls) for _ in range(3)]
        for number, (at, fault) in enumerate(faults):
            with copy_of(template, folder / str(number)) as copy:
                ended = fork(lambda f, a: said_plainly(deed.act, f, a), copy, at, fault)
                where = f"{deed.name}, call {at} fails with {fault}: "
                check(ended.code in CODES, f"{where}it ended with {ended.code}: {ended.printed}")
                check(not any(bug in ended.printed for bug in BUGS), where + ended.printed)
                verify(deed, copy, ended.acknowledged, states, where)
        return len(faults)

    return attempt


def _fault(chance):
    """An error, of one call or of all after it; or Ctrl-C."""
    code = chance.choice((*ERRORS, INTERRUPT))
    return code if code == INTERRUPT else code * chance.choice((1, -1))


def said_plainly(act, folder, acknowledge):
    """Act; an error with a hint is printed as the command does it, anything else is a bug."""
    from deciban.errors import DecibanError

    try:
        return act(folder, acknowledge)
    except KeyboardInterrupt:
        return 130
    except DecibanError as error:
        print(error)
        return 1


def jumping_clock(chance, folder):
    """Deeds while the clock of the wall stands anywhere in time: the outcome is the same."""
    deed = chance.choice(DEEDS)(chance)
    template, states, _ = rehearse(deed, folder)
    moments = [0.0, 1.0, 2.0**31, 2.0**33, time.time() - 1e6, time.time() + 1e6]

    def act(copy, acknowledge):
        real = time.time
        time.time = lambda: chance.choice(moments) + real() % 1
        return deed.act(copy, acknowledge)

    with copy_of(template, folder / "jumping") as copy:
        stray = copy / ".deciban-0.tmp"
        stray.touch()
        os.utime(stray, (0, chance.choice(moments)))
        ended = fork(act, copy)
        check(ended.code == 0, f"{deed.name} failed: {ended.printed}")
        check(
            deed.state(copy) == states[-1], f"{deed.name}: another state than with a steady clock"
        )
    return 1


DEEDS = (deeds.Saving, deeds.Command, deeds.MailLessons, deeds.MailTraining, deeds.Teaching)
PARTS = [
    Part(
        f"fail: {deed.name}",
        "a full, broken or closed disk, too many files, Ctrl-C: said plainly, nothing half written",
        failing_everywhere(deed),
        wanted=1000,
        preload=True,
    )
    for deed in DEEDS
] + [
    Part(
        "a clock that jumps",
        "the state on the disk does not depend on the clock",
        jumping_clock,
        wanted=100,
        preload=True,
    )
]
