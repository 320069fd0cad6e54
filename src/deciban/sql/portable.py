"""The methods of estimators by which a model leaves Python."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deciban.decision import Loss
    from deciban.models.protocol import Model


class Portable:
    """The methods that write the model of an estimator down for others to use."""

    if TYPE_CHECKING:

        def _model(self) -> Model:
            """The fitted model."""

    def to_sql(
        self,
        table: str | Sequence[str] = "new",
        dialect: str = "duckdb",
        *,
        keep: Sequence[str] = (),
        evidence: bool = False,
        loss: Loss = None,
        abstain: float | None = None,
        priors: Mapping[Hashable, float] | None = None,
        view: str | Sequence[str] | None = None,
    ) -> str:
        """The model as one SELECT, which gives what :meth:`predict_proba` gives.

        A row of the table has a ``prediction``, the probability ``p_<class>`` of every class,
        and, with ``evidence``, ``db_<column>`` of every column: its decibans for the likeliest
        class, as :meth:`evidence` has them.

        Parameters
        ----------
        table
            the table, or a view of it, with the columns of training in their types; a name with
            a dot is one of a schema
        dialect
            ``"duckdb"``, ``"postgres"``, ``"sqlite"`` or ``"spark"``
        keep
            columns of the table that are given as well, such as a key
        evidence
            whether to give the evidence of columns
        loss, abstain
            as in :meth:`decide`: the answer of least expected loss, or none (NULL)
        priors
            base rates of the classes that differ from those of training
        view
            the name of a view to create with this query

        Rows that the model refuses (infinite numbers; for some models missing ones) have NULL.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> import duckdb
        >>> rows = duckdb.sql("SELECT 'L' AS x")
        >>> duckdb.sql(m.to_sql("rows")).fetchall()
        [(2, 0.36..., 0.64)]

        """
        from deciban.sql.export import to_sql

        return to_sql(
            self._model(),
            table,
            dialect,
            keep=keep,
            evidence=evidence,
            loss=loss,
            abstain=abstain,
            priors=priors,
            view=view,
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """The model as a scorecard: points in decibans for every value of every column.

        It is a JSON document for people and for programs in other languages, which add the points
        up; :mod:`deciban.scorecard` says what is in it. Only additive models have one.

        >>> import json
        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> part = json.loads(m.to_json())["columns"][0]["parts"][0]
        >>> for value, points in zip(part["values"], part["points"]):
        ...     print(value, [round(p, 1) for p in points])
        L [-6.0, -1.8]
        S [-1.2, -4.8]
        """
        from deciban.scorecard import to_json

        return to_json(self._model(), indent=indent)
