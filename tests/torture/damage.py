"""Model files with valid checksums and changed content, and stores with changed pages.

They are refused with an error of deciban, or every answer is finite and sums to one.
"""

import contextlib
import copy
import functools
import json
import random
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import hostile
import letters
from deciban.errors import DecibanError
from deciban.files import archive
from deciban.mail.lessons import learn, read, score
from deciban.mail.store import Store
from deciban.serve.lessons import export
from torture import deeds
from torture.part import Part, check, smallest

#: Files that one attempt changes, and the most changes in one of them.
N_FILES, MAX_CHANGES = 500, 4


@functools.cache
def contents():
    """What files of every kind of model hold, and rows to ask about."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model, rows in hostile.fitted():
            model.save(Path(folder, "m.deciban"))
            content = archive.read(Path(folder, "m.deciban"))
            out.append((name, content, rows.drop(columns="y", errors="ignore")[:4]))
    return out


def changed_files(chance, folder):
    """Change files in one to four places each."""
    for _ in range(N_FILES):
        name, content, rows = chance.choice(contents())
        changes = [chance.randrange(2**32) for _ in range(chance.randint(1, MAX_CHANGES))]
        what = _complaint(content, rows, changes)
        if what:
            fewest = smallest(changes, lambda some: bool(_complaint(content, rows, some)))  # noqa: B023
            said = [_change(copy.deepcopy(content), random.Random(seed))[0] for seed in fewest]
            Path(folder, "changes.json").write_text(json.dumps([name, fewest, said]))
            check(False, f"{name}, {said}: {_complaint(content, rows, fewest)}")
    return N_FILES


def _complaint(content, rows, changes) -> str:
    """What is wrong about the answers of a changed file; nothing if it is refused."""
    changed = content
    for seed in changes:
        _, changed = _change(changed, random.Random(seed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            shares = hostile.loaded(changed).predict_proba(rows)
    except DecibanError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not np.all(np.isfinite(shares)):
        return f"probabilities that are no numbers: {shares}"
    off = float(np.abs(shares.sum(axis=1) - 1).max(initial=0))
    return "" if off < 1e-9 else f"probabilities that miss one by {off}"


def _change(content, chance):
    """One value of the document, or one array, is another."""
    if content.arrays and chance.random() < 0.5:
        name = chance.choice(sorted(content.arrays))
        array = content.arrays[name]
        what, change = chance.choice(list(hostile.array_changes(array)))
        return f"{name}: {what}", replace(content, arrays={**content.arrays, name: change(array)})
    places = list(hostile.places(content.document))
    if not places:
        return "nothing", content
    path, value = chance.choice(places), chance.choice((*hostile.VALUES, chance.uniform(-9, 9)))
    return f"{path} = {value!r:.40}", hostile.put(content, path, value)


# ---------------------------------------------------------------------- stores


@functools.cache
def stores() -> list[tuple[str, bytes]]:
    """A store of mail and a live store, as bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Store(str(folder / "mail.db"), create=True) as store:
            letters.learnt(store)
        teaching = deeds.Teaching(random.Random(0))
        teaching.prepare(folder)
        return [(file, (folder / file).read_bytes()) for file in ("mail.db", "live.db")]


def changed_pages(chance, folder):
    """Bytes of stores are changed, pages swapped, cut off or put twice."""
    for number in range(N_FILES):
        name, whole = chance.choice(stores())
        path = folder / f"{number}-{name}"
        path.write_bytes(_changed_bytes(whole, chance))
        with contextlib.suppress(DecibanError):
            _ask_store(name, path)
        for file in folder.glob(f"{number}-*"):
            file.unlink()
    return N_FILES


def _changed_bytes(whole: bytes, chance) -> bytes:
    data, page = bytearray(whole), 4096
    for _ in range(chance.randint(1, 8)):
        if not data:
            break
        at, where = chance.randrange(len(data)), chance.randrange(max(1, len(data) // page)) * page
        kind = chance.randrange(5)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at : at + chance.randint(1, 64)] = chance.randbytes(chance.randint(1, 64))
        elif kind == 2:
            other = chance.randrange(max(1, len(data) // page)) * page
            data[where : where + page], data[other : other + page] = (
                data[other : other + page], data[where : where + page],
            )  # fmt: skip
        elif kind == 3:
            data[where : where + page] = bytes(page)
        else:
            del data[at:]
    return bytes(data)


def _ask_store(name: str, path: Path) -> None:
    """Ask a store, and teach it: errors are deciban's, probabilities are probabilities."""
    if name == "live.db":
        shares = export(str(path)).predict_proba([{"grams": 60.0, "colour": "red"}])
        check(
            bool(np.all(np.isfinite(shares))),
            "a live store gives probabilities that are no numbers",
        )
        return
    with Store(str(path)) as store:
        answer = score(store, read(letters.NEW_SPAM))
        check(0 <= answer.p <= 1, f"a store of mail says {answer}")
        learn(store, read(letters.NEW_HAM), False)


PARTS = [
    Part(
        "changed model files",
        "refused with an error of deciban, or every answer is finite and sums to one",
        changed_files,
        wanted=900_000,
    ),
    Part(
        "changed pages of stores",
        "refused with an error of deciban, or every answer is a probability",
        changed_pages,
        wanted=100_000,
    ),
]
