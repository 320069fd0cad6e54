"""What the spam filter calls messages, beside bogofilter, with the default costs of both.

    python bench/mail_verdicts.py [DIRECTORY] [--only PART]

The directory is that of ``bench/mail.py``. Both programs are trained at once, on 200, on 2,000 and
on most messages of each corpus, and answer about the others:

    time      trained on what came first, asked about what came next
    random    trained on a random choice; of all, on one half
    old       trained on the older folders of SpamAssassin, asked about the newer
    cluster   a fifth of all clusters of near copies held out of training, asked about those
    language  all mail in East Asian character sets held out, asked about that
    foreign   hotel reviews in Chinese under headers of ham; trained on none of them

A line has how much spam and how much ham is called spam / unsure / ham, the log loss (bogofilter's
score is not meant as a probability; below is that of the base rate), and 1 - ROCA in percent.

Of the 18 runs in time order and at random, deciban called more spam spam in all (7,528 against
5,066 in sum), was unsure of fewer messages in 17 (6,855 against 10,621; half or less in 11), and
called no more ham spam in 10: 36 messages in sum against 364, of which bogofilter's 358 are those
of one run; without that run 19 against 6 of some 33,000. Its log loss in time order was below 0.1
but with 200 and 2,000 messages of SpamAssassin (0.82 and 0.12). From old folders to new ones it
called 58 ham spam against 3. Of clusters that were held out, the log loss was 0.03 in the mean,
below the base rate in all 10.

No more ham called spam, no less spam called spam, and unsure of half as many messages: all three
held in 7 of the 18 runs. Costs move messages between the three and hardly change that number:

    lost, unsure    ham no more   spam no less   unsure half   all   ham is spam   unsure in sum
    20, 0.3                   7             18            13     6            62           6,232
    30, 0.3                  10             18            11     7            36           6,855
    40, 0.3                  13             17            10     7            20           7,427
    44.6, 0.45               10             18            14     8            38           5,841

The last have the cutoffs of bogofilter, 0.99 and 0.45, and let 425 spam through instead of 277
(bogofilter 181). With the best threshold of each run, chosen when the answers are known, all
three hold in 12: what is left is the order of messages, above all of newsletters that were wanted.
Without gain were tried: evidence that counts less where tokens contradict each other, sections
that count less with few tokens or by weights of their own from the levels, other priors and least
weights of tokens, a smaller doubt, a stiffer slope. Nor do newsletters come in a better order by
what names their list or sender. In the nine runs of SpamAssassin (32 ham called spam, 1 - ROCA
1.68 in the mean), headers of mailing lists as a section of their own call 56 ham spam (2.12),
whole addresses of senders 53 (1.95), both 115 (2.43); addresses among the words of ``From`` 35
(1.69), the names of lists among them 40 (1.73), headers of lists but for the name left out 34
(1.72). All three held in as many runs as before.

An offset of zero was tried too, for all or only where the offset speaks for spam. Less ham is
called spam (13 and 12 messages in the sum of the 18 runs), all three wishes hold in 7 and in 8, and
the log loss in time order is lower (SpamAssassin with 200 messages 0.47, with 2,000 0.085). It was
not taken: zero for all triples the log loss of SMS (0.06 to 0.20 with 2,000 learnt), and zero for
offsets that speak for spam lets 65 instead of 14 spam through where each message of SpamAssassin is
scored and then learnt, with a log loss of 0.078 instead of 0.054.
"""

from __future__ import annotations

import argparse
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from deciban.mail.copies import group, signature
from deciban.mail.lessons import read, score
from deciban.mail.mailboxes import Place
from deciban.mail.model import is_text
from deciban.mail.store import Store
from deciban.mail.training import train
from deciban.mail.verdict import decide
from mail import BOGOFILTER, Letter, _digest, _logit, distinct, lingspam, spamassassin

