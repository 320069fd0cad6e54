"""``deciban mail``: what the commands print, their codes, and what they say about mistakes."""

import json
import os

import pytest

from commands import done, run
from deciban.cli import mail_training
from deciban.errors import FileError
from deciban.mail.mailboxes import read
from letters import HAM, NEW_HAM, NEW_SPAM, SPAM


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with messages and an empty store, where the commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DECIBAN_MAIL", str(tmp_path / "mail.db"))
    for name, messages in (("ham", HAM), ("spam", SPAM)):
        (tmp_path / name).mkdir()
        for number, raw in enumerate(messages):
            (tmp_path / name / f"{number}.eml").write_bytes(raw)
    (tmp_path / "new").write_bytes(NEW_SPAM)
    return tmp_path


@pytest.fixture
def trained(folder):
    done("mail", "train", "--ham", "ham", "--spam", "spam")
    return folder


def test_training_says_what_it_did(folder):
    said = done("mail", "train", "--ham", "ham", "--spam", "spam")
    assert said == "learnt 12 ham and 12 spam\nthe store has 12 ham and 12 spam\n"
    again = json.loads(done("mail", "train", "--ham", "ham", "--spam", "new", "--json"))
    assert again == {
        "ham": 0, "spam": 1, "known": 12, "conflicts": 0, "total": {"ham": 12, "spam": 13},
    }  # fmt: skip
    assert done("mail", "train", "--ham", "spam", "--quiet") == ""


def test_plain_command_lines_are_read_as_typer_reads_them(folder, monkeypatch):
    lines = (
        ("--ham", "ham", "--spam", "spam", "--ham", "new"),
        ("--spam", "spam", "--store", "other.db", "--processes", "1", "--json"),
        ("-q", "--ham", "ham", "--store", "", "--quiet"),
    )
    seen = []
    monkeypatch.setattr(mail_training, "train", seen.append)
    monkeypatch.setattr("deciban.cli.mail.train_messages", seen.append)
    for line in lines:
        run("mail", "train", *line)
        with monkeypatch.context() as context:
            context.setattr(mail_training, "plain", lambda _: None)
            run("mail", "train", *line)
        assert seen[-1] == seen[-2]
    assert len(seen) == 2 * len(lines)


@pytest.mark.parametrize(
    "line",
    ["", "--json", "--ham", "--ham x --help", "--ham x --processes 0", "--ham x --processes -1",
     "--ham=x", "--ham x --nothing", "--ham x y", "--ham x --store", "--ham x --ham -h"],
)  # fmt: skip
def test_other_command_lines_are_left_to_typer(line):
    assert mail_training.plain(line.split()) is None


def test_classifying(trained):
    one = run("mail", "classify", "new")
    assert one.code == (0 if one.out.startswith("spam") else 2)
    assert one.out.startswith("unsure; p=0.")
    assert 0.5 < float(one.out.split("=")[1].partition(";")[0]) < 0.75  # near copies: two things
    many = run("mail", "classify", "ham", "spam")
    assert many.code == 0
    assert len(many.out.splitlines()) == 24
    assert many.out.startswith("ham/0.eml: ham; p=0.2")
    sure = ("--lost=1", "--unsure", "9")
    assert run("mail", "classify", *sure, stdin=NEW_SPAM).code == 0
    assert run("mail", "classify", *sure, stdin=NEW_HAM).code == 1
    assert run("mail", "classify", "--unsure", "0", stdin=NEW_HAM).code == 2
    assert run("mail", "classify", "--", "new").out == one.out


@pytest.mark.parametrize("group", [1, 5, 100])
def test_messages_before_one_that_cannot_be_read_are_classified(trained, monkeypatch, group):
    whole = run("mail", "classify", "ham").out.splitlines()

    def fail_at_the_eighth(place):
        if place.path.endswith("7.eml"):
            raise FileError("gone.")
        return read(place)

    monkeypatch.setattr("deciban.cli.delivery.GROUP_MESSAGES", group)
    assert run("mail", "classify", "ham").out.splitlines() == whole
    monkeypatch.setattr("deciban.mail.mailboxes.read", fail_at_the_eighth)
    ended = run("mail", "classify", "ham")
    before = [line for line in whole if line < "ham/7"]
    assert (ended.code, ended.out.splitlines()) == (3, before)


def test_the_filter_adds_one_header(trained):
    out = done("mail", "filter", stdin=NEW_SPAM)
    head, line, body = out.partition("X-Deciban: ")
    assert head + body.partition("\n")[2] == NEW_SPAM.decode()
    verdict = run("mail", "classify", "new").out
    assert line + body.partition("\n")[0] + "\n" == "X-Deciban: " + verdict
    assert done("mail", "filter", stdin=out.encode()) == out


@pytest.mark.parametrize(
    "wrong", [("--store", "nowhere"), ("--stroe", "x"), ("-q",), ("--lost", "much"), ("--store",),
              ("file",), ("--unsure=-1",)],
)  # fmt: skip
def test_whatever_goes_wrong_the_filter_passes_the_message_on(trained, wrong):
    ended = run("mail", "filter", *wrong, stdin=b"Subject: x\r\n\r\n\0caf\xc3\xa9")
    assert (ended.code, ended.out) == (75, "Subject: x\r\n\r\n\0café")
    assert ended.err.startswith("error: ")
    assert len(ended.err.splitlines()) == 1
    if wrong != ("file",):
        failed = run("mail", "classify", *wrong)
        assert (failed.code, failed.out) == (3, "")
        assert failed.err == ended.err


