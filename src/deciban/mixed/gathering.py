"""Whatever a user passes, as rows: frames, arrays, files, queries, streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from deciban import encoding, labels, schema, source
from deciban.encoding import Labelled
from deciban.errors import InputError, ParameterError, ShapeError
from deciban.kernels.texts import are_texts, batch_end
from deciban.mixed.rows import Rows
from deciban.schema import SAMPLE, Schema
from deciban.source import naming, objects
from deciban.source.columns import Batch, Listed, part
from deciban.text import packed

#: No more texts are scored by the shortest way.
FEW = 100
#: Texts a batch, and about how many characters they have together: few where they are
#: learned, as memory is short then; more where the columns are known already.
TEXTS, CHARACTERS, MORE = 8192, 1 << 17, 1 << 21


def gather(
    estimator: Any,
    X: Any,
    y: Any = None,
    target: str | None = None,
    sql: str | None = None,
    weight: Any = None,
    *,
    kinds: Mapping[str, str] | None = None,
    schema: Schema | None = None,
) -> Rows:
    """The rows of whatever was passed; without a schema, it is inferred."""
    if sql is None and is_texts(X):
        X, kinds = _one_column(X, schema, kinds)
    named = sql is not None or not is_matrix(X)
    if target is not None and (y is not None or not named):
        raise ParameterError(
            f"labels are in the column {target!r} or in y; got "
            f"{'both' if y is not None else 'an array, whose columns have no names'}.",
            hint="pass y alone for arrays",
        )
    table = source.scan(X, sql=sql) if named else _matrix(estimator, X, schema)
    for column in (target, weight):
        if isinstance(column, str):
            table.require(column)
    rows = Rows(table, schema or Schema(()), _labels(y), target, _weight(weight), named)
    if schema is None:
        _infer(rows, kinds)
    else:
        _check_names(estimator, rows)
    return rows


def _labels(y: Any) -> Labelled | None:
    if y is None:
        return None
    if isinstance(y, list | tuple) and str in map(type, y):
        # NumPy would write a missing label as the text "nan", and widen all to the longest.
        y = labels.objects(y)
    values = encoding.one_a_row(y)
    values = values.astype(object) if values.dtype.kind == "U" else values
    return encoding.class_codes(values, missing=True)


def _weight(weight: Any) -> Any:
    """The name of a column, or an array."""
    return weight if weight is None or isinstance(weight, str) else np.asarray(weight)


def is_matrix(X: Any) -> bool:
    """Whether it is an array, or what becomes one: not a frame, file, dict or list of dicts.

    >>> is_matrix([[1, 2]]), is_matrix([{"x": 1}]), is_matrix("rows.csv")
    (True, False, False)
    """
    if isinstance(X, list | tuple):
        return not (X and (isinstance(X[0], Mapping) or _is_frame(X[0])))
    return not (
        _is_frame(X) or isinstance(X, str) or hasattr(X, "__fspath__") or hasattr(X, "__next__")
    )


def is_texts(X: Any) -> bool:
    """Whether it is a list, array or series of texts: a table of one column.

    >>> is_texts(["good film", None]), is_texts([["good film"]]), is_texts("rows.csv")
    (True, False, False)
    """
    if isinstance(X, list | tuple):
        return isinstance(next((value for value in X[:100] if value is not None), None), str)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind in "UT" or (X.dtype == object and is_texts(list(X))))
    if isinstance(X, Mapping | str) or hasattr(type(X), "columns"):
        return False
    series = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if not series or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__getitem__"):
        return False
    head = X[:100]
    return is_texts(head.to_pylist() if hasattr(head, "to_pylist") else list(head))


def few_texts(X: Any, schema: Schema) -> Batch | None:
    """A few messages for a model of texts alone, by the shortest way; None for anything else."""
    if type(X) is not list or not 0 < len(X) <= FEW or len(schema.columns) != 1:
        return None
    (column,) = schema.columns
    if column.kind != "text" or not all(type(text) is str for text in X):
        return None
    return Batch(len(X), {column.name: packed(X)})


def _one_column(
    X: Any, schema: Schema | None, kinds: Mapping[str, str] | None
) -> tuple[Any, Mapping[str, str]]:
    """A table of one column: that of training, the series' own name, or "text"."""
    if schema is not None and len(schema.names) != 1:
        raise ShapeError(
            f"a list of texts is one column, and {len(schema.names)} are needed.",
            hint=f"pass a table with the columns {', '.join(schema.names[:5])}",
        )
    stated = getattr(X, "name", None)
    name = schema.names[0] if schema else stated if stated and isinstance(stated, str) else "text"
    table = (
        _in_parts(name, X, MORE if schema else CHARACTERS)
        if isinstance(X, list | tuple)
        else {name: X}
    )
    return table, {name: "text", **(kinds or {})}


