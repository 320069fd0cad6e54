"""A model file is read whole and unchanged, or refused: no crash, no code, no flood of memory."""

import io
import json
import random
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from deciban import files
from deciban.errors import InputError, ModelFileError
from deciban.files import archive, npy
from deciban.files.model import Stored
from deciban.stats.counts import Counts

ARRAYS = {
    "floats": np.array([[0.5, -0.0, np.inf], [1e-300, np.nan, 3.0]]),
    "none": np.empty((0, 3)),
    "one": np.array(7),
    "small": np.arange(5, dtype=np.int32),
    "bytes": np.arange(256, dtype=np.uint8),
    "truth": np.array([True, False]),
    "by_column": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "swapped": np.arange(3, dtype=">i8"),
}
DOCUMENT = {"model": {"alpha": 1.0}, "text": "größer 😀", "none": None, "list": [1, [True]]}
COUNTS = Counts.of({"size": ["S", "M", "S"]}, ["ham", "spam", "spam"]) + Counts.of(
    {"x": [1.0, 2.0, 4.0]}, ["ham", "spam", "spam"], family="gaussian"
)
GOLDEN = Path(__file__).parent / "data" / "format1.deciban"


def golden():
    """What the file of format version 1 holds."""
    many = Counts.of({"code": np.arange(100)}, ["ham", "spam"] * 50)
    labels = {"feature_names_in_": np.array(["size", "x", "größe"])}
    arrays = {"extra": np.array([[1.5, 2.5]])}
    return Stored("GaussianNB", COUNTS + many * 0.5, {"alpha": 1.0}, labels, arrays)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.deciban"


@pytest.fixture
def saved(path):
    files.save(path, Stored("GaussianNB", COUNTS, {"alpha": 1.0}))
    return path


def repacked(path, change, **how):
    """The file with its members, ``[(name, bytes)]``, changed, under valid checksums."""
    with zipfile.ZipFile(path) as old:
        members = [(info.filename, old.read(info)) for info in old.infolist()]
    members = change(members) or members
    with zipfile.ZipFile(path, "w", **{"compression": zipfile.ZIP_DEFLATED, **how}) as new:
        for name, data in members:
            new.writestr(name, data)


def restated(path, change):
    """The file with ``model.json`` changed."""

    def swap(members):
        stated = json.loads(members[0][1])
        members[0] = ("model.json", json.dumps(change(stated) or stated))

    repacked(path, swap)


def refused(path, message):
    with pytest.raises(ModelFileError, match=f"(?s){path.name}.*{message}"):
        files.read(path)


# What is written is read


