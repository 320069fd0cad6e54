"""Files of format version 1 are read as those of today, or refused: never misread."""

import copy
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import files
from deciban.errors import ModelFileError
from deciban.files import archive
from deciban.files.model import unpacked
from deciban.files.upgrade import (
    FAMILY_OF_SHAPE,
    LOSSES_BY_DISCOUNT,
    STATISTIC_OF_FAMILY,
    upgrade,
)
from deciban.naive_bayes.stored import from_stored
from deciban.stats.registry import STATISTICS

DATA = Path(__file__).parent / "data"
#: The probabilities of "yes" of ``rows()``: files hold counts, estimated as they are today.
ANSWERS = {
    "naive_bayes": [0.2306186971502, 0.4415543503666, 0.7505436103105, 0.8382765640255],
    "bayes_classifier": [0.1035053930816, 0.4121858946491, 0.77717457572780, 0.9535755129601],
    "aode": [0.549574358224, 0.6127834825250, 0.5785488016461, 0.5761521549813],
    "logistic": [0.3899607611453, 0.6094656654080, 0.5821062442974, 0.5542320121371],
}


def rows(name):
    if name == "logistic":
        return np.array([[0.0, 0.0], [1.0, 37.0], [2.0, 24.0], [3.0, 11.0]])
    table = {"size": ["S", "M", "M", "L"], "age": [None, 37.0, 24.0, 11.0]}
    notes = ["good clean shop aa", "dirty late shop bb", "late again cc", "good good dd"]
    return table if name == "aode" else {**table, "note": notes}


def path_of(name):
    return DATA / f"format1_{name}.deciban"


@pytest.fixture(params=["naive_bayes", "bayes_classifier"])
def content(request):
    return archive.read(path_of(request.param))


def model_of(content):
    """The part of the description that is NaiveBayes's."""
    about = content.document["model"]
    return about["counted"] if content.kind == "BayesClassifier" else about


def tables_of(content):
    return content.document["counts"]["tables"]


@pytest.mark.parametrize("name", ANSWERS)
def test_models_answer_as_they_did(name, tmp_path):
    model = deciban.load(path_of(name))
    np.testing.assert_allclose(model.predict_proba(rows(name))[:, 1], ANSWERS[name], rtol=1e-11)
    model.save(tmp_path / "m.deciban")
    assert archive.read(tmp_path / "m.deciban").version == archive.VERSION == 3
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(rows(name)), model.predict_proba(rows(name)))


def test_a_model_of_version_1_goes_on_learning():
    model = deciban.load(path_of("naive_bayes"))
    shapes = {name: choice.shape for name, choice in model.choices_.items()}
    assert shapes == {"size": "categories", "age": "histogram"}
    assert model.partial_fit(rows("naive_bayes"), ["no"] * 4).counts_.weight.sum() == 64


def test_only_names_change(content):
    new = upgrade(content)
    assert (new.kind, new.writer, new.version) == (content.kind, content.writer, 3)
    assert [entry["statistic"] for entry in tables_of(new)] == [
        STATISTIC_OF_FAMILY[entry["family"]] for entry in tables_of(content)
    ]
    before, now = model_of(content), model_of(new)
    assert now["options"] == before["wishes"]
    assert now.get("text_choices") == before.get("readings")
    for old, choice in zip(before["choices"], now["choices"], strict=True):
        assert choice["family"] == FAMILY_OF_SHAPE[old["shape"]]
        assert {k: v for k, v in choice.items() if k != "family"} == {
            k: v for k, v in old.items() if k != "shape"
        }
    moved = {n: a.tolist() for n, a in new.arrays.items() if n not in content.arrays}
    assert moved == {
        f"counts.table{number}.sum.{key}.base": [base]
        for number, entry in enumerate(tables_of(content))
        for key, base in entry["base"].items()
    }
    same = content.arrays.keys() - LOSSES_BY_DISCOUNT
    assert all(new.arrays[name] is content.arrays[name] for name in same)


@pytest.mark.parametrize(("name", "lines"), [("naive_bayes", 1), ("aode", 5)])
def test_evidence_of_earlier_versions_is_never_enlarged(name, lines):
    old = archive.read(path_of(name))
    array = next(array for array in LOSSES_BY_DISCOUNT if array in old.arrays)
    before, now = old.arrays[array], upgrade(old).arrays[array]
    assert now[-1] == before[-1] == 60.0
    losses = now[:-1].reshape(lines, -1)
    np.testing.assert_array_equal(losses[:, :93], before[:-1].reshape(lines, -1))
    assert losses.shape == (lines, 121)
    assert (losses[:, 93:] == 700.0 * 60.0).all()
    assert deciban.load(path_of(name)).temperature_ >= 1.0


