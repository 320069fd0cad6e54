"""words: the strongest words and values of a model for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from deciban.cli import options as o

if TYPE_CHECKING:
    from deciban.explanation import StrongestEvidence
    from deciban.plain import PlainDict


@dataclass(frozen=True)
class WordFacts:
    """The strongest words and values, class by class."""

    path: str
    classes: list[StrongestEvidence]

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {
            "path": self.path,
            "classes": [
                {
                    "class": str(evidence.of),
                    "against": None if evidence.against is None else str(evidence.against),
                    "known": evidence.n_known,
                    "strongest": [
                        {
                            "column": one.column,
                            "value": one.value,
                            "decibans": one.decibans,
                            "rows": one.rows,
                            "others": one.others,
                        }
                        for one in evidence
                    ],
                }
                for evidence in self.classes
            ],
        }

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.classes))


def words(
    model: o.ModelFile,
    class_: Annotated[
        str | None,
        typer.Option("--class", "-c", metavar="CLASS", help="This class only; else all of them."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Compare with this class, not all others.")
    ] = None,
    n: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="So many of each class.")
    ] = 20,
    min_rows: Annotated[
        int, typer.Option(min=1, metavar="N", help="Leave out what fewer rows of training had.")
    ] = 3,
    json: o.Json = False,
) -> None:
    """List the strongest words and values for each class, in decibans."""
    from deciban.cli import rendering

    facts = strongest(model, class_, against, n, min_rows)
    print(rendering.as_json(facts) if json else rendering.as_text(facts))


def strongest(
    path: str, class_: str | None, against: str | None, n: int, min_rows: int
) -> WordFacts:
    """What a model file says most strongly for a class, or for each."""
    from deciban import files
    from deciban.explanation.strongest import Search, strongest_evidence

    inside = files.open(path).model
    labels = inside.classes.tolist()
    other, one = o.class_of(against, labels), o.class_of(class_, labels)
    asked = [one] if one is not None else [label for label in labels if label != other]
    searches = [Search.among(inside, label, n, other, min_rows) for label in asked]
    return WordFacts(path, [strongest_evidence(inside, search) for search in searches])
