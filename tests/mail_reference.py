"""The reader of messages in plain Python, by regular expressions and the package ``email``.

What the compiled reader gives must be equal to what this one gives.
"""

import re
from email.header import decode_header
from email.message import Message
from email.parser import Parser
from html import unescape

from deciban.mail.charsets import decode
from deciban.mail.html import _HIDING, _INLINE, _LINK, _NEVER_HIDING, _TAG, Page, Tag
from deciban.mail.mime import MAX_CUT_DEPTH, MAX_PART_BYTES, Mail, Part
from deciban.mail.tokens import MAX_HEADER_LENGTH
from deciban.mail.words import MAX_WORD_LENGTH
from deciban.text import Tokenizer

TOKENIZER = Tokenizer()

# Words


def add_words(out, text, prefix="", *, numbers=True):
    for word in TOKENIZER.tokens(text):
        if len(word) <= MAX_WORD_LENGTH and (numbers or not word[0].isdigit()):
            out.add(prefix + word)


def add_hosts(out, text, prefix=""):
    for host in re.findall(r"[\w-]+(?:\.[\w-]+)+", text.lower()):
        names = host.split(".")
        inner = range(1, len(names) - 1)
        address = names[-1].isdigit()
        out.add(prefix + host)
        out |= {prefix + ".".join(names[: i + 1] if address else names[i:]) for i in inner}


# Pages

_TAGS = re.compile(r"<(/?[a-zA-Z!][^<>]*)>")


def read_page(text):
    text = _without(text, "<!--", "-->")
    for name in ("script", "style"):
        text = _without(text, f"<{name}", f"</{name}>")
    return _scan(text)


def _without(text, start, end):
    lower = text.lower()
    if start not in lower or len(lower) != len(text):
        return text
    pieces, at = [], 0
    while (begin := lower.find(start, at)) >= 0:
        stop = lower.find(end, begin + len(start))
        if stop < 0:
            break
        pieces.append(text[at:begin])
        at = stop + len(end)
    pieces.append(text[at:])
    return "".join(pieces)


def _scan(text):
    pieces = _TAGS.split(text)  # a text, a tag, a text, ... a text
    tags = {inside: _tag(inside) for inside in dict.fromkeys(pieces[1::2])}
    opened = [tag for tag in tags.values() if tag.opens]
    names, links = {tag.name for tag in opened}, [link for tag in opened for link in tag.links]
    if not any(tag.hides for tag in opened):
        pieces[1::2] = [tags[inside].gap for inside in pieces[1::2]]
        return Page(_unescape(pieces), "", links, names)
    shown, hidden = _split_hidden(pieces, tags)
    return Page(_unescape(shown), _unescape(hidden), links, names | {"hidden"})


def _tag(inside):
    slash, name, rest = _TAG.match(inside).groups()
    name = name.lower()
    gap = "" if name in _INLINE else " "
    if slash or not ("=" in rest or "hidden" in rest):
        return Tag(name, not slash, gap, [], False)
    lower = rest.lower()
    linking = "href" in lower or "src" in lower or "action" in lower or "background" in lower
    links = _links(rest) if linking else []
    styled = "none" in lower or "hidden" in lower or "font-size" in lower or "opacity" in lower
    hides = styled and name not in _NEVER_HIDING and bool(_HIDING.search(rest))
    return Tag(name, True, gap, links, hides)


def _split_hidden(pieces, tags):
    shown, hidden = [pieces[0]], [""]
    into, hiding, depth = shown, "", 0
    for inside, text in zip(pieces[1::2], pieces[2::2], strict=True):
        tag = tags[inside]
        into.append(tag.gap)
        if tag.name == hiding:
            depth += 1 if tag.opens else -1
            if not depth:
                into, hiding = shown, ""
        elif tag.hides and not hiding:
            into, hiding, depth = hidden, tag.name, 1
        into.append(text)
    return shown, hidden


def _links(attributes):
    matches = _LINK.finditer(attributes)
    return [unescape(link[1] or link[2] or link[3] or "") for link in matches]


