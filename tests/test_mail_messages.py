"""Messages: whatever the bytes are, they are read, and what is in them is found."""

import mailbox
import os
import re
import threading
from email.message import EmailMessage
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deciban.errors import FileError
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail import html, mailboxes, mime
from deciban.mail.charsets import decode
from deciban.mail.envelope import canonical, digest, with_header, without_header
from deciban.mail.mailboxes import Place, places, read, size, split
from deciban.mail.mime import parse
from deciban.mail.tokens import tokens as read_tokens
from deciban.mail.words import MAX_WORD_LENGTH, add_hosts, add_words
from deciban.text import Tokenizer, scripts

PIECES = st.sampled_from(
    [
        b"\n", b"\r\n", b"\n\n", b" ", b"\t", b"\0", b"\xff\xfe", b"=?utf-8?q?=41=?=", b"=?x?b?%?=",
        b"From ", b"Subject: ", b"Received: from a.b [1.2.3.4]", b"X-Deciban: spam", b"x-deciban:x",
        b"Content-Type: multipart/mixed; boundary=x", b"Content-Type: text/html; charset=gb2312",
        b"Content-Type: message/rfc822", b"Content-Transfer-Encoding: base64", b"--x", b"--x--",
        b'Content-Disposition: attachment; filename*=utf-8\'\'%e2%82; filename="a.exe"',
        b"Content-Type: text/plain; charset=utf-7", b"+2ADYAA-", b"<!--", b"-->", b"<a href=",
        b"charset", b"QUJD", b"&#xD800;", b":", b";",
    ]
)  # fmt: skip
RAW = st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=25).map(b"".join))


def tokens(raw):
    return set(read_tokens(raw))


@given(RAW)
@example(b"")
@example(b"From x")
@example(b"Content-Type: multipart/mixed; boundary=\n\n--\n--\n--")
@example(b'Content-Type: text/plain; charset="a\0b"\n\n\xff')
@example(b"Content-Type: text/plain; charset*1=x; charset*0*=y''%ff\n\n\xff")
def test_anything_has_tokens_that_a_store_can_hold(raw):
    for token in tokens(canonical(raw)):
        token.encode("utf-8")
        assert token.isprintable()


@given(RAW)
@example(b"X-Deciban: spam")
@example(b"Subject: x")
@example(b"From a\nX-Deciban: x\n y\n\nX-Deciban: stays")
def test_the_filter_adds_one_header_and_nothing_else(raw):
    marked, clean = with_header(raw, "ham; p=0.1"), without_header(raw)
    assert without_header(marked) == clean
    if marked == clean:
        assert re.match(rb"(From [^\n]*\n)?[ \t]", clean)
        return
    added = marked.replace(b"X-Deciban: ham; p=0.1\r\n", b"", 1)
    assert clean in (added, marked.replace(b"X-Deciban: ham; p=0.1\n", b"", 1))
    assert canonical(marked) == canonical(raw)
    assert with_header(marked, "ham; p=0.1") == marked


@pytest.mark.parametrize(
    ("raw", "marked"),
    [
        (b"A: 1\n\nbody", b"A: 1\nX-Deciban: v\n\nbody"),
        (b"A: 1\r\n b\r\n\r\nbody", b"A: 1\r\n b\r\nX-Deciban: v\r\n\r\nbody"),
        (b"From me\nA: 1\n\nbody", b"From me\nA: 1\nX-Deciban: v\n\nbody"),
        (b"A: 1\nX-DECIBAN : forged\n folded\nB: 2\n\nb", b"A: 1\nB: 2\nX-Deciban: v\n\nb"),
        (b"no header\n", b"X-Deciban: v\nno header\n"),
        (b"A: 1", b"X-Deciban: v\nA: 1"),
        (b"", b"X-Deciban: v\n"),
        (b"\n\nX-Deciban: body", b"X-Deciban: v\n\n\nX-Deciban: body"),
    ],
)
def test_where_the_header_goes(raw, marked):
    assert with_header(raw, "v") == marked


def test_a_message_is_the_same_after_it_was_filed_and_read():
    raw = b"Subject: x\n\nline\n"
    filed = b"From a Thu Aug 22 13:17:22 2002\r\nSubject: x\r\nStatus: RO\r\n\r\nline\r\n\r\n"
    assert digest(canonical(raw)) == digest(canonical(filed))
    assert digest(canonical(raw)) != digest(canonical(b"Subject: y\n\nline\n"))