def _in_parts(name: str, texts: Sequence[Any], size: int) -> source.Scan:
    """Texts some at a time: no second copy of all of them is made."""
    whole = texts if isinstance(texts, list) else list(texts)

    def read() -> Iterator[Batch]:
        stop = 0
        while stop < len(whole):
            start, stop = stop, batch_end(whole, stop, TEXTS, size)
            some = whole[start:stop]
            # Other kinds of holes, or no texts, are said as of any column.
            column = Listed(some) if are_texts(some) else objects.column(name, some)
            yield Batch(len(some), {name: column})

    return source.Scan((name,), read)


def _is_frame(X: Any) -> bool:
    return isinstance(X, Mapping | source.Scan) or any(
        hasattr(X, name) for name in ("collect_batches", "__arrow_c_stream__", "columns")
    )


def _matrix(estimator: Any, X: Any, schema: Schema | None) -> source.Scan:
    """A matrix, checked; its columns are those of the schema, or x0, x1, ..."""
    if isinstance(X, list | tuple) and any(
        isinstance(value, str) for row in X[:100] if isinstance(row, list | tuple) for value in row
    ):
        X = _objects(X)
    try:
        checked = validate_data(
            estimator, X, dtype=None, ensure_all_finite=False, reset=schema is None
        )
    except TypeError:
        raise
    except ValueError as error:
        kind = ShapeError if "sample" in str(error) or "feature" in str(error) else InputError
        raise kind(str(error), hint="give a row a line and a column a feature") from None
    names = schema.names if schema else [f"x{j}" for j in range(checked.shape[1])]
    return source.scan({name: checked[:, j] for j, name in enumerate(names)})


def _objects(X: Any) -> NDArray[Any]:
    try:
        return np.array(X, dtype=object)
    except ValueError:
        raise ShapeError(
            "the rows of X have different numbers of values.", hint="give one value a column"
        ) from None


# ---------------------------------------------------------------------- columns


def _infer(rows: Rows, kinds: Mapping[str, str] | None) -> None:
    """Read enough rows to say what the columns are."""
    stored = rows.table.stored
    rest = iter(rows.table) if stored is None else stored.head(SAMPLE)
    apart = {name for name in (rows.target, rows.weight) if isinstance(name, str)}
    keep = [name for name in rows.table.names if name not in apart]
    texts = kinds is not None and all(kinds.get(name) == "text" for name in keep)
    first: list[Batch] = []
    while sum(batch.n_rows for batch in first) < (1 if texts else SAMPLE):
        batch = next(rest, None)
        if batch is None:
            break
        first.append(batch)
    if not first:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    sample = [Batch(b.n_rows, {n: b.columns[n] for n in keep}) for b in _head(first)]
    rows.schema = schema.infer(sample, kinds)
    if stored is None:
        rows.put_back(first, rest)


def _head(batches: list[Batch]) -> Iterator[Batch]:
    """The first rows, as many as kinds are inferred from: batches do not matter."""
    left = SAMPLE
    for batch in batches:
        n_rows = min(left, batch.n_rows)
        yield Batch(n_rows, {name: part(c, 0, n_rows) for name, c in batch.columns.items()})
        left -= n_rows


def _check_names(estimator: Any, rows: Rows) -> None:
    """Columns are found by name; one too few or too many is an error."""
    wanted, found = rows.schema.names, rows.table.names
    for name in wanted:
        if name not in found:
            raise naming.unknown(name, found)
    known = {*wanted, rows.target, getattr(estimator, "target_", None)}
    if isinstance(rows.weight, str):
        known.add(rows.weight)
    extra = [name for name in found if name not in known]
    if extra:
        close = naming.nearest(extra[0], wanted)
        raise ShapeError(
            f"column {extra[0]!r} was not there in training; X has {len(found)} features, but "
            f"{type(estimator).__name__} is expecting {len(wanted)} features as input.",
            hint="leave it out" if close is None else f"leave it out; the nearest is {close!r}",
        )
