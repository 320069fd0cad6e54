"""Families: one likelihood a file, each an object that obeys :mod:`deciban.families.protocol`.

The layers above loop over families and know none of them by name. To add one, write a file with
an object of the protocol, and its line here; from outside the package, call :func:`register`.

Read in this order: ``protocol`` with ``settings``, ``piece`` (what a curve is drawn from) and
``soft`` (columns as EM estimates them), ``removal`` (one row less) and ``remaining`` (whole groups
less), ``discrete``, ``categorical``, ``bell`` with ``gaussian``,
``histogram``, ``rate`` with ``poisson``, ``von_mises`` with ``circle``, ``linear_bag`` with
``multinomial``, ``complement`` and ``bernoulli``, ``words`` with ``unit_removal``.
"""

from __future__ import annotations

from deciban.errors import ParameterError
from deciban.families.bernoulli import BERNOULLI
from deciban.families.categorical import CATEGORICAL
from deciban.families.complement import COMPLEMENT
from deciban.families.gaussian import GAUSSIAN
from deciban.families.histogram import HISTOGRAM_FAMILY
from deciban.families.multinomial import MULTINOMIAL
from deciban.families.poisson import POISSON
from deciban.families.protocol import Family
from deciban.families.von_mises import VON_MISES, VON_MISES_POINTS
from deciban.families.words import WORD_FAMILY

__all__ = ["FAMILIES", "Family", "get", "register"]

#: All families by name. Of equally good candidates for a column, the first in this order is taken.
FAMILIES: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make a family known: selection may choose it, and model files may name it.

    Its name must be new; the same object may be registered again.

    >>> register(GAUSSIAN)
    """
    known = FAMILIES.setdefault(family.name, family)
    if known is not family:
        raise ParameterError(
            f"a family named {family.name!r} is registered already.", hint="give it another name"
        )


def get(name: str) -> Family:
    """The family of that name.

    >>> get("gaussian").name
    'gaussian'
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise ParameterError(
            f"unknown family {name!r}.", hint=f"one of {', '.join(sorted(FAMILIES))}"
        )
    return FAMILIES[name]


for _family in (
    CATEGORICAL,
    GAUSSIAN,
    HISTOGRAM_FAMILY,
    POISSON,
    WORD_FAMILY,
    MULTINOMIAL,
    COMPLEMENT,
    BERNOULLI,
    VON_MISES,
    VON_MISES_POINTS,
):
    register(_family)
