"""The compiled reader of messages gives what the reader in plain Python gives, whatever comes."""

import html as package
from array import array

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mail_reference as reference
from deciban.kernels import heads, letters, messages, pages
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail import html, mime
from deciban.mail.envelope import canonical
from deciban.mail.model import (
    PREFIXES,
    TEXT_PREFIXES,
    Counts,
    Pair,
    familiarity,
    is_text,
    summarize,
    summarize_all,
    summarize_left,
    weights,
)
from deciban.mail.tokens import tokens

WHOLE = [
    b"Received: from a.example (b [192.0.2.7]) by c.example; Thu, 1 Aug 2002 +0100\n"
    b'From: "Ann" <ann@example.org>\nTo: list@example.org\nSubject: Re: $ 1,000 now!!\n'
    b"X-Folded: one\n two\n\tthree\nDate: Thu, 1 Aug 2002 10:00:00 +0100\n\n"
    b"See http://www.shop.example/Buy-now?x=1 and www.other.example, for $99.95!? Caf\xe9.\n",
    b"Subject: =?gb2312?b?w+K30Q==?=\nContent-Type: text/html; charset=utf-8\n\n"
    b"<html><!-- no --><style>p {}</style><body background='http://p.example/i.gif'>Vi<b>ag</b>ra"
    b'<p style="display:none">poem <p>of</p></p><a HREF = http://x.example/a&amp;b>go</a> &eacute;'
    b"&nbsp;&#8364;5 &notit; \xe5\x85\x8d\xe8\xb4\xb9 <img src='mailto:me'></html>\n",
    b'Content-Type: multipart/mixed; boundary="x"\n\npreamble\n--x\n'
    b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"
    b"caf=E9 =\nlong line\n--x\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
    b"PGI+Ym9sZDwvYj4gaHR0cDovL3kuZXhhbXBsZS96\n--x\nContent-Type: application/pdf; name=a.pdf\n"
    b'Content-Disposition: attachment; filename="a b.pdf"\n\n%PDF\0\n--x--\n',
    b"Content-Type: multipart/alternative;\n boundary=y\n\n--y\n\n1\n--y\n"
    b'Content-Type: multipart/related; boundary="z"\n\n--z\nA: b\n\n2\n--z--\n--y--\n',
]
PIECES = st.sampled_from([
    b"\n", b"\r\n", b"\n\n", b" ", b"\t", b"\0", b"\xff\xfe", b"=?utf-8?q?=41=?=", b"=?x?b?%?=",
    b"From ", b"\nSubject: ", b":", b";", b"\nContent-Type: multipart/mixed; boundary=x\n",
    b"\nContent-Type: text/html; charset=gb2312\n", b"Content-Type: message/rfc822", b"--x",
    b"\nContent-Transfer-Encoding: base64\n", b"\nContent-Transfer-Encoding: x-uuencode\n", b"=3D",
    b"--x--",
    b"<!--", b"-->", b"<script>", b"</SCRIPT>", b"<a href=", b"<a href='http://X.y/Z'>", b"hidden",
    b"<p style='display:none'>", b"<div hidden>", b"</p>", b"<", b">", b"</", b"'", b'"', b"&",
    b"&#xD800;", b"&nbsp", b"&notit;", b"&#x4e00;", b"&#99999999;", b"http://", b"https://a.b/c",
    b"www.", b"mailto:", b"$ 1,000.00", b"!?!", b"\xa3 5", b"\xe6\x88\x91\xe7\x88\xb1", b"\xc4\xb0",
    "\u017frc=\u212a".encode(), b"\xe2\x82\xac9", b"a.b.c", b"1.2.3.4", b"_", b"-",
])  # fmt: skip


@st.composite
def mutated(draw):
    """A message in which pieces were put, doubled, and taken out."""
    raw = draw(st.sampled_from([b"", *WHOLE]))
    for piece in draw(st.lists(PIECES | st.binary(max_size=3), max_size=12)):
        start = draw(st.integers(0, len(raw)))
        stop = min(len(raw), start + draw(st.sampled_from([0, 0, 1, 9, 40])))
        again = draw(st.booleans()) * raw[start:stop]
        raw = raw[:start] + again + piece + raw[stop:]
    return raw


@given(mutated())
@example(WHOLE[0])
@example(WHOLE[1])
@example(WHOLE[2])
@example(WHOLE[3])
@example(b"Content-Type: text/html\n\n<a href=\"x y href='z'><a src=><a action= 'b'c href=d>")
@example(b"X-Originating-IP: 1.2.3.4; a\nReceived: 5.6.7.8; b\n\n")
def test_messages_have_the_tokens_of_the_reader_in_python(raw):
    for message in (raw, canonical(raw)):
        assert mime.parse(message) == reference.parse(message)
        assert set(tokens(message)) == reference.tokens(message)


TEXTS = st.lists(
    PIECES.map(lambda piece: piece.decode("utf-8", "replace")) | st.text(max_size=4), max_size=20
).map("".join)


@given(TEXTS)
@example("<a HREF=\"a\" src='b' xhref=c background = d _src=e>")
@example("<p style='font-size:0'>x<P>y</p>z</p><p HIDDEN >")
def test_pages_are_those_of_the_reader_in_python(text):
    assert html.read(text) == reference.read_page(text)


