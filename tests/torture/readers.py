"""Everything that reads bytes of others, fuzzed: only errors of deciban come out of it.

A target takes any bytes. With atheris installed (``make torture`` does that) the bytes are led by
the branches of deciban's code that they reach; ``fuzz.py`` is the process that does so.
"""

import contextlib
import functools
import io
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

import letters
from deciban import sources
from deciban.errors import DecibanError, DecibanWarning
from deciban.files import archive, model
from deciban.mail import charsets, envelope, html, lessons
from deciban.sources import encodings
from deciban.sources.options import ReadOptions
from deciban.text import Tokenizer
from torture.part import Part, check

#: Inputs of one attempt, and the longest.
N_INPUTS, MAX_BYTES = 20_000, 4096
#: Inputs of targets that write a file or start a query for each, and take milliseconds.
N_SLOW_INPUTS = 1000


@functools.cache
def _folder() -> Path:
    _folder.held = tempfile.TemporaryDirectory()  # gone with the process
    return Path(_folder.held.name)


def _file(data: bytes, name: str) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


def model_file(data: bytes) -> None:
    """A model file that is any bytes."""
    with contextlib.suppress(DecibanError):
        model.open(_file(data, "m.deciban"))


def delimited_file(data: bytes) -> None:
    """A table as CSV: its characters, delimiter, header, types and rows."""
    with contextlib.suppress(DecibanError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        for _ in sources.batches(str(_file(data, "t.csv"))):
            pass


def characters(data: bytes) -> None:
    """What characters a file is written in, without DuckDB."""
    with contextlib.suppress(DecibanError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        encodings.open_text(_file(data, "t.txt"), ReadOptions())


def texts(data: bytes) -> None:
    """The tokeniser: words, n-grams, characters, of any text."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = data.decode("utf-16-le", "replace")
    for tokenizer in TOKENIZERS:
        with contextlib.suppress(DecibanError):
            tokens = tokenizer.tokens(text)
            spans = tokenizer.spans(text) if tokenizer.characters is None else []
            check(all(text[a:b] for a, b, _ in spans), "a token stands nowhere in the text")
            check("" not in tokens, "a token is empty")


TOKENIZERS = (
    Tokenizer(),
    Tokenizer("words", ngrams=(1, 3), accents=True),
    Tokenizer(one_letter=True, numbers=True, signs=True, case=True, stop_words="english"),
    Tokenizer(characters=(2, 4)),
    Tokenizer(characters=(1, 3), within=True),
)


def message(data: bytes) -> None:
    """A message: envelope, MIME, HTML, tokens; filtering changes one header only."""
    read = lessons.read(data)
    check(all(isinstance(token, str) for token in read.tokens), "a token is no text")
    marked = envelope.with_header(data, "ham; p=0.1")
    check(
        envelope.without_header(marked) == envelope.without_header(data), "a mark is not taken off"
    )
    check(lessons.read(marked).digest == read.digest, "a mark makes it another message")


def page(data: bytes) -> None:
    """HTML."""
    html.read(data.decode("latin-1"))


def encoded(data: bytes) -> None:
    """Characters of a stated, perhaps invented, encoding."""
    label, _, rest = data.partition(b"\n")
    text = charsets.decode(rest, label.decode("latin-1"))
    text.encode("utf-8")  # without surrogates


def arrow(data: bytes) -> None:
    """Arrow arrays whose offsets, validity and views do not fit, as far as a reader can know.

    The C interface does not say how long a buffer is: who states more rows than there are
    cannot be found out. So offsets stay inside the data, in any order.
    """
    head, _, content = data.partition(b"\x00")
    content = content or b"\x00"
    offsets = np.frombuffer(head[: len(head) // 2 * 2], np.int16).astype(np.int32)
    offsets = np.where(offsets > len(content), offsets % (len(content) + 1), offsets)
    if len(offsets) < 2:
        return
    kind, width = (pa.string(), np.int32) if data[:1] < b"\x80" else (pa.large_string(), np.int64)
    held = np.zeros(len(offsets), width)
    valid = pa.py_buffer(content) if len(content) * 8 >= len(offsets) else None
    array = pa.Array.from_buffers(
        kind, len(offsets) - 1, [valid, pa.py_buffer(held), pa.py_buffer(content)]
    )
    table = pa.table({"a": array, "n": pa.array(range(len(array)))})
    held[:] = offsets  # after pyarrow has looked at them
    with contextlib.suppress(DecibanError, UnicodeDecodeError):
        for batch in sources.batches(table):
            batch.columns["a"].tolist()


def views(data: bytes) -> None:
    """Arrow string views, each made of any sixteen bytes."""
    n = len(data) // 16
    if not n:
        return
    array = pa.Array.from_buffers(
        pa.string_view(), n, [None, pa.py_buffer(data[: 16 * n]), pa.py_buffer(data)]
    )
    with contextlib.suppress(DecibanError, UnicodeDecodeError):
        for batch in sources.batches(pa.table({"a": array})):
            batch.columns["a"].tolist()


@functools.cache
def _client():
    import serving

    _client.held = contextlib.ExitStack()  # open as long as the process is
    return _client.held.enter_context(serving.serving(serving.fruit_model(_folder())))


PATHS = ("/api/predict", "/api/explain", "/api/counterfactual", "/api/evaluate", "/api/batch")
KINDS = (
    "application/json", "text/csv", "application/x-ndjson", "application/vnd.apache.arrow.stream",
)  # fmt: skip


def request(data: bytes) -> None:
    """The body of a request to the server: any path, any kind."""
    if not data:
        return
    path, kind = PATHS[data[0] % len(PATHS)], KINDS[data[0] // 16 % len(KINDS)]
    response = _client().post(path, content=data[1:], headers={"Content-Type": kind})
    check(response.status_code < 500, f"{path}: {response.status_code} {response.text[:300]}")


def _model_bytes() -> bytes:
    return archive.to_bytes("NaiveBayes", {"a": 1}, {"x": np.arange(3)})


def _arrow_stream() -> bytes:
    sink = io.BytesIO()
    table = pa.table({"grams": [60.0], "colour": ["red"]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


CSV = b'grams;colour;ripe\n62,5;red;yes\n;"a;b";no\n1.234,5;\xe4pfel;\n'
ROWS = b'{"rows": [{"grams": 62.5, "colour": "red", "ripe": true, "picked": "2025-06-21"}]}'
PAGE = b"<p style='display:none'>a&amp;b</p><a href=http://x.example/?a=b>c</a><!-- -->&#x41;"
MIME = (
    b"From: =?utf-8?q?a=C3=A4?= <a@b.example>\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
    b"Content-Type: text/html; charset=gb2312\nContent-Transfer-Encoding: base64\n\nPGI+\n--x--\n"
)
#: Each target: what it takes, examples to begin with, and how many inputs an attempt has.
TARGETS = {
    "model file": (model_file, lambda: [_model_bytes()], N_INPUTS),
    "delimited file": (delimited_file, lambda: [CSV, b"a,b\n1,2\n"], N_SLOW_INPUTS),
    "characters": (characters, lambda: [CSV, "a\nä\n".encode("utf-16")], N_INPUTS),
    "texts": (texts, lambda: ["Free 北京 ĄŻ İ \U0001f600".encode(), b"\xed\xa0\x80"], N_INPUTS),
    "message": (message, lambda: [MIME, *letters.HAM[:1], *letters.SPAM[:1]], N_INPUTS),
    "page": (page, lambda: [PAGE], N_INPUTS),
    "encoded": (encoded, lambda: [b"gb18030\n\xb1\xb1", b"utf-7\n+AGE-", b"x\n"], N_INPUTS),
    "arrow": (arrow, lambda: [b"\x00\x01\x00\x02\x00abc", b"\x01\x01\x03\x01\x00xyzzy"], N_INPUTS),
    "views": (views, lambda: [b"\x03\x00\x00\x00abc" + bytes(9), bytes(32)], N_INPUTS),
    "request": (
        request, lambda: [bytes([i]) + ROWS for i in range(4)] + [b"\x34" + _arrow_stream()],
        N_SLOW_INPUTS,
    ),
}  # fmt: skip


def fuzzed(name: str):
    """An attempt: a process that fuzzes a target; what breaks it is saved, and made small."""

    def attempt(chance, folder):
        corpus = folder.parent / "corpus" / name.replace(" ", "-")
        corpus.mkdir(parents=True, exist_ok=True)
        for number, example in enumerate(TARGETS[name][1]()):
            (corpus / f"example-{number}").write_bytes(example)
        runs = TARGETS[name][2]
        ended = _fuzz(name, folder, corpus, f"-runs={runs}", f"-seed={chance.randrange(1, 2**31)}")
        broken = sorted(folder.glob("broken-*"))
        if broken:
            _fuzz(name, folder, broken[0], "-minimize_crash=1", "-runs=5000")
        check(
            not broken and not ended.returncode,
            f"{broken}: {ended.stdout[-3000:]}{_plain(ended.stderr)[-1000:]}",
        )
        said = re.search(r"stat::number_of_executed_units: (\d+)", ended.stderr)
        return int(said[1]) if said else runs

    return attempt


def _plain(said: str) -> str:
    """What libFuzzer said, without the list of what was instrumented."""
    return "\n".join(line for line in said.splitlines() if "Instrumenting" not in line)


def _fuzz(name, folder, place, *options):
    command = [
        sys.executable, "-m", "torture.fuzz", name, f"-artifact_prefix={folder}/broken-",
        f"-max_len={MAX_BYTES}", "-timeout=60", "-report_slow_units=60", "-rss_limit_mb=6000",
        "-print_final_stats=1", *options, str(place),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


PARTS = [
    Part(
        f"fuzz: {name}",
        "errors of deciban only; no crash, no hang, no growth",
        fuzzed(name),
        wanted=10 * TARGETS[name][2],
    )
    for name in TARGETS
]
