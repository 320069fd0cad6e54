"""Frames of every type and shape that pandas, Polars and pyarrow can make.

Fitted, asked, explained, saved, loaded and forgotten: an error of deciban with a hint, or finite
results that are equal wherever they must be.
"""

import datetime
import resource
import signal
import tempfile
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from deciban import AODE, NaiveBayes, load
from deciban.errors import DecibanError
from torture.part import Part, check

#: Tables of one attempt; no table may take more memory or time than that, whatever is in it.
N_TABLES = 40
MAX_BYTES, MAX_SECONDS = 8 << 30, 120

MOMENTS = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2250, 1, 1))
FLOATS = st.one_of(
    st.floats(), st.sampled_from([-0.0, 1e308, -1e308, 5e-324, np.inf, np.nan, 1e-300])
)
TEXTS = st.one_of(
    st.text(max_size=12), st.sampled_from(["", " ", "nan", "1,5", "\U0001f600", "a\x00b"])
)
DECIMALS = st.decimals(-(10**9), 10**9, allow_nan=False, places=3)
#: Values that a column may have, by name.
VALUES = {
    "whole": st.integers(-(2**63), 2**63 - 1),
    "small": st.integers(0, 3),
    "float": FLOATS,
    "bool": st.booleans(),
    "text": TEXTS,
    "few": st.sampled_from(["red", "green", "Red "]),
    "bytes": st.binary(max_size=6),
    "date": MOMENTS.map(datetime.datetime.date),
    "time": st.times(),
    "moment": MOMENTS,
    "zoned": MOMENTS.map(lambda m: m.replace(tzinfo=datetime.UTC)),
    "duration": st.timedeltas(datetime.timedelta(-(10**4)), datetime.timedelta(10**4)),
    "decimal": DECIMALS,
    "list": st.lists(st.integers(0, 3), max_size=3),
    "words": st.lists(st.sampled_from(["a", "b"]), max_size=3),
    "record": st.fixed_dictionaries({"a": st.integers(0, 3)}),
    "complex": st.complex_numbers(max_magnitude=10, allow_nan=False),
    "nothing": st.none(),
}
PANDAS_TYPES = (
    None, "object", "category", "string", "Int64", "Int8", "Float32", "Float64", "boolean",
    "float16", "float32", "int8", "uint8", "uint64", "datetime64[ns]", "datetime64[s]",
    "timedelta64[ns]", "period[D]", "Sparse[float64]", "complex128", "str", "string[pyarrow]",
)  # fmt: skip
POLARS_TYPES = (
    None, pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(20, 3), pl.String, pl.Categorical,
    pl.Enum(["red", "green", "Red "]), pl.Binary, pl.Date, pl.Datetime("ms"), pl.Duration, pl.Time,
    pl.Object, pl.Boolean, pl.Null,
)  # fmt: skip
ARROW_TYPES = (
    None, pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.string(), pa.large_string(),
    pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(4), pa.date32(), pa.date64(),
    pa.time32("s"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns", "Asia/Kolkata"),
    pa.duration("us"), pa.decimal128(20, 3), pa.decimal256(40, 3), pa.bool_(), pa.null(),
    pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.string()), pa.struct({"a": pa.int64()}),
    pa.map_(pa.string(), pa.int64()), pa.month_day_nano_interval(),
)  # fmt: skip


def _pandas_column(values, kind):
    return pd.Series(values) if kind is None else pd.Series(values, dtype=kind)


def _polars_column(values, kind):
    return pl.Series(values, dtype=kind, strict=False)


def _arrow_column(values, kind):
    return pa.array(values, type=kind)


#: How a column is made, the types it may be made as, and how columns become a frame.
LIBRARIES = {
    "pandas": (_pandas_column, PANDAS_TYPES, pd.DataFrame),
    "polars": (_polars_column, POLARS_TYPES, pl.DataFrame),
    "pyarrow": (_arrow_column, ARROW_TYPES, pa.table),
}


@dataclass(frozen=True)
class Recipe:
    """How to make a frame. Printing some frames of Polars ends the process; this can be printed."""

    library: str
    columns: dict[str, tuple[list, int]]
    labels: list[str]

    def frame(self):
        """The frame."""
        make, kinds, frame = LIBRARIES[self.library]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return frame({n: _made(make, v, kinds[k]) for n, (v, k) in self.columns.items()})


@st.composite
def recipes(draw):
    """A frame of up to four columns and forty rows, and labels for it."""
    n, library = draw(st.integers(0, 40)), draw(st.sampled_from(sorted(LIBRARIES)))
    columns = {}
    for name in draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True)):
        cell = VALUES[draw(st.sampled_from(sorted(VALUES)))]
        cell = st.one_of(cell, st.none()) if draw(st.booleans()) else cell
        kind = draw(st.integers(0, len(LIBRARIES[library][1]) - 1))
        columns[name] = draw(st.lists(cell, min_size=n, max_size=n)), kind
    labels = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n))
    return Recipe(library, columns, labels)


def _made(make, cells, kind):
    """A column of a type if its library can make it, or of one that it chooses, or of texts."""
    for choice in (kind, None):
        try:
            return make(cells, choice)
        except Exception:
            continue
    return make([None if cell is None else str(cell) for cell in cells], None)


def survive(table, labels, kind):
    """Everything that a person does with a model, on one table."""
    model = kind().fit(table, labels)
    shares = model.predict_proba(table)
    check(bool(np.all(np.isfinite(shares))), "probabilities are no numbers")
    check(bool(np.allclose(shares.sum(axis=1), 1)), "probabilities do not sum to one")
    check(bool(np.all(model.predict(table) == model.classes_[shares.argmax(axis=1)])), "no argmax")
    for reason in model.explain_rows(table[:2]):
        check(np.isfinite(reason.total), "evidence is no number")
    with tempfile.NamedTemporaryFile(suffix=".deciban") as file:
        model.save(file.name, overwrite=True)
        check(
            np.array_equal(load(file.name).predict_proba(table), shares), "a file answers otherwise"
        )
    before, half = model.counts_, len(labels) // 2
    if len(set(labels[half:])) == len(set(labels)) > 1:
        model.forget(table[:half], labels[:half]).partial_fit(table[:half], labels[:half])
        check(model.counts_ == before, "rows forgotten and learnt again leave other counts")


def hostile_tables(chance, folder):
    """Tables, one after the other; the smallest that fails is shown."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    tried = 0

    @seed(chance.randrange(2**32))
    @settings(
        max_examples=N_TABLES, database=None, deadline=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(recipes(), st.sampled_from([NaiveBayes, AODE]))
    def attempt(recipe, kind):
        nonlocal tried
        tried += 1
        signal.alarm(MAX_SECONDS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                survive(recipe.frame(), recipe.labels, kind)
            except DecibanError as error:
                check("Hint:" in str(error), f"an error without a hint: {error}")
        signal.alarm(0)

    attempt()
    return tried


PARTS = [
    Part(
        "frames of every type",
        f"an error with a hint, or finite and equal results, in {MAX_BYTES >> 30} GiB and "
        f"{MAX_SECONDS} s a table of 40 rows",
        hostile_tables,
        wanted=5000,
    )
]
