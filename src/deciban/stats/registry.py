"""All statistics, by name: how files know what a table counts."""

from __future__ import annotations

from deciban.stats.amounts import AMOUNTS, PRESENCES
from deciban.stats.categories import CATEGORIES
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS
from deciban.stats.statistic import Statistic
from deciban.stats.words import WORDS

STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (CATEGORIES, MOMENTS, HISTOGRAM, WORDS, AMOUNTS, PRESENCES)
}
