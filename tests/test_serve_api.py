"""The API: answers are those of Python, mistakes are problems with a hint."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from commands import FRUIT, done
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, evaluate
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.serve.app import API_PATHS
from deciban.serve.settings import Limits
from serving import ROW, answer, fruit_fixtures, problem, serving

TABLE_KINDS = (NaiveBayes, AODE, BayesClassifier)
KINDS = (
    *TABLE_KINDS, LogisticRegression, BernoulliNB, CategoricalNB, ComplementNB, GaussianNB,
    MultinomialNB,
)  # fmt: skip


path, model, client = fruit_fixtures()


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_answers_as_python_does(kind, tmp_path):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, "yes", "no")
    X = pd.DataFrame({"a": rng.poisson(1 + 3 * (y == "yes")), "b": rng.poisson(3, 60)})
    model = kind().fit(X.assign(y=y), target="y") if kind in TABLE_KINDS else kind().fit(X, y)
    model.save(tmp_path / "m.deciban")
    rows = [{"a": 1, "b": 2}, {"a": 5, "b": 0}, {"a": 0, "b": 3}]
    with serving(tmp_path / "m.deciban") as client:
        body = answer(client.post("/api/predict", json={"rows": rows}))
        why = client.post("/api/explain", json={"row": rows[0]})
    expected = model.predict_proba(pd.DataFrame(rows))
    got = [list(p["probabilities"].values()) for p in body["predictions"]]
    assert got == expected.tolist()  # to the last bit
    assert [p["answer"] for p in body["predictions"]] == model.predict(pd.DataFrame(rows)).tolist()
    assert answer(why)["classes"] == ["no", "yes"]


def test_one_row_and_many(client, model):
    rows = pd.read_csv(FRUIT).drop(columns="fruit")
    asked = json.loads(rows.to_json(orient="records"))
    many = answer(client.post("/api/predict", json={"rows": asked}))["predictions"]
    assert [list(p["probabilities"].values()) for p in many] == model.predict_proba(asked).tolist()
    for row, prediction in list(zip(asked, many, strict=True))[:5]:
        one = answer(client.post("/api/predict", json={"rows": [row]}))["predictions"]
        assert list(one[0]["probabilities"].values()) == model.predict_proba([row])[0].tolist()
        assert one[0]["answer"] == prediction["answer"]


def test_one_row_goes_a_shorter_way_to_the_same_answer(tmp_path):
    """Rows one by one and as a table: equal to the last bit, also with odd or missing values."""
    rng = np.random.default_rng(3)
    n = 300
    X = {
        "n": rng.normal(size=n).round(2).tolist(), "k": rng.poisson(2, n).tolist(),
        "s": rng.choice(["S", "M", "L"], n).tolist(), "b": rng.choice([True, False], n).tolist(),
        "one": ["same"] * n, "y": rng.choice(["a", "b", "c"], n).tolist(),
    }  # fmt: skip
    model = NaiveBayes().fit(X, target="y")
    model.save(tmp_path / "m.deciban")
    choices = {
        "n": [0.5, None, -3, "1.5", "odd", 10**30], "k": [0, 3, None, True, 2.5],
        "s": ["S", "XL", None, "", 3], "b": [True, False, None, "true"],
        "one": ["same", "other", None],
    }  # fmt: skip
    rows = [
        {
            name: some[rng.integers(len(some))]
            for name, some in choices.items()
            if rng.random() < 0.8
        }
        for _ in range(150)
    ]
    with serving(tmp_path / "m.deciban") as client:
        for row in rows:
            (one,) = answer(client.post("/api/predict", json={"rows": [row]}))["predictions"]
            two = answer(client.post("/api/predict", json={"rows": [row, row]}))["predictions"]
            assert [one, one] == two, row


def test_values_are_cast_and_what_was_never_seen_is_named(client):
    odd = {**ROW, "grams": "heavy", "colour": "octarine"}
    body = answer(client.post("/api/predict", json={"rows": [odd]}))
    assert body["unseen"] == {
        "grams": {"count": 1, "examples": ["heavy"], "reason": "not a number"},
        "colour": {"count": 1, "examples": ["octarine"], "reason": "never seen"},
    }
    plain = answer(client.post("/api/predict", json={"rows": [ROW]}))
    assert "unseen" not in plain
    cast = answer(client.post("/api/predict", json={"rows": [{**ROW, "grams": "62.5"}]}))
    assert cast == plain


def test_what_a_row_leaves_out_is_missing(client, model):
    short = {"grams": 62}
    whole = dict.fromkeys(model.schema_.names) | short
    bodies = [client.post("/api/predict", json={"rows": [row]}).json() for row in (short, whole)]
    assert bodies[0] == bodies[1]


def test_loss_abstention_and_priors(client, model):
    rows = [ROW, {"grams": 62}]
    classes = model.classes_.tolist()
    loss = {classes[0]: {classes[1]: 50}}
    body = answer(client.post("/api/predict", json={"rows": rows, "loss": loss, "abstain": 0.05}))
    expected = model.decide(
        [rows[0], dict.fromkeys(model.schema_.names) | rows[1]],
        {(classes[0], classes[1]): 50},
        0.05,
    )
    assert [p["answer"] for p in body["predictions"]] == expected.tolist()
    matrix = [[0 if i == j else 7 for j in classes] for i in classes]
    assert answer(client.post("/api/predict", json={"rows": rows, "loss": matrix}))
    priors = {name: 1.0 if name == classes[1] else 0.0 for name in classes}
    body = answer(client.post("/api/predict", json={"rows": rows, "priors": priors}))
    assert {p["answer"] for p in body["predictions"]} == {classes[1]}
    wrong = client.post("/api/predict", json={"rows": rows, "priors": {classes[0]: 1.0}})
    assert problem(wrong, 422)["detail"] == f"priors has no rate for {classes[1]!r}."


def test_explain_is_what_the_explanation_says(client, model):
    classes = model.classes_.tolist()
    body = answer(client.post("/api/explain", json={"row": ROW, "against": classes[-1]}))
    assert body == json.loads(model.explain(ROW, classes[-1]).to_json())
    novel = answer(client.post("/api/explain", json={"row": ROW, "novelty": True}))
    assert novel["novelty"] == model.explain(ROW, novelty=True).novelty


def test_counterfactual(client, model):
    target = next(c for c in model.classes_.tolist() if c != model.explain(ROW).answer)
    asked = {"row": ROW, "target": target, "fixed": ["grams"]}
    body = answer(client.post("/api/counterfactual", json=asked))["counterfactual"]
    expected = model.counterfactual(ROW, target, ["grams"])
    assert body["new_answer"] == target
    assert [(c["feature"], c["decibans"]) for c in body["changes"]] == [
        (c.feature, c.decibans) for c in expected.changes
    ]
    asked = {"row": ROW, "fixed": list(model.schema_.names)}
    assert answer(client.post("/api/counterfactual", json=asked)) == {"counterfactual": None}


def test_evaluate_on_rows_and_on_the_data_of_the_service(client, model):
    rows = json.loads(pd.read_csv(FRUIT).to_json(orient="records"))
    expected = evaluate(model, str(FRUIT), target="fruit", bootstrap=50).to_dict()
    for asked in ({"bootstrap": 50}, {"bootstrap": 50, "rows": rows}):
        assert answer(client.post("/api/evaluate", json=asked)) == expected


def test_evaluate_without_rows(path):
    with serving(path) as client:
        body = problem(client.post("/api/evaluate", json={}), 422)
    assert body["detail"] == "there are no labelled rows."


def test_the_model_is_described(client, model):
    body = answer(client.get("/api/model"))
    assert body["classes"] == model.classes_.tolist()
    assert [column["name"] for column in body["columns"]] == list(model.schema_.names)
    colours = next(c for c in body["columns"] if c["name"] == "colour")["values"]
    assert "red" in colours
    assert (body["learns"], body["lessons"], body["language"]) == (False, 0, "en")


def test_texts_alone(tmp_path):
    texts = ["win a free prize now", "see you at the meeting", "free money", "lunch at noon?"] * 9
    model = NaiveBayes(kinds={"text": "text"})
    model.fit({"text": texts, "y": ["spam", "ham"] * 18}, target="y")
    model.save(tmp_path / "m.deciban")
    with serving(tmp_path / "m.deciban") as client:
        asked = ["a free lunch", {"text": "a free lunch"}, {"text": None}]
        body = answer(client.post("/api/predict", json={"rows": asked[:2]}))
        first, second = (list(p["probabilities"].values()) for p in body["predictions"])
        assert first == second == model.predict_proba(["a free lunch"])[0].tolist()
        *_, nothing = answer(client.post("/api/predict", json={"rows": asked}))["predictions"]
        for row in ({"text": None}, {}):  # one row alone takes another way
            assert answer(client.post("/api/predict", json={"rows": [row]})) == {
                "predictions": [nothing]
            }
        parts = answer(client.post("/api/explain", json={"row": "a free lunch"}))["terms"]
    assert [part["text"] for part in parts[0]["parts"]] == ["free", "lunch"]


def test_classes_that_are_numbers(tmp_path):
    model = NaiveBayes().fit({"x": ["S", "S", "L", "L"], "y": [0, 0, 1, 1]}, target="y")
    model.save(tmp_path / "m.deciban")
    with serving(tmp_path / "m.deciban") as client:
        asked = {"rows": [{"x": "S"}], "priors": {"0": 0.5, "1": 0.5}, "loss": {"1": {"0": 9}}}
        (one,) = answer(client.post("/api/predict", json=asked))["predictions"]
        assert (one["answer"], set(one["probabilities"])) == (0, {"0", "1"})
        why = answer(client.post("/api/explain", json={"row": {"x": "S"}, "against": 1}))
        assert why["runner_up"] == 1


# ---------------------------------------------------------------------- tables


def csv(client, content, query="", **headers):
    return client.post(
        f"/api/batch{query}", content=content, headers={"Content-Type": "text/csv"} | headers
    )


def test_a_table_of_csv_gets_what_predict_writes(client, path, tmp_path):
    content = FRUIT.read_bytes()
    expected = done("predict", path, FRUIT, "--digits", "17", "--quiet")
    response = csv(client, content)
    assert response.text == expected
    assert response.headers["content-type"].startswith("text/csv")
    kept = done("predict", path, FRUIT, "--digits", "17", "--quiet", "--keep", "--evidence")
    assert csv(client, content, "?keep=*&evidence=true").text == kept
    assert csv(client, gzip.compress(content), **{"Content-Encoding": "gzip"}).text == expected


def test_json_lines_and_arrow(client, model):
    rows = pd.read_csv(FRUIT).drop(columns="fruit").head(20)
    lines = rows.to_json(orient="records", lines=True)
    kind = {"Content-Type": "application/x-ndjson"}
    response = client.post("/api/batch?keep=colour", content=lines, headers=kind)
    written = [json.loads(line) for line in response.text.splitlines()]
    expected = model.predict_proba(json.loads(rows.to_json(orient="records")))
    assert [list(row.values())[2:] for row in written] == expected.tolist()
    assert [row["colour"] for row in written] == rows["colour"].tolist()

    sink = io.BytesIO()
    table = pa.Table.from_pandas(rows, preserve_index=False)
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    response = client.post("/api/batch?keep=grams", content=sink.getvalue(), headers=kind)
    assert response.headers["content-type"] == kind["Content-Type"]
    answers = pa.ipc.open_stream(response.content).read_all()
    assert (
        answers.column("grams").to_pylist()
        == rows["grams"].astype(object).where(rows["grams"].notna(), None).tolist()
    )
    assert answers.column("prediction").to_pylist() == [row["prediction"] for row in written]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"colour\nred\n", 422),
        (b"\x00\xff\xfe,\n1", 422),
        (b"PK\x03\x04 is a zip", 422),
        (b"grams,colour,ripe,picked\n", 200),
    ],
)
def test_tables_that_are_none(client, content, status):
    response = csv(client, content)
    assert response.status_code == status
    assert "/tmp" not in response.text
    if status != 200:
        assert problem(response, status)["detail"]


def test_options_of_tables_are_checked(client):
    content = FRUIT.read_bytes()
    assert "kep" in problem(csv(client, content, "?kep=a"), 422)["detail"]
    assert "evidence" in problem(csv(client, content, "?evidence=2"), 422)["detail"]
    assert "colou" in problem(csv(client, content, "?keep=colou"), 422)["detail"]
    assert problem(client.post("/api/batch", content=content), 415)


# ---------------------------------------------------------------------- mistakes


BAD_BODIES = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 422),
    (b"null", 422),
    (b'{"rows": 3}', 422),
    (b'{"rows": []}', 422),
    (b'{"rows": [3]}', 422),
    (b'{"rows": [{"grams": NaN}]}', 400),
    (b'{"rows": [{"grams": 1e999}]}', 422),
    (b'{"rows": [{"grams": ' + b"9" * 400 + b"}]}", 422),
    (b'{"rows": [{"grams": ' + b"9" * 5000 + b"}]}", 422),
    (b'{"rows": [{"grams": {"a": 1}}]}', 422),
    (b'{"rows": [{"grams": [[1]]}]}', 422),
    (b'{"rows": [{"garms": 1}]}', 422),
    (b'{"rows": [{"grams": 1}], "sql": "x"}', 422),
    (b'{"rows": [{"grams": 1}], "abstain": -1}', 422),
    (b'{"rows": [{"grams": 1}], "loss": [[0]]}', 422),
    (b'{"rows": [{"grams": 1}], "loss": {"plum": {"pear!": 1}}}', 422),
    (b'{"rows": [{"grams": 1}], "priors": {"nothing": 1}}', 422),
    (b'{"rows": [{"colour": "\\ud800"}]}', 400),
    (b'{"rows": [{"colour": "\xff"}]}', 400),
    (b'{"rows": ' + b"[" * 100_000, 422),
    (b'{"rows": [' + b'{"a":' * 100_000, 422),
    (b'{"rows": ["a text alone"]}', 422),
]


@pytest.mark.parametrize(("body", "status"), BAD_BODIES, ids=lambda value: str(value)[:40])
def test_mistakes_are_the_callers(client, body, status):
    kind = {"Content-Type": "application/json"}
    told = problem(client.post("/api/predict", content=body, headers=kind), status)
    assert told["title"]
    assert told["detail"]


def test_a_wrong_name_gets_the_librarys_hint(client):
    told = problem(client.post("/api/predict", json={"rows": [{"garms": 1}]}), 422)
    assert "garms" in told["detail"]
    assert "grams" in told["hint"]


def test_paths_and_methods_that_are_not_there(client):
    for path in ("/nothing", "/api", "/api/predict/", "/static/../app.py", "/static/%2e%2e/app.py"):
        problem(client.get(path), 404)
    problem(client.get("/api/predict"), 405)
    problem(client.delete("/api/model"), 405)


def test_other_types_of_content(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        told = client.post("/api/predict", content=b"{}", headers={"Content-Type": kind})
        assert "application/json" in problem(told, 415)["hint"]
    odd = {"Content-Type": "application/json", "Content-Encoding": "br"}
    problem(client.post("/api/predict", content=b"{}", headers=odd), 415)
    odd["Content-Encoding"] = "gzip"
    problem(client.post("/api/predict", content=b"no gzip", headers=odd), 400)
    body = gzip.compress(json.dumps({"rows": [ROW]}).encode())
    assert client.post("/api/predict", content=body, headers=odd).status_code == 200
    told = problem(client.post("/api/predict", content=body[:-9], headers=odd), 400)
    assert "ends too early" in told["detail"]


def test_texts_in_other_characters(client):
    content = "grams,colour,ripe,picked\n62.5,rød,,\n".encode("latin-1")
    odd = csv(client, content, "?keep=colour", **{"Content-Type": "text/csv; charset=latin-1"})
    assert odd.text.splitlines()[1].startswith("rød,")
    kind = {"Content-Type": "text/csv; charset=nothing"}
    assert "nothing" in problem(csv(client, content, **kind), 422)["detail"]


def test_a_service_that_does_not_learn(client):
    told = problem(client.post("/api/learn", json={"lessons": []}), 403)
    assert "--learn" in told["hint"]
    problem(client.post("/api/forget", json={"ids": ["a"]}), 403)


async def blanks():
    for _ in range(100):
        yield b" " * 100


def test_limits(path):
    limits = Limits(body_bytes=2000, batch_bytes=3000, rows=3)
    with serving(path, limits=limits) as client:
        told = problem(client.post("/api/predict", json={"rows": [ROW] * 4}), 413)
        assert "4 rows, more than 3" in told["detail"]
        problem(client.post("/api/predict", json={"rows": [ROW] * 100}), 413)
        in_pieces = {"Content-Type": "application/json"}  # which say no length
        problem(client.post("/api/predict", content=blanks(), headers=in_pieces), 413)
        packed = gzip.compress(b" " * 50_000_000)
        assert len(packed) > 2000
        bomb = gzip.compress(packed)  # fifty megabytes in a few hundred bytes
        assert len(bomb) < 2000
        kind = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        problem(client.post("/api/predict", content=bomb, headers=kind), 413)
        problem(csv(client, FRUIT.read_bytes()), 413)


# ---------------------------------------------------------------------- the service


def test_every_path_is_described(client):
    document = answer(client.get("/api/openapi.json"))
    assert document["openapi"] == "3.1.0"
    described = {(path, method.upper()) for path, of in document["paths"].items() for method in of}
    assert described == {(path, method) for path, (method, _) in API_PATHS.items()}


def test_counters(path):
    with serving(path) as client:
        client.post("/api/predict", json={"rows": [ROW] * 3})
        client.post("/api/predict", json={"rows": []})
        client.get("/nothing")
        text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['deciban_requests_total{path="/api/predict",status="2xx"}'] == "1"
    assert lines['deciban_requests_total{path="/api/predict",status="4xx"}'] == "1"
    assert lines['deciban_requests_total{path="other",status="4xx"}'] == "1"
    assert lines['deciban_request_seconds_count{path="/api/predict"}'] == "2"
    assert lines["deciban_rows_total"] == "3"


def test_a_bug_is_no_traceback(path, monkeypatch, capsys):
    monkeypatch.setattr("deciban.serve.answers.Answers.predict", lambda *_: 1 / 0)
    with serving(path) as client:
        told = problem(client.post("/api/predict", json={"rows": [ROW]}), 500)
    assert "division" not in json.dumps(told)
    assert "ZeroDivisionError: division by zero" in capsys.readouterr().err