def _unescape(pieces):
    text = "".join(pieces)
    return unescape(text) if "&" in text else text


# Parts

_FIELDS = re.compile(r"([!-9;-~]++):([^\r\n]*+(?:\n[ \t][^\r\n]*+)*+)\n")
_PARSER = Parser()


def parse(raw):
    try:
        start = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0  # the separator of an mbox
        end = _end(raw, start)
        head = raw[start:end].decode("ascii", "surrogateescape")
        body = raw[end:].decode("ascii", "surrogateescape")
        fields = _fields(head)
        if fields is None:
            message = _by_package(head, body)
            leaves, fields = list(message.walk()), list(message.raw_items())
        else:
            leaves = _leaves(_message(fields), body)
        parts = [_part(leaf) for leaf in leaves if not leaf.is_multipart()]
        return Mail([(name.lower(), _header(value)) for name, value in fields], parts)
    except Exception:  # the package raises all sorts of things on hostile input
        return Mail([], [Part("text/plain", "", "", decode(raw[:MAX_PART_BYTES]))])


def _end(raw, start):
    end = len(raw)
    for blank in (b"\n\n", b"\n\r\n", b"\r\r"):
        at = raw.find(blank, start, end)
        if at >= 0:
            end = at + len(blank)
    return end


def _fields(head):
    fields = _FIELDS.findall(head)
    length = sum(len(name) + len(value) + 2 for name, value in fields) + 1
    if length != len(head) or not head.endswith("\n\n"):
        return None
    return [(name, value.lstrip(" \t")) for name, value in fields]


def _message(fields):
    message = Message()
    for name, value in fields:
        if name[:8].lower() == "content-":
            message.set_raw(name, value)
    return message


def _leaves(message, body):
    leaves = _cut(message, body)
    if leaves is not None:
        return leaves
    head = "".join([f"{name}: {value}\n" for name, value in message.raw_items()])
    return list(_PARSER.parsestr(f"{head}\n{body}").walk())


def _cut(message, body, depth=0):
    kind = _describe(message).type
    if not kind.startswith(("multipart/", "message/")):
        message.set_payload(body)
        return [message]
    boundary = message.get_boundary()
    if not boundary or kind == "multipart/digest" or kind.startswith("message/"):
        return None
    if "\r" in body or depth == MAX_CUT_DEPTH:
        return None
    leaves = []
    for piece in f"\n{body}".split(f"\n--{boundary}")[1:]:
        rest, newline, text = piece.partition("\n")
        if rest.rstrip(" \t") == "--" and leaves:
            return leaves
        end = text.find("\n\n") + 2
        fields = [] if text.startswith("\n") else _fields(text[:end])
        if rest.strip(" \t") or not newline or fields is None:
            return None
        more = _cut(_message(fields), text[end if fields else 1 :], depth + 1)
        if more is None:
            return None
        leaves += more
    return None


def _by_package(head, body):
    message = _PARSER.parsestr(head, headersonly=True)
    if _has_parts(message):
        return _PARSER.parsestr(head + body)
    message.set_payload(f"{message.get_payload()}{body}")
    return message


def _has_parts(message):
    return _describe(message).type.startswith(("multipart/", "message/"))


def _header(value):
    value = str(value)
    if "=?" in value:
        try:
            pieces = decode_header(value)
        except Exception:
            pieces = [(value, None)]
        value = "".join(_decode_chunk(text, charset) for text, charset in pieces)
    elif not value.isascii():
        value = _decode_chunk(value, None)
    return value.replace("\n", " ").replace("\r", " ")


def _decode_chunk(text, charset):
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return decode(text, charset)


def _part(part):
    described = _describe(part)
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        data = b""
    readable = described.type.startswith(("text/", "message/")) or (
        not described.filename and b"\0" not in data[:1024]
    )
    if not readable:
        return described
    return described._replace(text=decode(data[:MAX_PART_BYTES], described.charset))


def _describe(part):
    first = {}
    for name, value in part.raw_items():
        first.setdefault(name.lower(), value)
    kind, disposition = first.get("content-type"), first.get("content-disposition")
    return _description(kind, disposition, part.get_default_type())