def test_labels_of_character_sets_that_lie():
    rare = "国家镕𠮷"  # the last two are in GB18030 and not in GB2312
    raw = b"Content-Type: text/plain; charset=gb2312\n\n" + rare.encode("gb18030")
    assert parse(raw).parts[0].text == rare
    assert "家镕" in tokens(raw)
    assert decode("naïve".encode(), "us-ascii") in ("naïve", "naÃ¯ve")
    assert decode("naïve".encode(), "no-such-set") == "naïve"
    assert decode(b"na\xefve", "utf-8") == "naïve"
    assert decode(b"\x93x\x94", "iso-8859-1") == "“x”"
    assert decode("日本".encode("iso-2022-jp"), "iso-2022-jp") == "日本"
    for label in ("rot13", "hex", "punycode", "idna", "undefined", "a\0b", "", "utf-16", "é"):
        assert isinstance(decode(b"\xff\x80abc", label), str)


def test_headers_are_decoded_and_kept_apart_from_the_body():
    found = tokens(
        b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= =?gb2312?b?w+K30Q==?=\n"
        b"From: Ann <ann@mail.example.org>\n"
        b"Received: from mx.example.net ([192.0.2.7]) by x; Thu, 22 Aug 2002 13:17:22 +0100\n"
        b"List-Id: gardeners\nX-Other: gardeners\n\nbody"
    )
    assert {"subject:grüße", "subject:免", "from:ann", "from:example.org", "body"} <= found
    assert {"received:mx.example.net", "received:192.0.2", "head:gardeners"} <= found
    assert found.isdisjoint({"ann", "grüße", "received:aug", "received:22"})


def test_parts_attachments_and_encodings():
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("plain café", cte="quoted-printable")
    message.add_alternative("<p>fancy <b>ca</b>fé</p>", subtype="html", cte="base64")
    message.add_attachment(b"\0\1", maintype="application", subtype="x", filename="Invoice 7.EXE")
    inner = EmailMessage()
    inner["Subject"] = "inside"
    inner.set_content("forwarded words")
    message.add_attachment(inner)
    found = tokens(bytes(message))
    assert {"plain", "café", "fancy", "forwarded", "attachment:invoice", "attachment:.exe"} <= found
    assert {"type:text/html", "type:application/x", "html:p"} <= found


LINES = st.sampled_from([
    "--b", "--b--", "--b \t", "--bb", "--c", "--c--", " --b", "", "", "text", "X: y", "caf\xe9",
    "Content-Type: text/html", "Content-Type: multipart/mixed; boundary=c", "From x", "\f", "\r",
    "Content-Type: multipart/digest; boundary=c", "Content-Type: message/rfc822",
    "Content-Disposition: attachment; filename=a.exe", "Content-Transfer-Encoding: base64", "QUJD",
])  # fmt: skip


@given(st.lists(LINES, max_size=20))
@example(["--b", "", "text", "--b--"])
@example(["--b", "X: y", "--b--"])
@example(["--b", "X: y", "", "--b--"])
@example(
    ["--b", "Content-Type: multipart/mixed; boundary=c", "", "--c", "", "1", "--c--", "", "--b--"]
)
def test_parts_that_are_cut_are_those_of_the_package(lines):
    head = "Content-Type: multipart/mixed; boundary=b\n\n"
    raw = f"{head}{chr(10).join(lines)}".encode("latin-1")
    with mock.patch.object(mime, "MAX_CUT_DEPTH", 0):
        wanted = parse(raw)
    assert parse(raw) == wanted


def test_parts_are_cut_without_the_package():
    head = b"Content-Type: multipart/mixed; boundary=b\n\n"
    raw = head + b"--b\n\n1\n\n--b \nContent-Type: text/html\n\n2\n--b--\n3"
    with mock.patch.object(mime, "_parsed", None):
        parts = parse(raw).parts
    assert [(part.type, part.text) for part in parts] == [("text/plain", "1\n"), ("text/html", "2")]


