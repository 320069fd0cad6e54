"""What the page asks for besides answers: figures, examples, lessons, drift, training."""

import io
import json
import math
import time

import numpy as np
import pandas as pd
import pytest

from commands import FRUIT, done, run
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, evaluate, load
from deciban.errors import ParameterError
from deciban.serve.batch import EXCEL
from deciban.serve.settings import Limits, Settings
from serving import ROW, answer, fruit_fixtures, lesson, problem, serving
from workbooks import write_workbook

path, model, client = fruit_fixtures()


@pytest.fixture
def trainer():
    with serving(None) as client:
        yield client


# ---------------------------------------------------------------------- the model as a whole


def test_importance_curves_and_nomogram_are_the_librarys(client, model):
    body = answer(client.get("/api/importance"))
    features = [(one["feature"], one["decibans"]) for one in body["features"]]
    assert features == list(model.importance().to_dict().items())
    assert {"grams", "colour", "picked (weekday)"} <= set(body["curves"])

    curve = answer(client.post("/api/curve", json={"column": "grams", "against": "plum"}))
    expected = model.curve("grams", "plum")
    assert curve["decibans"] == expected.decibans.tolist()
    assert curve["low"] == expected.low.tolist()
    assert curve["labels"] == list(expected.labels)
    told = problem(client.post("/api/curve", json={"column": "gram"}), 422)
    assert "grams" in told["hint"]

    sheet = answer(client.post("/api/nomogram", json={"of": "plum", "against": "apple"}))
    expected = model.nomogram("plum", "apple")
    assert (sheet["start"], sheet["unit"]) == (expected.start, expected.unit)
    assert [one["points"] for one in sheet["scales"]] == [
        one.points.tolist() for one in expected.scales
    ]
    assert (
        "no column of text"
        in problem(client.post("/api/words", json={"of": "plum"}), 422)["detail"]
    )


def test_words(tmp_path):
    texts = ["win a free prize now", "see you at the meeting", "free money", "lunch at noon?"] * 9
    model = NaiveBayes(kinds={"text": "text"})
    model.fit({"text": texts, "y": ["spam", "ham"] * 18}, target="y").save(tmp_path / "m.deciban")
    with serving(tmp_path / "m.deciban") as client:
        body = answer(client.post("/api/words", json={"of": "spam", "n": 2}))
    expected = model.words("spam", 2)
    assert [(one["value"], one["decibans"]) for one in body["words"]] == list(
        expected.to_dict().items()
    )


@pytest.mark.parametrize("kind", [NaiveBayes, AODE, BayesClassifier, LogisticRegression])
def test_every_kind_of_model_has_columns_to_try_and_figures(kind, tmp_path):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(80) % 2, "yes", "no")
    X = pd.DataFrame({"a": rng.normal(1 + 3 * (y == "yes")), "b": rng.poisson(3, 80)})
    fitted = (
        kind().fit(X, y) if kind is LogisticRegression else kind().fit(X.assign(y=y), target="y")
    )
    fitted.save(tmp_path / "m.deciban")
    with serving(tmp_path / "m.deciban") as client:
        described = answer(client.get("/api/model"))
        for column in described["columns"]:
            assert len(column["bars"]) == 40, column["name"]
            low, high = column["bars"][0][0], column["bars"][-1][1]
            seen = X[column["name"]]
            assert seen.min() - 1e-9 <= low < high <= seen.max() + 1e-9
        assert [one["feature"] for one in answer(client.get("/api/importance"))["features"]]
        answer(client.post("/api/curve", json={"column": "a"}))
        row = answer(client.get("/api/example?number=1"))["row"]
        why = answer(client.post("/api/explain", json={"row": row}))
        assert why["answer"] == "yes"


def test_the_bars_are_a_histogram(client):
    columns = {one["name"]: one for one in answer(client.get("/api/model"))["columns"]}
    grams = pd.read_csv(FRUIT)["grams"].dropna()
    bars = columns["grams"]["bars"]
    assert sum(rows for _, _, rows in bars) == len(grams)
    counts, _ = np.histogram(grams, len(bars), (bars[0][0], bars[-1][1]))
    assert [rows for _, _, rows in bars] == counts.tolist()
    colours = dict(zip(columns["colour"]["values"], columns["colour"]["rows"], strict=True))
    assert colours == pd.read_csv(FRUIT)["colour"].value_counts().to_dict()


