"""Bytes to text, whatever the label says.

Labels lie: mail labelled GB2312 is GB18030, mail labelled Latin-1 is Windows-1252, and mail
labelled nothing is anything. So a label is read as the widest character set that
goes by its name; what does not fit is tried as UTF-8; what fits nothing is read
with replacement characters. Nothing raises.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["decode"]

#: The names of character sets are remembered, if they have fewer characters than this.
MAX_KEPT_LABEL = 100

#: The widest character set that people mean by a name.
_WIDER = {
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "iso-8859-1": "windows-1252",
    "latin1": "windows-1252",
    "latin-1": "windows-1252",
    "iso-8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "x-big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "iso-2022-jp": "iso2022_jp_ext",
    "x-mac-roman": "mac_roman",
}
#: Python calls these encodings too; a hostile message could make them slow, or fail.
_NO_CHARSETS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs"}
#: The usual labels of mail; ASCII bytes mean one thing in all of them.
_LIKE_ASCII = frozenset(
    ("us-ascii", "utf-8", "iso-8859-1", "iso-8859-15", "windows-1252", "gb2312")
)
#: These can spell no halves of characters.
_WHOLE_CHARACTERS = frozenset(("utf-8", "gb18030", "windows-1252"))
_FALLBACK = "windows-1252"


def decode(data: bytes, label: str | None = None) -> str:
    r"""The text of bytes that are said to be in a character set.

    >>> decode("免费".encode("gb18030"), "gb2312"), decode(b"caf\xe9", "no-such-set")
    ('免费', 'café')
    """
    short = label is None or len(label) < MAX_KEPT_LABEL  # nobody can make us keep long ones
    like_ascii, names = (_names if short else _names.__wrapped__)(label)
    if like_ascii and data.isascii():
        return data.decode("ascii")
    for name in names:
        try:
            text = data.decode(name)
        except (LookupError, ValueError):  # unknown, no text encoding, other bytes than it has
            continue
        return text if name in _WHOLE_CHARACTERS else _without_surrogates(text)
    return _decode_leniently(data, names[0])


@lru_cache(1 << 8)
def _names(label: str | None) -> tuple[bool, tuple[str, ...]]:
    """Whether ASCII is itself in a character set, and the names that it is tried by."""
    name = (label or "utf-8").strip().strip("\"'").lower()
    wider = _WIDER.get(name, name)
    allowed = wider.replace("-", "_") not in _NO_CHARSETS
    return name in _LIKE_ASCII, tuple(dict.fromkeys((wider, "utf-8") if allowed else ("utf-8",)))


def _without_surrogates(text: str) -> str:
    """UTF-7 can spell halves of characters, which nothing else can write."""
    return text if text.isprintable() else text.encode("utf-8", "replace").decode("utf-8")


def _decode_leniently(data: bytes, name: str) -> str:
    """With replacement characters; a name that is unknown, or UTF-8 in vain, is Windows-1252."""
    if name in ("utf-8", "utf8"):
        name = _FALLBACK
    try:
        return data.decode(name, "replace")
    except (LookupError, ValueError):
        return data.decode(_FALLBACK, "replace")