def test_broken_messages_are_read_as_far_as_they_go():
    base64 = b"Content-Transfer-Encoding: base64\n\naGVsbG8gd29ybGQ$$$"
    assert "hello" in tokens(base64)
    open_parts = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst part\n"
    assert "first" in tokens(open_parts)
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3000)
    )
    assert tokens(deep)
    assert len(tokens(b"X-Long: " + b"word " * 400_000 + b"\n\nbody")) < 10
    assert "body" in tokens(b"\0\0\n\nbody")
    assert "nothing" in tokens(b"nothing but a body\n")


def test_hostile_pages_take_linear_time():
    for piece in ("<!--", "<", "<a ", "<script", "<p style='display:none'>", "&", "<a href='"):
        html.read(piece * (200_000 // len(piece)))


def test_pages():
    page = html.read(
        "<style>b {}</style><SCRIPT>var x</script>Vi<!-- no -->ag<B>ra</B><br>now &amp; here"
        '<div style="DISPLAY : none">hid<div>den</div> poem</div>'
        '<span style="font-size:0px">tiny</span><a href=http://a.example/x>link</a><img src=b.gif>'
    )
    assert page.shown.split() == ["Viagra", "now", "&", "here", "link"]
    assert page.hidden.split() == ["hid", "den", "poem", "tiny"]
    assert page.links == ["http://a.example/x", "b.gif"]
    assert {"hidden", "a", "img", "br"} <= page.tags
    assert html.read("a < b and c > d, 1<2").shown.split()[:3] == ["a", "<", "b"]
    found = tokens(
        b'Content-Type: text/html\n\n<p hidden>poem</p><a href="HTTP://Sub.Shop.example/buy">'
    )
    assert {
        "html:hidden",
        "hidden:poem",
        "url:sub.shop.example",
        "url:shop.example",
        "url:buy",
    } <= found


UNSPACED = [
    chr(code) for first, last in scripts.UNSPACED for code in range(first, min(last, first + 600))
]
LETTERS = st.one_of(
    st.characters(max_codepoint=127), st.characters(codec="utf-8"), st.sampled_from(UNSPACED)
)


def distinct(find, *arguments, **options):
    out = Tokens(Lexicon())
    find(out, *arguments, **options)
    return set(out)


def short(tokens):
    return {token for token in tokens if len(token) <= MAX_WORD_LENGTH}


@given(st.text(LETTERS))
@example("ΟΔΟΣ İstanbul “naïve” e\u0301te\u0301 हिन्दी عربي \u0dff\u1cff")
@example("abc我爱 你x9ページ・カ\u3099 ๙ กำ\u0e31 \u0e31ก ဘာ \x1c\x85_一")
def test_words_are_those_of_the_tokenizer(text):
    assert distinct(add_words, text) == short(Tokenizer().tokens(text))
    prefixed = {f"x:{word}" for word in distinct(add_words, text) if not word[0].isdigit()}
    assert distinct(add_words, text, "x:", numbers=False) == prefixed


@given(st.text(st.one_of(LETTERS, st.sampled_from("ab1-_.·²٣"))))
@example("mx.example.org 192.0.2.1 .a.b. c..d.e 1.2 x.1 1.x -.- a.b.c.d")
def test_hosts_come_with_what_is_above_them(text):
    expected = set()
    for host in re.findall(r"[\w-]+(?:\.[\w-]+)+", text.lower()):
        names = host.split(".")
        inner = range(1, len(names) - 1)
        address = names[-1].isdigit()
        expected.add(host)
        expected |= {".".join(names[: i + 1] if address else names[i:]) for i in inner}
    assert distinct(add_hosts, text) == expected


def test_every_character_is_read_as_by_the_tokenizer():
    every = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x40000)))
    for text in (every, " a".join(every), "我".join(every)):
        assert distinct(add_words, text) == short(Tokenizer().tokens(text))


# Mailboxes


