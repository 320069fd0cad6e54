"""train --group and --time: what is printed and kept, and what comes after."""

import json

import numpy as np
import pytest

from commands import run

COLUMNS = "patient,sent,a,b,y"


@pytest.fixture
def visits(tmp_path):
    """Visits that tell patients apart, and labels that belong to the patient."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 6)
    y = rng.integers(0, 2, 40)[who]
    a, b = (who * 37 % 11 + rng.normal(0, 0.1, 240)).round(2), rng.normal(0.5 * y, 1).round(2)
    rows = [
        f"p{who[i]},2024-{1 + i // 28:02d}-{1 + i % 28:02d},{a[i]},{b[i]},{['no', 'yes'][y[i]]}"
        for i in range(240)
    ]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join([COLUMNS, *rows]) + "\n")
    return path


def train(visits, *options):
    out = visits.with_suffix(".deciban")
    ended = run("train", visits, "-t", "y", "-o", out, "--json", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out), out


def test_a_model_of_groups_is_trained_evaluated_and_updated(visits):
    alone, _ = train(visits)
    facts, model = train(visits, "--group", "patient")
    assert (alone["left_out"], facts["left_out"]) == ("row", "group")
    assert facts["quality"]["log_loss"] > alone["quality"]["log_loss"] + 0.1
    assert "patient" not in facts["importance"]
    how = ("--leave-one-out", "--json", "--bootstrap", 0)
    again = json.loads(run("evaluate", model, visits, *how).out)
    assert again["log_loss"]["value"] == pytest.approx(facts["quality"]["log_loss"])
    assert run("predict", model, visits).out.count("\n") == 241
    assert run("update", model, visits).code == 0
    assert run("forget", model, visits).code == 0
    shown = run("train", visits, "-t", "y", "-o", model, "--group", "patient").out
    assert "leave-group-out, all rows" in shown


@pytest.mark.parametrize("model", ["naive", "aode", "logistic", "bayes", "auto"])
@pytest.mark.parametrize("how", [["--group", "patient"], ["--time", "sent"]], ids=" ".join)
def test_every_model_of_train_knows_groups_and_times(visits, model, how):
    facts, path = train(visits, "--model", model, *how)
    sets = run("predict", path, visits, "--coverage", 0.9, "--novelty")
    assert facts["left_out"] == how[0].strip("-")
    assert how[1] not in facts["importance"]
    alone, _ = train(visits, "--model", model if model != "auto" else "naive")
    assert facts["quality"]["log_loss"] > alone["quality"]["log_loss"]  # patients are told apart
    assert sets.code == 0, sets.err
    assert "set" in sets.out.splitlines()[0]
    assert "novelty" in sets.out.splitlines()[0]


def test_a_model_in_time(visits):
    facts, model = train(visits, "--time", "sent")
    assert facts["left_out"] == "time"
    early = visits.with_name("early.csv")
    early.write_text(f"{COLUMNS}\np1,2023-01-01,1,1,no\n")
    ended = run("update", model, early)
    assert ended.code != 0
    assert "from before rows" in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "patent"], "there is no column 'patent'. Hint: perhaps 'patient'"),
        (["--group", "patient", "--time", "sent"], "got both"),
        (["--time", "patient"], "dates or timestamps"),
    ],
)
def test_mistakes_are_explained(visits, options, message):
    ended = run("train", visits, "-t", "y", "-o", visits.with_suffix(".deciban"), *options)
    assert ended.code != 0
    assert message in ended.err


def test_copies_of_rows_are_found(visits):
    twice = visits.with_name("twice.csv")
    header, *rows = visits.read_text().splitlines()
    twice.write_text("\n".join([header, *rows, *rows]) + "\n")
    facts, model = train(twice, "--group", "auto", "--kind", "patient=identifier")
    assert facts["left_out"] == "group"
    assert run("update", model, visits).code == 0