def test_everything_comes_back(path):
    archive.write(path, "kind", DOCUMENT, ARRAYS)
    content = archive.read(path)
    assert (content.kind, content.document) == ("kind", DOCUMENT)
    assert list(content.arrays) == sorted(ARRAYS)
    for name, array in content.arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype.newbyteorder("=")
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_numpy_and_unzip_read_it_too(path):
    archive.write(path, "kind", DOCUMENT, ARRAYS)
    with zipfile.ZipFile(path) as file:
        assert json.loads(file.read("model.json"))["document"] == DOCUMENT
        for name, array in ARRAYS.items():
            again = np.load(io.BytesIO(file.read(f"arrays/{name}.npy")), allow_pickle=False)
            np.testing.assert_array_equal(again, array)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    archive.write(tmp_path / "a", "kind", DOCUMENT, ARRAYS)
    archive.write(tmp_path / "b", "kind", DOCUMENT, dict(reversed(ARRAYS.items())))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_zips_beyond_two_gigabytes(path, monkeypatch):
    """They end in another way; here the bound is lowered instead."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    archive.write(path, "kind", DOCUMENT, ARRAYS)
    assert b"PK\x06\x06" in path.read_bytes()
    assert archive.read(path).document == DOCUMENT
    data = path.read_bytes()
    end = data.rindex(b"PK\x06\x06")
    path.write_bytes(data[: end + 40] + (2**40).to_bytes(8, "little") + data[end + 48 :])
    with pytest.raises(ModelFileError, match="its directory has 1099511627776 bytes"):
        archive.read(path)
    path.write_bytes(data[: end + 64] + bytes(8) + data[end + 72 :])
    with pytest.raises(ModelFileError, match="its directory is not where it should be"):
        archive.read(path)


def test_files_of_format_version_1_are_read_for_ever():
    """The promise. If this fails, the new code must learn to read the old file."""
    again, want = files.read(GOLDEN), golden()
    assert (again.kind, again.description) == (want.kind, want.description)
    assert again.counts == want.counts
    assert again.counts.classes.tolist() == want.counts.classes.tolist()
    assert again.labels["feature_names_in_"].tolist() == ["size", "x", "größe"]
    assert again.arrays["extra"].tolist() == [[1.5, 2.5]]


def test_what_cannot_be_written_is_refused_before_anything_is_touched(path):
    path.write_text("before")
    for arrays in ({"x": np.array(["a"])}, {"x": np.array([None])}, {"x": np.zeros((1,) * 5)}):
        with pytest.raises(InputError, match=r"cannot be saved.* Hint: "):
            archive.write(path, "kind", {}, arrays, overwrite=True)
    for name in ("", "../x", "a/b", "X", "a" * 101, "a\n"):
        with pytest.raises(InputError, match=r"cannot be named.* Hint: "):
            archive.write(path, "kind", {}, {name: np.zeros(1)}, overwrite=True)
    with pytest.raises(InputError, match=r"a file holds .* Hint: "):
        archive.write(
            path,
            "kind",
            {},
            {"x": np.broadcast_to(np.zeros(1), (archive.MAX_UNPACKED_BYTES // 8,))},
            overwrite=True,
        )
    arrays = {f"x{i}": np.zeros(1) for i in range(5000)}
    with pytest.raises(InputError, match=r"in 5000 arrays; .* Hint: "):
        archive.write(path, "kind", {}, arrays, overwrite=True)
    assert path.read_text() == "before"
    assert list(path.parent.iterdir()) == [path]


# Damage


def outcome(path, want):
    """ "same" or "error"; anything else is raised."""
    try:
        again = files.read(path)
    except ModelFileError:
        return "error"
    assert (again.kind, again.description) == (want.kind, want.description)
    assert again.counts == want.counts
    assert again.counts.classes.tolist() == want.counts.classes.tolist()
    return "same"


def test_flipped_bits_are_an_error_or_have_no_effect(saved):
    want, data, rng = files.read(saved), saved.read_bytes(), random.Random(0)
    found = {"same": 0, "error": 0}
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << rng.randrange(8)
        saved.write_bytes(flipped)
        found[outcome(saved, want)] += 1
    assert found["error"] > found["same"] > 0


def test_several_bytes_overwritten(saved):
    want, data, rng = files.read(saved), saved.read_bytes(), random.Random(1)
    for _ in range(500):
        damaged = bytearray(data)
        start = rng.randrange(len(data))
        junk = rng.choice([rng.randbytes, bytes, lambda n: b"\xff" * n])
        part = junk(rng.randint(1, 40))
        damaged[start : start + rng.choice([0, len(part)])] = part
        saved.write_bytes(damaged)
        outcome(saved, want)


def test_every_truncation_is_an_error(saved):
    data, rng = saved.read_bytes(), random.Random(2)
    for end in {0, 1, 4, 21, 22, len(data) - 1, *rng.sample(range(len(data)), 400)}:
        saved.write_bytes(data[:end])
        refused(saved, "Hint: the file was cut off")


def test_members_swapped_under_valid_checksums(saved):
    """What the zip itself cannot notice: the SHA-256 of the arrays does."""
    other = saved.with_name("other.deciban")
    files.save(other, Stored("GaussianNB", COUNTS * 2, {"alpha": 1.0}))
    with zipfile.ZipFile(other) as file:
        theirs = {info.filename: file.read(info) for info in file.infolist()}
    data, changed = saved.read_bytes(), 0
    for name in theirs:
        saved.write_bytes(data)
        repacked(saved, lambda m, name=name: [(n, theirs[n] if n == name else d) for n, d in m])
        with zipfile.ZipFile(saved) as file, zipfile.ZipFile(io.BytesIO(data)) as mine:
            if file.read(name) == mine.read(name):
                continue
        changed += 1
        refused(saved, "")
    assert changed > 4


# Malice


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("are not those", lambda m: m.append(("../../etc/passwd", b"x"))),
        ("are not those", lambda m: m.append(("/etc/passwd", b"x"))),
        ("are not those", lambda m: m.append(("arrays/evil.npy", b"x"))),
        ("are not those", lambda m: m.append(("arrays/", b""))),
        ("are not those", lambda m: m.pop() and None),
        ("no model.json", lambda m: m[1:]),
        ("type and shape", lambda m: m.__setitem__(1, (m[1][0], b"x" * len(m[1][1])))),
        ("have the size", lambda m: m.__setitem__(1, (m[1][0], m[1][1] + b"x"))),
        ("SHA-256", lambda m: m.__setitem__(1, (m[1][0], m[1][1][:-1] + b"x"))),
        ("not JSON", lambda m: m.__setitem__(0, ("model.json", b"{"))),
        ("the most is", lambda m: m.__setitem__(0, ("model.json", b" " * (17 << 20)))),
        ("its format", lambda m: m.__setitem__(0, ("model.json", b"{}"))),
    ],
)
def test_other_members(saved, message, change):
    repacked(saved, change)
    refused(saved, message)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice(saved):
    repacked(saved, lambda members: [*members, members[1]])
    refused(saved, "a name is there twice")


def test_other_methods_of_packing(saved):
    data = saved.read_bytes()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        saved.write_bytes(data)
        repacked(saved, lambda members: None, compression=method)
        refused(saved, "another method")


FIRST = "counts.table0.rows"


def counts(stated):
    return stated["document"]["counts"]


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("later deciban", lambda s: s.update(version=archive.VERSION + 1, deciban="9.0")),
        ("version", lambda s: s.update(version=0)),
        ("version", lambda s: s.update(version="1")),
        ("unknown field `extra`", lambda s: s.update(extra=1)),
        ("kind", lambda s: s.update(kind=None)),
        ("document", lambda s: s.update(document=[])),
        ("arrays", lambda s: s.update(arrays=[])),
        ("required field `deciban`", lambda s: s.pop("deciban")),
        ("unknown type", lambda s: s["arrays"][FIRST].update(dtype="object")),
        ("unknown type", lambda s: s["arrays"][FIRST].update(dtype="|O")),
        ("expected `int", lambda s: s["arrays"][FIRST].update(shape=[-2])),
        ("expected `int", lambda s: s["arrays"][FIRST].update(shape=["2"])),
        ("expected `int", lambda s: s["arrays"][FIRST].update(shape=[True])),
        ("expected `int", lambda s: s["arrays"][FIRST].update(shape=[0, 10**18])),
        ("impossible shape", lambda s: s["arrays"][FIRST].update(shape=[1] * 50)),
        ("have the size", lambda s: s["arrays"][FIRST].update(shape=[10**9])),
        ("have the size", lambda s: s["arrays"][FIRST].update(dtype="int32")),
        ("type and shape", lambda s: s["arrays"][FIRST].update(dtype="int64")),
        ("type and shape", lambda s: s["arrays"][FIRST].update(shape=[1, 2])),
        ("SHA-256", lambda s: s["arrays"][FIRST].update(sha256="0" * 64)),
        ("expected `object`", lambda s: s["arrays"].update({FIRST: 1})),
        ("are not those", lambda s: s["arrays"].update({"../x": s["arrays"].pop(FIRST)})),
        ("required field `model`", lambda s: s["document"].pop("model")),
        ("unknown field `other`", lambda s: s["document"].update(other=1)),
        (
            "statistic 'os.system'",
            lambda s: s["document"]["counts"]["tables"][0].update(statistic="os.system"),
        ),
        (
            "fewer",
            lambda s: s["document"]["counts"].update(classes={"dtype": "str", "size": 10**9}),
        ),
    ],
)
def test_other_statements(saved, message, change):
    restated(saved, lambda stated: change(stated) and None)
    refused(saved, message)


def test_arrays_that_belong_to_nothing(path):
    archive.write(path, "kind", {"model": {}, "labels": {}, "counts": {}}, {"other": np.zeros(1)})
    refused(path, "'other' belongs to nothing")


def test_labels_that_belong_to_nothing(saved):
    content = archive.read(saved)
    arrays = content.arrays | {"labels.floats": np.zeros(1)}
    archive.write(saved, content.kind, content.document, arrays)
    refused(saved, "'floats' of the labels is too long")


def test_names_that_are_paths(path):
    entry = npy.Plan.of(np.zeros(1)).entry
    about = {"format": archive.FORMAT, "version": 2, "deciban": "0", "kind": "k", "document": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(about | {"arrays": {"../../x": entry}}))
        file.writestr("arrays/../../x.npy", npy.Plan.of(np.zeros(1)).header + bytes(8))
    refused(path, "are not those")


def test_an_array_that_goes_on():
    plan = npy.Plan.of(np.zeros(1))
    assert npy.read(io.BytesIO(plan.header + bytes(8)), plan).tolist() == [0.0]
    for data, message in ((bytes(9), "longer"), (bytes(7), "shorter"), (b"", "shorter")):
        with pytest.raises(ModelFileError, match=f"{message} than stated"):
            npy.read(io.BytesIO(plan.header + data), plan)


def test_truth_values_that_are_neither():
    plan = npy.Plan.of(np.array([2], dtype=np.uint8))
    lying = npy.Plan("bool", (1,), plan.sha256)
    with pytest.raises(ModelFileError, match="neither 0 nor 1"):
        npy.read(io.BytesIO(lying.header + b"\2"), lying)


@pytest.mark.parametrize("data", [b"\x80\x04cos\nsystem\n", b"PK", b"", b"\x93NUMPY", b"x" * 9999])
def test_other_files(path, data):
    path.write_bytes(data)
    refused(path, "Hint: the file was cut off, or is another")


def test_no_file_is_the_error_that_python_has(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "none.deciban")
    with pytest.raises(IsADirectoryError):
        files.read(tmp_path)


# Floods


def bounded(path):
    """What loading says when it has 64 MiB, and 20 seconds of a processor."""
    command = [sys.executable, "-c", LIMITED, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


LIMITED = """
import resource, sys
from deciban import errors, files
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    files.read(sys.argv[1])
except errors.ModelFileError as error:
    print("refused:", error)