@given(TEXTS | st.text(st.sampled_from("&#xX19afgt;lamp \n<")))
def test_references_mean_what_the_standard_says(text):
    assert pages.unescape(text, package.unescape) == package.unescape(text)


def test_a_number_of_thousands_of_digits_is_no_character():
    assert html.read(f"a&#{'1' * 9999};b").shown == "a\ufffdb"
    assert "after" in tokens(b"Content-Type: text/html\n\n&#" + b"9" * 9999 + b"; after")


@given(
    st.lists(st.sampled_from(["a:", "B-c: d", "\n", "\n ", "\r", "\t", ":", " ", "é"])).map("".join)
)
@example("a:b\n\n")
def test_headers_are_those_of_the_expression(text):
    raw = text.encode("latin-1")
    wanted = reference._fields(raw.decode("ascii", "surrogateescape"))
    lower = wanted and [(name.lower(), value) for name, value in wanted]
    assert heads.fields(raw, 0, len(raw)) == lower
    assert heads.fields(b"xx" + raw, 2, len(raw) + 2) == lower
    assert heads.fields(raw, -3, len(raw) + 9) == lower


@pytest.mark.parametrize("kind", ["words", "hosts", "signs", "links", "link"])
def test_what_is_no_text_is_refused(kind):
    function, scripts = getattr(letters, kind), letters.Unspaced([], "")
    arguments = {
        "words": (scripts, "", 30, True, Tokens(Lexicon())),
        "hosts": ("", Tokens(Lexicon())),
        "signs": ("", Tokens(Lexicon())),
        "links": (scripts, "", 30, Tokens(Lexicon())),
        "link": (scripts, "", 30, Tokens(Lexicon())),
    }[kind]
    with pytest.raises(TypeError):
        function(None, *arguments)
    with pytest.raises(ValueError, match="ASCII"):
        function("http://a.b", *["é:" if argument == "" else argument for argument in arguments])


# What tokens say


TOKENS = st.builds(
    str.__add__,
    st.sampled_from(["", "", "subject:", "html:", "to:", "from:", "hidden:", "x:", "hidden", ":"]),
    st.text(max_size=3),
)
MESSAGES = st.integers(0, 40) | st.integers(0, 2**31 - 1)


@given(
    st.dictionaries(TOKENS, st.tuples(MESSAGES, MESSAGES).filter(any)),
    st.tuples(MESSAGES, MESSAGES),
    st.integers(0, 9),
)
def test_sums_are_those_of_the_tokens(pairs, totals, unknown):
    counts = Counts(Pair(*totals), pairs, unknown)
    summary = summarize(counts)
    assert summary.weight == pytest.approx(sum(weights(counts).values()), rel=1e-9, abs=1e-9)
    assert summary.familiar == pytest.approx(familiarity(counts), rel=1e-12)
    lexicon = Lexicon(PREFIXES)
    lexicon.merge_rows([("before", 1, 2), *((token, *pair) for token, pair in pairs.items())])
    (other,) = summarize_all(Pair(*totals), [lexicon.tokens(pairs)])
    assert other == summarize(counts._replace(unknown=0))


@given(st.lists(st.tuples(TOKENS, MESSAGES, MESSAGES, st.booleans())), st.integers(0, 5))
def test_counts_that_are_left_are_differences(rows, copies):
    names = [f"{token}{number}" for number, (token, *_) in enumerate(rows)]
    counts = array("q", [ham + (spam << 32) for _, ham, spam, _ in rows])
    block = array("q", [(ham + (spam << 32)) * own for _, ham, spam, own in rows])
    pairs = {
        name: (max(0, ham * (not own) - copies), max(0, spam * (not own)))
        for name, (_, ham, spam, own) in zip(names, rows, strict=True)
    }
    lexicon = Lexicon(PREFIXES)
    lexicon.merge(names, counts)
    tokens = lexicon.tokens(names)
    left = [ham + (spam << 32) for ham, spam in pairs.values()]
    assert list(messages.left(tokens, block, copies, 0)) == left
    assert messages.texts(tokens, len(TEXT_PREFIXES)) == list(filter(is_text, names))
    lexicon.forget()
    lexicon.merge(names, array("q", left))
    totals = Pair(9, 9)
    assert [summarize_left(totals, tokens, array("q", left))] == summarize_all(totals, [tokens])


def test_kernels_refuse_what_does_not_fit():
    tokens = Lexicon(("a",)).tokens(["a"])
    with pytest.raises(ValueError, match="every token"):
        messages.left(tokens, array("q", [1, 2]), 0, 0)
    with pytest.raises(ValueError, match="every token"):
        messages.Summary(1, 1, 0.1, 1, 1, (0, 0, 0), 1).of_tokens(tokens, array("q", [1, 2]))
    with pytest.raises(ValueError, match="0 prefixes are needed"):
        messages.Summary(1, 1, 0.1, 1, 1, (0, 0), 0).of_tokens(tokens)
    for sections in ((0,), (0,) * 17, (0, 16), (0, -1)):
        with pytest.raises(ValueError, match="are needed"):
            messages.Summary(1, 1, 0.1, 1, 1, sections, 0)
    with pytest.raises(ValueError, match="as many places"):
        messages.are_near(bytes(8), bytes(16), 0.5)
    with pytest.raises(ValueError, match="places"):
        messages.least_hashes(["a"], 1, 0)
    with pytest.raises(TypeError, match="got None"):
        messages.least_hashes(["a", None], 1, 2)
