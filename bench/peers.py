"""The strong peers of the flagship: what people use when they want good answers.

Each is a method ``(train, y, test) -> (classes, probabilities)`` with the
defaults of its library on one core; only the penalty of logistic regression is
chosen, by cross-validation.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

Answer = tuple[np.ndarray, np.ndarray]


def split_columns(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The names of the numeric columns, and of the others."""
    numeric = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c])]
    return numeric, [c for c in frame if c not in numeric]


def plain(frame: pd.DataFrame, medians: pd.Series | None = None) -> pd.DataFrame:
    """Floats and strings; holes are NaN (or the medians) and "?"."""
    numeric, other = split_columns(frame)
    numbers = frame[numeric].astype(float)
    texts = frame[other].astype(object).fillna("?").astype(str)
    return pd.concat([numbers if medians is None else numbers.fillna(medians), texts], axis=1)


def _one_hot(train: pd.DataFrame) -> Pipeline:
    numeric, other = split_columns(train)
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), other),
    )


def _ordinal(train: pd.DataFrame) -> Pipeline:
    numeric, other = split_columns(train.dropna(axis=1, how="all"))
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    return make_column_transformer(("passthrough", numeric), (codes, other))


def _encode(encoder: Pipeline, train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, ...]:
    return np.asarray(encoder.fit_transform(train)), np.asarray(encoder.transform(test))


def logistic(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """LogisticRegression on one-hot and scaled columns; C of least log loss in 5 folds."""
    a, b = plain(train), plain(test)
    classes, codes = np.unique(y, return_inverse=True)
    strengths = np.logspace(-3, 3, 7)
    loss = np.zeros(len(strengths))
    for inner, outer in StratifiedKFold(5, shuffle=True, random_state=0).split(a, codes):
        fit, held = _encode(_one_hot(a), a.iloc[inner], a.iloc[outer])
        for i, C in enumerate(strengths):
            model = LogisticRegression(C=C, max_iter=1000).fit(fit, codes[inner])
            full = np.full((len(outer), len(classes)), 1e-15)
            full[:, model.classes_] = np.maximum(model.predict_proba(held), 1e-15)
            loss[i] -= np.log(full[np.arange(len(outer)), codes[outer]]).sum()
    fit, held = _encode(_one_hot(a), a, b)
    model = LogisticRegression(C=strengths[loss.argmin()], max_iter=3000).fit(fit, codes)
    return classes, model.predict_proba(held)


def forest(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """RandomForestClassifier on one-hot columns."""
    from sklearn.ensemble import RandomForestClassifier

    a, b = _encode(_one_hot(train), plain(train), plain(test))
    model = RandomForestClassifier(random_state=0, n_jobs=1).fit(a, y)
    return model.classes_, model.predict_proba(b)


def histogram_boosting(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """HistGradientBoostingClassifier, categories as such."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    a, b = _encode(_ordinal(train), plain(train), plain(test))
    numeric, other = split_columns(train.dropna(axis=1, how="all"))
    which = [len(numeric) + j for j, c in enumerate(other) if train[c].nunique() < 250]
    model = HistGradientBoostingClassifier(categorical_features=which, random_state=0)
    model.fit(a, y)
    return model.classes_, model.predict_proba(b)


def lightgbm(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """LGBMClassifier, categories as such."""
    from lightgbm import LGBMClassifier

    a, b = plain(train), plain(test)
    for column in split_columns(train)[1]:
        kind = pd.CategoricalDtype(sorted(a[column].unique()))
        a[column], b[column] = a[column].astype(kind), b[column].astype(kind)
    for part in (a, b):
        part.columns = [f"x{j}" for j in range(part.shape[1])]
    model = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1).fit(a, y)
    return model.classes_, model.predict_proba(b)


def khiops(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """KhiopsClassifier: selective naive Bayes on optimal bins and trees, the nearest relative."""
    home = str(Path(sys.executable).resolve().parent)
    for folder in (home, str(Path(np.__file__).parents[4] / "bin")):
        if folder not in os.environ["PATH"]:
            os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    from khiops.sklearn import KhiopsClassifier

    a, b = plain(train), plain(test)
    for part in (a, b):
        part.columns = [f"x{j}" for j in range(part.shape[1])]
    model = KhiopsClassifier().fit(a, y)
    return np.asarray(model.classes_), np.asarray(model.predict_proba(b), dtype=float)


def ebm(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """ExplainableBoostingClassifier: additive shapes and pairs, the strongest that explains."""
    from interpret.glassbox import ExplainableBoostingClassifier

    a, b = plain(train), plain(test)
    model = ExplainableBoostingClassifier(random_state=0, n_jobs=1).fit(a, y)
    return np.asarray(model.classes_), model.predict_proba(b)


def catboost(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """CatBoostClassifier, categories as such: strong without tuning, and slow."""
    from catboost import CatBoostClassifier

    a, b = plain(train), plain(test)
    categories = split_columns(train)[1]
    model = CatBoostClassifier(
        random_seed=0, thread_count=1, verbose=False, allow_writing_files=False,
        cat_features=categories,
    ).fit(a, y)  # fmt: skip
    return np.asarray(model.classes_), model.predict_proba(b)


STRONG = {
    "logistic": logistic,
    "forest": forest,
    "hist. boosting": histogram_boosting,
    "lightgbm": lightgbm,
    "khiops": khiops,
}
SLOW = {"ebm": ebm, "catboost": catboost}