"""


def bomb(path, stated, real):
    """A file whose one array states a shape, and whose directory states its size."""
    plan = npy.Plan("uint8", (stated,), "0" * 64)
    about = {"format": archive.FORMAT, "version": 2, "deciban": "0", "kind": "k", "document": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(about | {"arrays": {"x": plan.entry}}))
        with file.open("arrays/x.npy", "w") as stream:
            stream.write(plan.header)
            for _ in range(real >> 20):
                stream.write(bytes(1 << 20))
        info = file.getinfo("arrays/x.npy")
        info.file_size = plan.size  # the directory is written last


def test_a_bomb_within_the_limit_is_refused_by_the_limit_asked_for(path):
    bomb(path, 128 << 20, 128 << 20)
    assert path.stat().st_size < 1 << 18
    with pytest.raises(ModelFileError, match=r"13421\d+ bytes, no more than 1000000 .* Hint: "):
        files.read(path, limit=1_000_000)


def test_a_bomb_beyond_what_deflate_can_do(path):
    """A billion bytes out of a thousand: the directory lies."""
    bomb(path, 10**9, 1 << 20)
    refused(path, "it would unpack to")


def test_a_directory_that_states_less_than_there_is(path):
    bomb(path, 1 << 20, 200 << 20)
    assert "refused:" in bounded(path)


def test_a_directory_that_states_more_than_there_is(path):
    bomb(path, 40 << 20, 39 << 20)
    assert "refused:" in bounded(path)


def test_a_directory_of_a_million_names(path):
    with zipfile.ZipFile(path, "w") as file:
        for i in range(30_000):
            file.writestr(f"arrays/x{i}.npy", b"")
    refused(path, "its directory has")


def test_a_document_made_to_fill_the_memory(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", b'{"a": [' + b"[]," * (1 << 22) + b"[]]}")
    out = bounded(path)
    assert "refused:" in out or "MemoryError" in out


def test_a_document_that_is_a_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", bytes(200 << 20))
    assert "refused:" in bounded(path)


def test_reading_takes_about_the_memory_of_the_model(path):
    archive.write(path, "kind", {}, {"x": np.zeros(10_000_000)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert archive.read(path).arrays["x"].nbytes == 80_000_000
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 200_000