def test_examples_are_rows_of_the_data_with_their_answers(client, path):
    rows = json.loads(pd.read_csv(FRUIT).to_json(orient="records"))
    for number in (0, 7, 200):
        body = answer(client.get(f"/api/example?number={number}"))
        expected = rows[number % 200]
        assert body["answer"] == expected["fruit"]
        assert body["row"]["grams"] == expected["grams"]
    for odd in ("-1", "a", "1" * 10, "٣"):
        assert problem(client.get(f"/api/example?number={odd}"), 422)["hint"]
    with serving(path) as plain:
        answers = [answer(plain.get(f"/api/example?number={i}"))["row"] for i in range(3)]
        bodies = plain.post("/api/predict", json={"rows": answers}).json()["predictions"]
    assert [one["answer"] for one in bodies] == ["apple", "cherry", "plum"]


# ---------------------------------------------------------------------- tables of other kinds


def table(client, content, kind, query="", **headers):
    return client.post(
        f"/api/batch{query}", content=content, headers={"Content-Type": kind, **headers}
    )


def test_parquet_and_excel_get_csv(client, tmp_path):
    frame = pd.read_csv(FRUIT)
    expected = table(client, FRUIT.read_bytes(), "text/csv").text
    sink = io.BytesIO()
    frame.to_parquet(sink)
    response = table(client, sink.getvalue(), "application/vnd.apache.parquet")
    assert response.headers["content-type"].startswith("text/csv")
    assert response.text == expected
    cells = json.loads(frame.to_json(orient="values"))
    write_workbook(tmp_path / "t.xlsx", {"fruit": [list(frame), *cells]})
    response = table(client, (tmp_path / "t.xlsx").read_bytes(), EXCEL)
    assert response.headers["content-type"].startswith("text/csv")
    assert response.text == expected


def test_answers_come_in_the_form_that_is_asked_for(client):
    content = FRUIT.read_bytes()
    lines = table(client, content, "text/csv", "?novelty=true", Accept="application/x-ndjson")
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert len(rows) == 200
    assert all(0 <= row["novelty"] <= 1 for row in rows)
    told = problem(table(client, content, "text/csv", Accept="text/html"), 406)
    assert "text/csv" in told["hint"]
    assert "novelty" in problem(table(client, content, "text/csv", "?novelty=1"), 422)["detail"]


# ---------------------------------------------------------------------- lessons and drift


def test_lessons_are_judged_before_they_are_learnt(path, model, tmp_path):
    with serving(path, store=str(tmp_path / "live.db")) as client:
        first, second = lesson(1, "plum"), lesson(2, "cherry")
        for one in (first, second):
            answer(client.post("/api/learn", json={"lessons": [one], "wait": True}))
        body = answer(client.get("/api/lessons"))
        assert [one["id"] for one in body["lessons"]] == ["n2", "n1"]
        assert body["count"] == 2
        classes = model.classes_.tolist()
        expected = -math.log(model.predict_proba([first["row"]])[0][classes.index("plum")])
        assert body["lessons"][1]["log_loss"] == pytest.approx(expected, rel=1e-12)
        taught = model.with_counted(model.count_rows([first["row"]], np.array(["plum"])))
        expected = -math.log(taught.predict_proba([second["row"]])[0][classes.index("cherry")])
        assert body["lessons"][0]["log_loss"] == pytest.approx(expected, rel=1e-12)
        losses = answer(client.get("/api/watch"))["log_losses"]
        assert [one["lessons"] for one in losses] == [1, 1]
        answer(client.post("/api/forget", json={"ids": ["n2"], "wait": True}))
        assert len(answer(client.get("/api/watch"))["log_losses"]) == 1
        new = {**lesson(3), "answer": "quince"}
        answer(client.post("/api/learn", json={"lessons": [new], "new_classes": True}))
        assert answer(client.get("/api/lessons"))["lessons"][0]["log_loss"] is None


def test_drift_is_that_of_the_rows_that_were_asked(path):
    with serving(path) as client:
        before = answer(client.get("/api/watch"))
        assert (before["recent_rows"], before["drift"]) == (0, [])
        rows = [{**ROW, "colour": "green"}] * 50
        client.post("/api/predict", json={"rows": rows})
        client.post("/api/predict", json={"rows": [{"garms": 1}]})  # nobody's drift
        after = answer(client.get("/api/watch"))
        assert after["recent_rows"] == 50
        moved = {one["column"]: one for one in after["drift"]}
        assert moved["colour"]["verdict"] == "moved far"
        assert moved["colour"]["cell"] in ("green", "red")
        assert after["requests"] >= 3
        assert after["mistakes"] == 1