def _description(kind, disposition, default):
    part = Message()
    part.set_default_type(default)
    for name, value in (("Content-Type", kind), ("Content-Disposition", disposition)):
        if value is not None:
            part.set_raw(name, value)
    charset, filename = _answer(part.get_content_charset), _answer(part.get_filename)
    return Part(part.get_content_type(), charset, _header(filename))


def _answer(question):
    try:
        return str(question() or "")
    except Exception:
        return ""


# Tokens

_URL = re.compile(
    r"[hw](?:(?<=h)ttps?://|(?<=w)ww\.)([^\s/\"'<>()\[\]]{1,200})(/[^\s\"'<>()]{0,200})?"
)
_SIGNS = re.compile(r"[$£€¥!?](?:(?<=[$£€¥]) ?\d[\d.,]*|(?<=[!?])[!?]+)")
_ZONE = re.compile(r"[+-]\d{4}\b")
#: Headers with a prefix of their own.
_PREFIXES = {
    "from": "from",
    "reply-to": "from",
    "sender": "from",
    "return-path": "from",
    "to": "to",
    "cc": "to",
    "x-originating-ip": "received",
    "message-id": "message-id",
}
#: Headers that name a time or a message: what they say will not be said again.
_PASSING = frozenset(("date", "delivery-date", "x-original-date", "references", "in-reply-to"))


def tokens(message):
    mail = parse(message)
    out = set()
    _add_headers(mail, out)
    for part in mail.parts:
        _add_part(part, out)
    return out


def _add_headers(mail, out):
    fields = {}
    for name, whole in mail.headers:
        value = whole[:MAX_HEADER_LENGTH]
        if name == "subject":
            _add_text(value, out, "subject:")
        elif name == "date":
            out.update([f"date:{zone}" for zone in _ZONE.findall(value)])
        elif name == "received":
            fields.setdefault(name, []).append(value.partition(";")[0])  # what follows is a time
        elif name not in _PASSING:
            fields.setdefault(_PREFIXES.get(name, "head"), []).append(value)
    out.update([_header_token(name[:MAX_WORD_LENGTH]) for name, _ in mail.headers])
    for prefix, values in fields.items():
        _add_field(f"{prefix}:", " \n ".join(values), out)


def _add_field(prefix, value, out):
    if prefix != "head:":
        add_hosts(out, value, prefix)
    add_words(out, value, prefix, numbers=False)


def _add_text(text, out, prefix=""):
    add_words(out, text, prefix)
    out.update([prefix + sign for sign in _SIGNS.findall(text)])


def _add_part(part, out):
    out.add(f"type:{_printable(part.type)}")
    if part.charset:
        out.add(f"charset:{_printable(part.charset)}")
    if part.filename:
        add_words(out, part.filename, "attachment:")
        out.add(f"attachment:.{_printable(part.filename.lower().rpartition('.')[2])}")
    if not part.text:
        return
    if part.type == "text/html" or "<html" in part.text[:500].lower():
        _add_page(read_page(part.text), out)
    else:
        _add_shown(part.text, out)


def _add_page(page, out):
    out.update(f"html:{name}" for name in page.tags)
    add_words(out, page.hidden, "hidden:")
    _add_links((link.lower() for link in page.links), out)
    _add_shown(page.shown, out)


def _add_shown(text, out):
    _add_text(text, out)
    lower = text.lower()
    if "://" in lower or "www." in lower:
        _add_links((link[0] for link in _URL.finditer(lower)), out)


def _add_links(links, out):
    machines, paths = [], []
    for link in set(links):
        target = _URL.match(link)
        if target:
            machines.append(target[1])
            paths.append(target[2] or "")
        elif link.startswith("mailto:"):
            out.add("url:mailto")
    add_hosts(out, " ".join(machines), "url:")
    add_words(out, " ".join(paths), "url:")


def _header_token(name):
    return f"header:{_printable(name)}"


def _printable(text):
    short = text[:MAX_WORD_LENGTH]
    return short if short.isprintable() else "".join(filter(str.isprintable, short))
