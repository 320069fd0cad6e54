"""What rows choose that counts cannot: how texts are read, and columns where rows belong together.

The rows are of a sample, and counted: each is left out of the counts, alone or with its unit.
"""

from __future__ import annotations

import numpy as np

from deciban.families.remaining import remaining_rows
from deciban.models import unit_selection
from deciban.models.text_selection import SMOOTHINGS_TRIED, TextChoice, Trial, trial_stride
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.sample import Sample
from deciban.stats.categories import CATEGORIES
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS

#: Where rows belong together, columns are selected on no more than about so many of them.
MAX_SELECTION_ROWS = 5_000


def choose_texts(model: NaiveBayesModel, sample: Sample) -> NaiveBayesModel:
    """The model with its columns of text read as rows select, where they are many enough."""
    return model.with_text_choices(_select_texts(model, sample))


def _select_texts(model: NaiveBayesModel, sample: Sample) -> dict[str, TextChoice]:
    blocks = [block for block in model.blocks if block.input == "text"]
    if not blocks or not sample.batches:
        return {}
    stride = trial_stride([block.table for block in blocks], sample.n_rows)
    part = sample.part(stride).rows
    y, one = part.codes_among(model.classes), np.minimum(part.weights, 1.0)
    remaining, method = remaining_rows(part, model.classes), model.options.method
    if remaining is None:
        log_prior = model.prior_without(y, one)
    else:
        log_prior = model.prior_remaining(remaining)
    selected = {}
    for block in blocks:
        (name,) = block.columns
        bags = model.text_encoders[block.name].encode(part.batch)
        trial = Trial(block.table, bags, y, one, part.weights, log_prior, method, remaining)
        (stated,) = model.options.smoothing_of([name])
        smoothings = SMOOTHINGS_TRIED if stated is None else (stated,)
        selected[name] = trial.select(name, model.options.text, smoothings)
    return selected


def choose_columns(model: NaiveBayesModel, sample: Sample) -> NaiveBayesModel:
    """The model with columns modelled as rows of groups or times select, each left out."""
    part = sample.part(-(-sample.n_rows // MAX_SELECTION_ROWS)).rows
    remaining = remaining_rows(part, model.classes)
    if remaining is None or not model.choices:
        return model
    numbers, codes = model.columns(part.batch)
    matrices = {CATEGORIES.name: codes, HISTOGRAM.name: numbers, MOMENTS.name: numbers}
    trial = unit_selection.Trial(remaining, model.prior_remaining(remaining), matrices)
    return model.with_choices(
        unit_selection.select(model.counts, model.schema, model.options, trial)
    )