def test_messages_of_every_kind_of_mailbox(tmp_path):
    raws = [b"Subject: %d\n\nbody\n\nFrom here on\n" % i for i in range(3)]
    maildir = mailbox.Maildir(tmp_path / "maildir")
    box = mailbox.mbox(tmp_path / "box")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "folder" / ".hidden").write_bytes(b"no")
    for number, raw in enumerate(raws):
        maildir.add(raw)
        box.add(raw)
        (tmp_path / "folder" / "inner" / f"{number}.eml").write_bytes(b"From \n" + raw)
    box.close()

    def subjects(name):
        return sorted(
            canonical(read(p)).partition(b"\n")[0] for p in places([str(tmp_path / name)])
        )

    for name in ("maildir", "box", "folder"):
        assert subjects(name) == [b"Subject: 0", b"Subject: 1", b"Subject: 2"], name
    assert len(list(places([str(tmp_path / "box"), str(tmp_path / "maildir")]))) == 6


def test_a_file_of_a_maildir_is_one_message_and_opened_when_it_is_read(tmp_path):
    folder = mailbox.Maildir(tmp_path / "maildir")
    one = b"From a Thu Aug 22 13:17:22 2002\nSubject: x\n\nas he said:\n\n"
    twice = one + b"From b Thu Aug 22 13:17:23 2002\n\ny\n"
    folder.add(b"Subject: first\n\nx\n")
    (tmp_path / "maildir" / "cur" / "second").write_bytes(twice)
    (tmp_path / "maildir" / "cur" / "gone").symlink_to("nowhere")
    gone, second, first = places([str(tmp_path / "maildir")])
    assert (read(second), read(first)) == (twice, b"Subject: first\n\nx\n")
    with pytest.raises(FileError, match="gone cannot be read: No such file"):
        read(gone)


@pytest.mark.parametrize(("room", "first"), [(0, 0), (50, 2), (1 << 20, 3)])
def test_messages_are_the_same_whether_they_are_kept_or_read_again(
    tmp_path, monkeypatch, room, first
):
    one = b"From a Thu Aug 22 13:17:22 2002\n\nx\n\n"
    long = b"Subject: long\n\n" + b"x" * (1 << 16)
    files = {
        "a": one * 2,
        "b": one,
        "c": b"x\n\ny",
        "d": b"",
        "e": long,
        "f": one + long,
        "g": b"z",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr("deciban.mail.mailboxes.MAX_KEPT_BYTES", room)
    found = list(places([str(tmp_path)]))
    assert [read(place) for place in found] == [
        one, one, one, b"x\n\ny", b"", long, one + long, b"z",
    ]  # fmt: skip
    for place in found:
        assert read(place.unread()) == read(place)
        assert size(place.unread()) == size(place) == len(read(place))
    kept = [place.kept is not None for place in found]
    assert kept[:3] == [True] * first + [False] * (3 - first)
    assert kept[3:] == [True, True, False, False, True]


@pytest.mark.parametrize("room", [0, 1 << 24])
@pytest.mark.parametrize("size", [3, 1 << 16, 300_000])
def test_a_pipe_is_read_whole_since_it_cannot_be_read_again(tmp_path, monkeypatch, room, size):
    """As ``deciban mail train --spam <(zcat spam.gz)`` gives one."""
    monkeypatch.setattr(mailboxes, "MAX_KEPT_BYTES", room)
    first = b"From a Thu Aug 22 13:17:22 2002\n\nx\n\n"
    for text in (
        b"From ".ljust(size, b"y"),
        first * 2 + b"y" * size,
        b"Subject: a\n\n" + b"y" * size,
    ):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=[text], daemon=True)
        writer.start()
        found = list(places([str(pipe)]))
        writer.join()
        pipe.unlink()
        file = tmp_path / "file"
        file.write_bytes(text)
        whole = [read(place) for place in places([str(file)])]
        assert [read(place) for place in found] == whole
        assert [read(place.unread()) for place in found] == whole


def test_an_empty_box_and_a_missing_one(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert list(places([str(tmp_path / "empty")])) == [Place(str(tmp_path / "empty"), kept=b"")]
    with pytest.raises(FileError, match="No such file"):
        list(places([str(tmp_path / "nowhere")]))
    with pytest.raises(FileError, match="No such file"):
        read(Place(str(tmp_path / "nowhere")))


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_an_mbox_is_cut_without_loss(bodies):
    box = b"".join(b"From a Thu Aug 22 13:17:22 2002\n\n" + body + b"\n\n" for body in bodies)
    spans = split(box)
    assert b"".join(box[start:end] for start, end in spans) == box
    assert len(spans) >= max(1, len(bodies))