ANSWERS = ("spam", "unsure", "ham")
#: bogofilter's own: from the first on it is spam, up to the second ham.
SPAM_CUTOFF, HAM_CUTOFF = 0.99, 0.45
EAST_ASIAN = (
    b"euc-kr",
    b"ks_c_5601",
    b"gb2312",
    b"gbk",
    b"gb18030",
    b"big5",
    b"iso-2022",
    b"shift_jis",
)


class Scenario(NamedTuple):
    """What is trained on, and what is asked about."""

    name: str
    trained: list[Letter]
    asked: list[Letter]


class Answers(NamedTuple):
    """An answer and a score for each message."""

    answers: list[str]
    scores: list[float]


def splits(corpus: str, letters: list[Letter]) -> Iterator[Scenario]:
    """In time order and at random, by the number of messages trained on."""
    for size in (200, 2000, int(0.8 * len(letters))):
        start = _first_of_both(letters) if size == 200 else 0
        yield Scenario(
            f"{corpus} time {size}", letters[start : start + size], letters[start + size :]
        )
    for seed in (0, 1):
        mixed = sorted(letters, key=lambda letter: _digest(f"{seed} {letter.path.name}"))
        for size in (200, 2000, len(letters) // 2):
            yield Scenario(f"{corpus} random {seed} {size}", mixed[:size], mixed[size:])


def _first_of_both(letters: list[Letter]) -> int:
    """Where the first two hundred messages start that have fifty of each class."""
    spam = np.cumsum([0, *(letter.spam for letter in letters)])
    return int(np.argmax(np.abs(spam[200:] - spam[:-200] - 100) <= 50))


def held_out(corpus: str, letters: list[Letter]) -> Iterator[Scenario]:
    """Clusters of three or more near copies, a fifth of them at a time."""
    words = (filter(is_text, read(letter.path.read_bytes()).tokens) for letter in letters)
    first = np.array(group([signature(own) for own in words]))
    large = np.bincount(first)[first] >= 3
    for fold in range(5):
        out = large & (np.array([int(_digest(str(one))[:8], 16) % 5 for one in first]) == fold)
        trained = [letter for letter, is_out in zip(letters, out, strict=True) if not is_out]
        asked = [letter for letter, is_out in zip(letters, out, strict=True) if is_out]
        yield Scenario(f"{corpus} cluster {fold}", trained, asked)


def old_and_new(letters: list[Letter]) -> Scenario:
    """The first folders of ham and spam against the second ones."""
    old = [letter for letter in letters if letter.path.parent.name in ("easy-ham-1", "spam-1")]
    return Scenario(
        "SpamAssassin old", old, [letter for letter in letters if letter not in set(old)]
    )


def languages(letters: list[Letter], texts: Path, folder: Path) -> Iterator[Scenario]:
    """Languages that were never learnt: those in the corpus, and one under its headers."""
    asian = {x for x in letters if any(name in x.path.read_bytes().lower() for name in EAST_ASIAN)}
    rest = [letter for letter in letters if letter not in asian]
    yield Scenario("SpamAssassin language", rest, [x for x in letters if x in asian])
    if texts.exists():
        yield Scenario("SpamAssassin foreign", rest, list(_foreign(rest, texts, folder)))


def _foreign(letters: list[Letter], texts: Path, folder: Path) -> Iterator[Letter]:
    """Spam in Chinese with the headers of ham."""
    from pyarrow.parquet import read_table

    ham = [letter.path for letter in letters if not letter.spam]
    for number, text in enumerate(read_table(texts)["text"].to_pylist()[:300]):
        head = ham[number * 7 % len(ham)].read_bytes().partition(b"\n\n")[0]
        lines = [
            x for x in head.split(b"\n") if not x.lower().startswith((b"content-", b"subject"))
        ]
        path = folder / f"foreign-{number}"
        path.write_bytes(b"\n".join(lines) + b"\n\n" + text.encode())
        yield Letter(path, True)


def ours(scenario: Scenario, folder: Path) -> Answers:
    """Verdicts, and evidence in decibans."""
    with Store(str(folder / "mail.db"), create=True) as store:
        train(store, ((Place(str(path)), spam) for path, spam in scenario.trained))
        asked = (score(store, read(path.read_bytes())) for path, _ in scenario.asked)
        verdicts = [decide(scored) for scored in asked]
    return Answers([v.answer for v in verdicts], [v.evidence for v in verdicts])


def bogofilter(scenario: Scenario, folder: Path) -> Answers:
    """By its cutoffs, from its score with all digits."""
    command = [*BOGOFILTER, "-d", str(folder), "-b"]
    for option, is_spam in (("-n", False), ("-s", True)):
        paths = "".join(f"{path}\n" for path, spam in scenario.trained if spam == is_spam)
        subprocess.run([*command, option], input=paths, text=True, check=True)
    asked = "".join(f"{path}\n" for path, _ in scenario.asked)
    ended = subprocess.run(
        [*command, "-TT"], input=asked, text=True, capture_output=True, check=False
    )
    scores = [float(line.split()[-1]) for line in ended.stdout.splitlines()]
    names = ["spam" if p >= SPAM_CUTOFF else "ham" if p <= HAM_CUTOFF else "unsure" for p in scores]
    return Answers(names, scores)


def report(scenario: Scenario) -> None:
    """Print a line for each program."""
    spam = np.array([letter.spam for letter in scenario.asked])
    rate = np.mean([letter.spam for letter in scenario.trained])
    base = -np.log(np.where(spam, rate, 1 - rate)).mean()
    for program, run in (("deciban", ours), ("bogofilter", bogofilter)):
        with tempfile.TemporaryDirectory() as folder:
            answers, scores = run(scenario, Path(folder))
        called = "".join(f"{_called(answers, spam == side):>22}" for side in (True, False))
        loss, roca = _loss(scores, spam, program == "deciban")
        name = scenario.name if program == "deciban" else f"{'':12}base rate {base:.3f}"
        print(f"{name:28}{program:>11}{called}{loss:10.3f}{roca:10.4f}", flush=True)


def _called(answers: list[str], side: np.ndarray) -> str:
    some = np.array(answers)[side]
    return " / ".join(f"{(some == answer).sum():,}" for answer in ANSWERS)


def _loss(scores: list[float], spam: np.ndarray, decibans: bool) -> tuple[float, float]:
    """The log loss, and 1 - ROCA in percent if there are both classes."""
    values = np.array(scores)
    odds = values * np.log(10) / 10 if decibans else _logit(values)
    loss = np.logaddexp(0, np.where(spam, -odds, odds)).mean()
    return loss, 100 * (1 - roc_auc_score(spam, values)) if len(set(spam)) == 2 else np.nan


def main() -> None:
    """All scenarios on both corpora."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", nargs="?", default="../shared/data/mail", type=Path)
    parser.add_argument("--only", default="", help="Scenarios whose names have this in them.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for archive in ("spamassassin", "lingspam_bare"):
            with tarfile.open(chosen.directory / f"{archive}.tar.gz") as tar:
                tar.extractall(folder / archive, filter="data")
        assassin = list(distinct(spamassassin(folder / "spamassassin")))
        ling = list(distinct(lingspam(folder / "lingspam_bare")))
        texts = chosen.directory.parent / "text" / "zh_hotel.parquet"
        scenarios = [
            *splits("SpamAssassin", assassin),
            old_and_new(assassin),
            *splits("Ling-Spam", ling),
            *held_out("SpamAssassin", assassin),
            *held_out("Ling-Spam", ling),
            *languages(assassin, texts, folder),
        ]
        print(f"{'':39}{'spam is called':>22}{'ham is called':>22}{'log loss':>10}{'1-ROCA %':>10}")
        for scenario in scenarios:
            if chosen.only in scenario.name:
                report(scenario)


if __name__ == "__main__":
    main()
