"""Encodings of text files: UTF-8 where that fits, otherwise as stated or as is likeliest.

A byte-order mark overrules everything. A file that is not UTF-8 is read in the encoding that the
model's training file had, if it fits; otherwise the likeliest one is guessed from the lines that
are not ASCII, and a warning says which. It is then turned into UTF-8 as a stream, into a
temporary file.
"""

from __future__ import annotations

import codecs
import gzip
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from deciban.errors import DataWarning, FileError
from deciban.sources.formats import Format
from deciban.sources.options import ReadOptions
from deciban.sources.spool import Spool

__all__ = ["TextFile", "open_bytes", "open_text"]

BLOCK_BYTES = 1 << 22
#: About so many bytes of lines that are not ASCII are looked at.
GUESS_BYTES = 1 << 14
_MARKS = {
    codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
#: The widest encoding that people mean by a name.
_WIDER = {
    "gb2312": "gb18030", "gbk": "gb18030", "hz": "gb18030", "shift_jis": "cp932",
    "shift_jis_2004": "cp932", "shift_jisx0213": "cp932", "euc_kr": "cp949", "johab": "cp949",
    "euc_jis_2004": "euc_jp", "euc_jisx0213": "euc_jp", "big5": "cp950",
}  # fmt: skip
#: Alphabets that are not Latin: a guess of one of these is taken.
_OTHER_SCRIPTS = {
    "gb18030", "cp950", "big5hkscs", "cp932", "cp949", "euc_jp", "iso2022_jp", "iso2022_kr",
    "cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866", "mac_cyrillic", "cp1253", "iso8859_7",
    "cp1255", "iso8859_8", "cp1256", "iso8859_6", "cp874", "tis_620", "iso8859_11",
}  # fmt: skip
#: The letters and signs beyond ASCII that are often met, by encoding.
_FREQUENT = {
    "cp1252": "éèêëàâçôîïûùœäöüßñáíóúãõåøæÉÈÊÀÇÄÖÜÑÁÍÓÚÅØÆ€£“”‘’‚„–—…°«»§²³·®©™¿¡\xa0",
    "cp1250": "áéíóúýčěňřšťůžłąęśżćńźőűöüäăâîţşÁČŘŠŽŁŚŻÓÉÖÜŐ€“”‘’‚„–—…°«»§\xa0",
    "cp1254": "ıİşŞğĞçÇöÖüÜâî€“”‘’–—…\xa0",
}
MIN_FREQUENT_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class TextFile:
    """A file in UTF-8: itself, or a temporary one; and the encoding that it was in."""

    path: Path
    encoding: str = ""
    spool: Spool | None = None


def open_text(path: Path, options: ReadOptions) -> TextFile:
    """A text file in UTF-8, whatever it is in."""
    encoding = _marked(path) or options.encoding
    if encoding is None:
        lines = _odd_lines(path)
        if not lines:
            return TextFile(path)
        encoding = _known(lines, options) or _guess(path, lines)
    name = codecs.lookup(encoding).name.replace("-", "_")
    name = _WIDER.get(name, name)
    if name in ("utf_8", "ascii", "utf_8_sig"):
        return TextFile(path)
    spool = Spool(_utf8_blocks(path, name), ".txt")
    return TextFile(spool.path, name, spool)


def _utf8_blocks(path: Path, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with open_bytes(path) as file:
        try:
            while block := file.read(BLOCK_BYTES):
                text = decoder.decode(block)
                line += text.count("\n")
                yield text.encode("utf-8", "surrogatepass")
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError:
            raise FileError(
                f"{path} is not in {encoding} (after line {line:,} or so).",
                hint="state another encoding, leave it out to have it guessed, or save it as UTF-8",
            ) from None


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast("IO[bytes]", file)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileError(
            f"{path} is not a complete gzip file.", hint="copy or compress it again"
        ) from None


def _marked(path: Path) -> str | None:
    """The encoding that a byte-order mark names."""
    with open_bytes(path) as file:
        start = file.read(4)
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def _odd_lines(path: Path) -> bytes:
    """Some lines that are not ASCII, of a file that is not UTF-8; nothing of one that is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    some: list[bytes] = []
    size, odd = 0, False
    with open_bytes(path) as file:
        while block := file.read(BLOCK_BYTES):
            if block.isascii() and not decoder.getstate()[0] and not odd:
                continue
            if not odd:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    odd = True
            if size < GUESS_BYTES:
                lines = [line for line in block.splitlines() if not line.isascii()]
                while lines and size < GUESS_BYTES:
                    size += len(lines[0])
                    some.append(lines.pop(0))
            if odd and size >= GUESS_BYTES:
                break
    odd = odd or bool(decoder.getstate()[0])
    return b"\n".join(some) if odd else b""


def _known(lines: bytes, options: ReadOptions) -> str | None:
    """The encoding that columns of text had in training, if the lines fit."""
    encodings = {Format(form).encoding for form in options.types.values()} - {""}
    return next((name for name in sorted(encodings) if _fits(lines, name)), None)


def _fits(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True


def _guess(path: Path, lines: bytes) -> str:
    """The likeliest encoding, with a warning that names it."""
    _refuse_damaged(path, lines)
    other = _other_script(lines)
    western = max(_FREQUENT, key=lambda name: _share(lines, name))
    if other is None and _share(lines, western) < MIN_FREQUENT_SHARE:
        hint = "state it, such as encoding='cp1252' or 'gb18030'"
        if not _has_detector():
            hint = f"pip install charset-normalizer, which guesses it; or {hint}"
        raise FileError(f"{path} is not in UTF-8, and its encoding cannot be guessed.", hint=hint)
    name = other or western
    warnings.warn(
        f"{path} is not in UTF-8; it is read as {name}. Hint: if that is wrong, state encoding=... "
        f"(--encoding); saving the file as UTF-8 is best.",
        DataWarning,
        stacklevel=2,
    )
    return name


def _refuse_damaged(path: Path, lines: bytes) -> None:
    """An error for a file that is UTF-8 but for a few bytes: no other encoding would fit."""
    text = lines.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(not char.isascii() for char in text) - wrong
    if right > 4 * wrong:
        odd = next(line for line in lines.splitlines() if not _fits(line, "utf-8"))
        line = odd.decode("utf-8", "replace")
        raise FileError(
            f"{path} is in UTF-8 but for some bytes, as in {line!r:.80}.",
            hint="mend these lines, or state encoding=... if all of it is in another one",
        )


def _share(lines: bytes, encoding: str) -> float:
    """The share of the characters beyond ASCII that are frequent in an encoding."""
    if not _fits(lines, encoding):
        return 0.0
    odd = [char for char in lines.decode(encoding) if not char.isascii()]
    return sum(char in _FREQUENT[encoding] for char in odd) / max(1, len(odd))


def _has_detector() -> bool:
    from importlib.util import find_spec

    return find_spec("charset_normalizer") is not None


def _other_script(lines: bytes) -> str | None:
    """The encoding of another script than the Latin one that the lines are likely in, if any."""
    if not _has_detector():
        return None
    import charset_normalizer

    best = charset_normalizer.from_bytes(lines).best()
    if best is None:
        return None
    name = _WIDER.get(best.encoding, best.encoding)
    names = (name, "big5hkscs") if name in _OTHER_SCRIPTS else ()
    return next((name for name in names if _fits(lines, name)), None)