def test_losses_of_another_length_are_refused():
    content = archive.read(path_of("naive_bayes"))
    content.arrays["model.calibration"] = content.arrays["model.calibration"][1:]
    with pytest.raises(ModelFileError, match="calibration"):
        from_stored(unpacked(content))


def test_a_file_of_today_is_left_as_it_is(content):
    new = upgrade(content)
    assert upgrade(new) is new


def test_what_is_upgraded_is_not_changed(content):
    before, names = copy.deepcopy(content.document), list(content.arrays)
    upgrade(content)
    assert content.document == before
    assert list(content.arrays) == names


def test_every_family_of_version_1_has_a_statistic():
    assert set(STATISTIC_OF_FAMILY.values()) == set(STATISTICS)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("family 'os.system' is not known", lambda c: tables_of(c)[0].update(family="os.system")),
        ("'family' must be of type str", lambda c: tables_of(c)[0].pop("family")),
        ("'family' must be of type str", lambda c: tables_of(c)[0].update(family=["words"])),
        ("'statistic' is not known", lambda c: tables_of(c)[0].update(statistic="categories")),
        ("'base' must be of type dict", lambda c: tables_of(c)[1].pop("base")),
        ("'total' must be of type int", lambda c: tables_of(c)[1]["base"].update(total="0")),
        ("'total' must be of type int", lambda c: tables_of(c)[1]["base"].update(total=True)),
        ("digits from place 1000", lambda c: tables_of(c)[1]["base"].update(total=10**40)),
        ("'sum.total' has .* digits", lambda c: tables_of(c)[1]["base"].update(total=10**9)),
        ("'sum.n.base' is missing", lambda c: tables_of(c)[1]["base"].pop("n")),
        ("'sum.count.base' belongs to no", lambda c: tables_of(c)[0]["base"].update(count=0)),
        ("'sum.x.base' belongs to no", lambda c: tables_of(c)[1]["base"].update(x=0)),
        ("sum.n.base' belongs to no", lambda c: c.arrays.update(BASE)),
        ("a table must be a record", lambda c: tables_of(c).append(1)),
        ("'tables' must be", lambda c: c.document["counts"].update(tables={})),
        ("'model' must be", lambda c: c.document.update(model=[])),
        ("'options' is not known", lambda c: model_of(c).update(options={})),
        ("'text_choices' is not known", lambda c: model_of(c).update(text_choices=[])),
        ("'choices' must be", lambda c: model_of(c).pop("choices")),
        ("a choice must be a record", lambda c: model_of(c)["choices"].append("age")),
        ("shape 'circle' is not", lambda c: model_of(c)["choices"][0].update(shape="circle")),
        ("'shape' must be", lambda c: model_of(c)["choices"][0].pop("shape")),
        ("'family' is not", lambda c: model_of(c)["choices"][0].update(family="gaussian")),
    ],
)
def test_damage_is_refused(content, message, change):
    change(content)
    with pytest.raises(ModelFileError, match=message):
        unpacked(content)


BASE = {"counts.table1.sum.n.base": np.zeros(1, dtype=np.int64)}


def test_a_description_without_its_base_model_is_refused():
    content = archive.read(path_of("bayes_classifier"))
    content.document["model"].pop("counted")
    with pytest.raises(ModelFileError, match="'counted' must be"):
        unpacked(content)


def places(value, path=()):
    """Every place in nested dicts and lists."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


STRANGE = (None, True, -1, 10**40, 0.5, "", "gaussian", [], [1], {}, {"a": 1})


def test_whatever_stands_in_a_description_is_an_error_of_the_file_or_none():
    content = archive.read(DATA / "format1.deciban")
    messages = []
    for path in list(places(content.document))[1:]:
        for strange in STRANGE:
            document = copy.deepcopy(content.document)
            where = document
            for key in path[:-1]:
                where = where[key]
            where[path[-1]] = strange
            other = archive.Content(
                content.kind, document, content.arrays, content.writer, content.version
            )
            try:
                unpacked(other)
            except ModelFileError as error:
                messages.append(str(error))
    assert len(messages) > 200
    assert not any("damaged" in message for message in messages)


def test_a_file_of_version_1_with_the_names_of_today_is_refused(tmp_path):
    """Its version is part of what it says."""
    path = tmp_path / "m.deciban"
    deciban.load(path_of("naive_bayes")).save(path)
    with zipfile.ZipFile(path) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    about = json.loads(members["model.json"])
    members["model.json"] = json.dumps(about | {"version": 1}).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
    with pytest.raises(ModelFileError, match="'statistic' is not known"):
        files.read(path)