def test_a_bug_loses_no_message(trained, monkeypatch):
    monkeypatch.setattr("deciban.mail.lessons.score_all", lambda *_: 1 / 0)
    ended = run("mail", "filter", stdin=NEW_HAM)
    assert (ended.code, ended.out) == (75, NEW_HAM.decode())
    assert "bug of deciban: ZeroDivisionError" in ended.err
    assert run("mail", "classify", stdin=NEW_HAM).code == 3


def test_lessons_one_by_one(folder):
    assert done("mail", "learn", "--spam", "new") == "learnt 1\n"
    assert (
        done("mail", "learn", "--spam", stdin=NEW_SPAM) == "left alone 1 that were known already\n"
    )
    conflict = run("mail", "learn", "--ham", "new")
    assert (conflict.code, conflict.out) == (
        1,
        "left alone 1 that are known as the other class: see relearn\n",
    )
    assert done("mail", "relearn", "--ham", "new", "--json") == '{"moved": 1}\n'
    assert done("mail", "unlearn", "new") == "took 1 back\n"
    assert done("mail", "unlearn", "new") == "left alone 1 that were never learnt\n"
    assert done("mail", "learn", "--ham", "ham", "--quiet") == ""
    box = b"".join(b"From a Thu Aug 22 13:17:22 2002\n" + raw + b"\n" for raw in HAM)
    assert done("mail", "unlearn", stdin=box) == "took 12 back\n"


def test_reasons_add_up(trained):
    said = done("mail", "explain", "new", "--top", "3")
    numbers = [float(line.split()[0]) for line in said.splitlines()[2:]]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.3)
    facts = json.loads(done("mail", "explain", "--json", stdin=NEW_SPAM))
    whole = facts["base"] + sum(facts["tokens"].values()) + facts["others"]["evidence"]
    assert whole == pytest.approx(facts["evidence"])
    assert "url:prizes.example" not in facts["tokens"]
    assert facts["tokens"]["from:prizes.example"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train",), "give messages to learn"),
        (("learn",), "say which of the two"),
        (("learn", "--spam", "--ham"), "say which of the two"),
        (("explain", "--top", "0"), "--top"),
    ],
)
def test_mistakes_in_the_command_line(folder, arguments, said):
    ended = run("mail", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not (folder / "mail.db").exists()


def test_files_that_cannot_be_used(trained):
    for command in (("learn", "--spam"), ("train", "--ham"), ("classify",), ("explain",)):
        for path, shown in (("nowhere", "nowhere"), ("", "''")):
            ended = run("mail", *command, path)
            assert ended.err.startswith(f"error: {shown} cannot be read: No such file"), command
            assert "Hint: give a Maildir" in ended.err
    assert run("mail", "classify", "nowhere").code == 3
    assert run("mail", "train", "--spam", "nowhere").code == 1
    (trained / "mail.db").write_bytes(b"no store at all" * 99)
    for command in ("explain", "unlearn"):
        ended = run("mail", command, "new")
        assert ended.code == 1
        assert "is damaged or no store" in ended.err


def test_folders_without_messages(trained):
    (trained / "empty").mkdir()
    for command in ("classify", "explain"):
        ended = run("mail", command, "empty")
        assert (ended.code, ended.out) == (3 if command == "classify" else 1, "")
        assert "there are no messages in empty. Hint: give a Maildir" in ended.err
    assert done("mail", "learn", "--spam", "empty") == "there were no messages to read\n"
    assert "there were no messages to read" in done("mail", "train", "--spam", "empty")


def test_one_class_alone_tells_nothing_apart(folder):
    said = done("mail", "train", "--spam", "spam")
    assert said.endswith("nothing can be told apart before it has some ham\n")
    assert run("mail", "classify", stdin=NEW_SPAM).out == "unsure; p=0.5000; evidence=+0.0dB\n"


def test_the_standard_input_by_its_name(trained):
    assert (
        run("mail", "classify", "-", stdin=NEW_HAM).out
        == run("mail", "classify", stdin=NEW_HAM).out
    )
    assert done("mail", "learn", "--ham", "-", stdin=NEW_HAM) == "learnt 1\n"


def test_a_store_that_others_keep(trained, monkeypatch):
    judged = run("mail", "classify", "new").out
    monkeypatch.setattr("deciban.sqlite.os.access", lambda *_: False)
    before = sorted(trained.iterdir())
    assert run("mail", "classify", "new").out == judged
    assert sorted(trained.iterdir()) == before
    ended = run("mail", "unlearn", "ham")
    assert ended.code == 1
    assert "mail.db cannot be written: attempt to write a readonly database. Hint" in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_files_without_permission(trained):
    (trained / "new").chmod(0)
    assert "Permission denied" in run("mail", "learn", "--spam", "new").err
    (trained / "mail.db").chmod(0o400)
    trained.chmod(0o500)
    ended = run("mail", "learn", "--spam", stdin=NEW_SPAM)
    trained.chmod(0o700)
    assert ended.code == 1


def test_where_the_store_is(folder, monkeypatch):
    from deciban.cli.delivery import default_store

    assert default_store() == str(folder / "mail.db")
    monkeypatch.delenv("DECIBAN_MAIL")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    assert default_store() == str(folder / "data" / "deciban" / "mail.db")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(folder))
    done("mail", "learn", "--spam", "new")
    assert (folder / ".local" / "share" / "deciban" / "mail.db").exists()


def test_help_is_there():
    for command in ("train", "filter", "classify", "learn", "unlearn", "relearn", "explain"):
        assert "--store" in done("mail", command, "--help")