def test_drift_of_models_that_are_no_counts(tmp_path):
    rows = {"x": [1.0, 2.0, 3.0, 4.0] * 9, "y": ["a", "a", "b", "b"] * 9}
    BayesClassifier().fit(rows, target="y").save(tmp_path / "m.deciban")
    with serving(tmp_path / "m.deciban") as client:
        client.post("/api/predict", json={"rows": [{"x": 1.0}] * 9})
        (moved,) = answer(client.get("/api/watch"))["drift"]
        assert (moved["column"], moved["now"] > moved["before"]) == ("x", True)


# ---------------------------------------------------------------------- training


def trained(client, **asked):
    """The state of a training when it has ended."""
    answer(client.post("/api/train", json=asked), 202)
    while (state := answer(client.get("/api/training")))["stage"] not in ("done", "failed"):
        time.sleep(0.02)
    return state


def send(client, content=None, kind="text/csv", name="fruit.csv"):
    content = FRUIT.read_bytes() if content is None else content
    return client.post(
        "/api/table", params={"name": name}, content=content, headers={"Content-Type": kind}
    )


def test_a_model_is_trained_from_a_table(trainer, model, tmp_path):
    assert answer(trainer.get("/api/model"))["kind"] is None
    assert answer(trainer.get("/api/columns")) == {"table": None}
    assert answer(trainer.get("/api/training")) == {"stage": "none"}
    for early in ("/api/predict", "/api/explain"):
        body = {"rows": [ROW]} if early == "/api/predict" else {"row": ROW}
        assert "train" in problem(trainer.post(early, json=body), 409)["hint"]
    problem(trainer.get("/api/trained"), 409)
    problem(trainer.post("/api/train", json={"target": "fruit"}), 409)
    described = answer(send(trainer))
    kinds = {one["name"]: one["kind"] for one in described["columns"]}
    assert kinds["picked"] == "time"
    assert kinds["id"] == "identifier"
    assert len(described["preview"]) == 8
    state = trained(trainer, target="fruit")
    expected = evaluate(model, str(FRUIT), target="fruit", leave_one_out=True, bootstrap=0)
    assert state["stage"] == "done"
    assert state["rows"] == 200
    assert state["quality"]["log_loss"]["value"] == pytest.approx(expected.log_loss, rel=1e-9)
    file = tmp_path / "m.deciban"
    file.write_bytes(trainer.get("/api/trained").content)
    rows = [{**dict.fromkeys(model.schema_.names), "grams": 60}]
    assert load(file).predict_proba(rows).tolist() == model.predict_proba(rows).tolist()
    assert answer(trainer.get("/api/model"))["classes"] == ["apple", "cherry", "plum"]
    answer(trainer.post("/api/predict", json={"rows": [ROW]}))


@pytest.mark.parametrize("kind", ["AODE", "BayesClassifier"])
def test_other_models_are_trained_too(trainer, kind):
    send(trainer)
    state = trained(trainer, target="fruit", model=kind)
    assert state["stage"] == "done", state
    assert state["quality"]["accuracy"]["value"] > 0.85
    assert answer(trainer.get("/api/model"))["kind"] == kind


def test_trainings_that_cannot_be(trainer, path):
    problem(send(trainer, b""), 422)
    problem(send(trainer, b"PK\x03\x04"), 422)
    assert "/tmp" not in send(trainer, b"a,a\n1,2\n").text
    send(trainer)
    assert "fruit" in problem(trainer.post("/api/train", json={"target": "fruits"}), 422)["hint"]
    problem(trainer.post("/api/train", json={"target": "fruit", "model": "Oracle"}), 422)
    state = trained(trainer, target="fruit", kinds={"grams": "colour"})
    assert state["stage"] == "failed"
    assert state["problem"]["hint"]
    with serving(path) as client:
        problem(send(client), 403)
        problem(client.post("/api/train", json={"target": "fruit"}), 403)
    with serving(None, limits=Limits(table_bytes=100)) as client:
        problem(send(client), 413)


def test_one_training_at_a_time(trainer, monkeypatch):
    from threading import Event

    go = Event()
    monkeypatch.setattr("deciban.serve.training._train", lambda *_: go.wait() and 1 / 0)
    send(trainer)
    answer(trainer.post("/api/train", json={"target": "fruit"}), 202)
    problem(trainer.post("/api/train", json={"target": "fruit"}), 429)
    go.set()


def test_what_only_a_model_can_have():
    for settings, words in (
        ({"store": "live.db"}, "--learn"),
        ({"data": "rows.csv"}, "--data"),
        ({"workers": 2}, "one worker"),
    ):
        with pytest.raises(ParameterError, match=words):
            Settings(None, **settings).check()
    assert "--learn is for a model" in run("serve", FRUIT, "--learn").err
    assert "a table" in done("serve", "--help").replace("\n", " ")
