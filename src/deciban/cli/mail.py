"""``deciban mail``: a spam filter. Each command parses its options, calls the work, and prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from deciban.cli import options as o
from deciban.cli.delivery import Options, default_store, from_input
from deciban.cli.mail_training import NONE, Training, print_facts
from deciban.cli.mail_training import train as train_messages
from deciban.mail.verdict import Costs

if TYPE_CHECKING:
    from deciban.mail.mailboxes import Place

app = typer.Typer(
    name="mail",
    help="A spam filter that learns, forgets and shows its reasons.",
    no_args_is_help=True,
)

COSTS = Costs()

Store = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="FILE",
        help="What was learnt; without it $DECIBAN_MAIL, or ~/.local/share/deciban/mail.db.",
    ),
]
Lost = Annotated[
    float, typer.Option("--lost", metavar="COST", help="Of calling ham spam; the contrary costs 1.")
]
Unsure = Annotated[float, typer.Option("--unsure", metavar="COST", help="Of the answer 'unsure'.")]
Boxes = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="A Maildir, mbox, folder or message. May be repeated."),
]
Messages = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="Messages, mboxes, Maildirs or folders; without any, the standard input.",
        show_default=False,
    ),
]
IsSpam = Annotated[bool, typer.Option("--spam", help="The messages are spam.")]
IsHam = Annotated[bool, typer.Option("--ham", help="The messages are ham.")]


@app.command()
def train(
    spam: Boxes = None,
    ham: Boxes = None,
    store: Store = "",
    processes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Read with N processes; without it, as pays."),
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn many messages at once; those that are known already are left alone."""
    if not spam and not ham:
        raise typer.BadParameter("give messages to learn", param_hint="--spam, --ham")
    train_messages(Training(spam or [], ham or [], store, processes, json, quiet))


@app.command("filter")
def filter_(store: Store = "", lost: Lost = COSTS.lost, unsure: Unsure = COSTS.unsure) -> None:
    """Copy a message from standard input to output, with the header X-Deciban added."""
    from deciban.cli import delivery

    chosen = Options(store or default_store(), lost, unsure)
    arguments = [f"--{name}={value}" for name, value in chosen._asdict().items()]
    raise typer.Exit(delivery.screen(arguments))


@app.command()
def classify(
    files: Messages = None,
    store: Store = "",
    lost: Lost = COSTS.lost,
    unsure: Unsure = COSTS.unsure,
) -> None:
    """Say what messages are; exit with 0 for spam, 1 for ham, 2 for unsure, 3 after an error."""
    from deciban.cli import delivery

    raise typer.Exit(delivery.classify(Options(store, lost, unsure), files or ()))


@app.command("learn", help="Learn messages as spam or as ham; one that is known is left alone.")
@app.command("relearn", help="Correct a mistake: learn as this class, and no longer as the other.")
def teach(
    context: typer.Context,
    files: Messages = None,
    spam: IsSpam = False,
    ham: IsHam = False,
    store: Store = "",
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn messages, by the function that has the name of the command."""
    if spam == ham:
        raise typer.BadParameter(
            "say which of the two the messages are", param_hint="--spam, --ham"
        )
    from deciban.mail import lessons

    work = lessons.learn if context.info_name == "learn" else lessons.relearn
    _each(files, store, lambda s, m: work(s, m, spam), json, quiet, create=True)


@app.command()
def unlearn(
    files: Messages = None, store: Store = "", json: o.Json = False, quiet: o.Quiet = False
) -> None:
    """Take lessons back, exactly, as if they had never been given."""
    from deciban.mail import lessons

    _each(files, store, lessons.unlearn, json, quiet)


@app.command()
def explain(
    files: Messages = None,
    store: Store = "",
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many tokens to show.")] = 20,
    lost: Lost = COSTS.lost,
    unsure: Unsure = COSTS.unsure,
    json: o.Json = False,
) -> None:
    """Show what decided about messages, in decibans: positive speaks for spam."""
    from deciban.mail.lessons import read, score
    from deciban.mail.mailboxes import some_places
    from deciban.mail.store import Store
    from deciban.mail.verdict import decide

    costs = Costs(lost, unsure).check()
    with Store(store or default_store()) as opened:
        for raw in _messages(files, some_places):
            scored = score(opened, read(raw))
            verdict = decide(scored, costs)
            tokens = sorted(scored.tokens.items(), key=lambda item: (-abs(item[1]), item[0]))
            facts = {
                **verdict._asdict(),
                "familiar": scored.familiar,
                "base": scored.base,
                "tokens": dict(tokens[:top]),
                "others": {"count": len(tokens[top:]), "evidence": sum(w for _, w in tokens[top:])},
            }
            print_facts(facts, _explained, json)


def _each(
    files: list[str] | None,
    store: str,
    work: Callable[..., str],
    json: bool,
    quiet: bool,
    *,
    create: bool = False,
) -> None:
    """Do the same to each message, in a transaction of its own, and print what became of them."""
    from deciban.mail.lessons import read
    from deciban.mail.mailboxes import places
    from deciban.mail.store import Store

    outcomes = Counter[str]()
    with Store(store or default_store(), create=create) as opened:
        for raw in _messages(files, places):
            outcomes[work(opened, read(raw))] += 1
    print_facts(dict(outcomes), _outcomes, json, quiet)
    if outcomes["conflict"]:
        raise typer.Exit(1)


def _messages(
    files: list[str] | None, find: Callable[[list[str]], Iterable[Place]]
) -> Iterator[bytes]:
    """The bytes of messages; the standard input may be an mbox."""
    import sys

    from deciban.mail import mailboxes

    if files and not from_input(files):
        yield from map(mailboxes.read, find(files))
        return
    raw = sys.stdin.buffer.read()
    for start, end in mailboxes.split(raw):
        yield raw[start:end]


# What the commands say


_SAID = {
    "learnt": "learnt {}",
    "moved": "moved {} from the other class",
    "taken": "took {} back",
    "known": "left alone {} that were known already",
    "unknown": "left alone {} that were never learnt",
    "conflict": "left alone {} that are known as the other class: see relearn",
}


def _outcomes(**outcomes: int) -> Iterator[str]:
    if not outcomes:
        yield NONE
    yield from (said.format(outcomes[name]) for name, said in _SAID.items() if name in outcomes)


def _explained(
    answer: str,
    p: float,
    evidence: float,
    familiar: float,
    base: float,
    tokens: dict[str, float],
    others: dict[str, float],
) -> Iterator[str]:
    yield f"{answer}  p={p:.4f}  familiar={familiar:.0%}"
    yield ""
    for token, weight in tokens.items():
        yield f"{weight:+8.1f}  {token}"
    if others["count"]:
        yield f"{others['evidence']:+8.1f}  {others['count']:,} other tokens"
    yield f"{round(base, 1) + 0.0:+8.1f}  base rate"
    yield f"{evidence:+8.1f}  dB in all"
