"""The page in a real browser, by clicks, keys and files: what it shows is what Python says."""

import io
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest

import browser
import serving
from browser import expect
from commands import FRUIT, done
from deciban import NaiveBayes, load
from deciban.serve import pages
from deciban.serve.app import API_PATHS
from workbooks import write_workbook

TOKEN = "0123456789abcdef0123456789abcdef"
STATIC = Path(pages.__file__).parent / "static"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return serving.fruit_model(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as opened:
        yield opened


@pytest.fixture(scope="module")
def url(path):
    with serving.started(path, "--learn", "--data", FRUIT) as (_, url):
        yield url


class Visit(browser.Visit):
    """A page of a service; leaving it checks that nothing went wrong or left the machine."""

    def __init__(self, chromium, url, part="", **settings):
        super().__init__(chromium, f"{url}{part}", **settings)
        expect(self.at("[aria-busy]")).to_have_count(0)  # the page is built
        self._host = urlsplit(url).netloc

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert {urlsplit(asked).netloc for asked in self.requests} <= {self._host, ""}
            assert self.complaints == []  # the policy of contents complains there, too
        self.page.close()

    def at(self, selector, **how):
        return self.page.locator(selector, **how)

    def shown(self, row):
        """Wait until the page shows what the model makes of a row."""
        self.page.wait_for_function(
            "row => document.getElementById('view-row').dataset.shown === row",
            arg=json.dumps(row, separators=(",", ":"), ensure_ascii=False),
        )

    def decided(self):
        return self.at("#decision strong").inner_text()


def percent(p):
    return "> 99.9 %" if 0.9995 < p < 1 else f"{100 * p:.1f} %"


# ---------------------------------------------------------------------- one row


def test_a_row_is_answered_while_it_is_set(path, url, chromium):
    with Visit(chromium, url) as visit:
        visit.at("#row [name=colour]").select_option(value="0")
        colour = visit.at("#row [name=colour] option:checked").inner_text()
        assert re.fullmatch(r"\w+ \(\d+\.\d %\)", colour)
        visit.at("#row [name=grams]").fill("20")
        visit.at("#row [name=picked]").fill("2025-06-10")
        visit.at(".switch").get_by_text("yes", exact=True).click()
        row = {"colour": colour.split()[0], "grams": 20, "picked": "2025-06-10", "ripe": True}
        visit.shown(row)
        why = load(path).explain(row)
        expect(visit.at("#posterior tr").first).to_contain_text(percent(why.probability))
        expect(visit.at("#evidence tr.total")).to_contain_text(f"+{why.total:.1f}")
        lines = visit.at("#evidence tr").all_inner_texts()
        for term in why.terms:
            if abs(term.decibans) > 0.05:
                (line,) = (line for line in lines if line.startswith(f"{term.feature} ="))
                assert f"{abs(term.decibans):.1f}" in line
        expect(visit.at("#row .control")).to_have_count(4)  # an identifier needs no control


def test_a_slider_moves_by_keys_and_empties(url, chromium):
    with Visit(chromium, url) as visit:
        visit.at("#row input[type=range]").focus()
        visit.page.keyboard.press("End")
        most = visit.at("#row [name=grams]").input_value()
        visit.shown({"grams": float(most)})
        expect(visit.at(".histogram rect.here")).to_have_count(1)
        visit.page.keyboard.press("ArrowLeft")
        assert float(visit.at("#row [name=grams]").input_value()) < float(most)
        visit.at(".clear").first.click()
        visit.shown({})
        expect(visit.at(".histogram rect.here")).to_have_count(0)


def test_base_rates_costs_and_abstaining_move_the_decision_alone(path, url, chromium):
    model = load(path)
    row = {"colour": "red", "grams": 60}
    link = f"#row?{json.dumps({'row': row})}"
    with Visit(chromium, url, link) as visit:
        visit.shown(row)
        evidence = visit.at("#evidence").inner_text()
        visit.at("summary").click()
        rare = model.classes_.tolist().index(visit.decided())
        slider = visit.at(".rate input").nth(rare)
        slider.focus()
        visit.page.keyboard.press("Home")
        p = model.predict_proba([{**dict.fromkeys(model.schema_.names), **row}])[0]
        p[rare] = 0
        order = p.argsort()[::-1]
        expect(visit.at("#decision strong")).to_have_text(model.classes_[order[0]])
        expect(visit.at("#posterior tr").first).to_contain_text(percent(p[order[0]] / p.sum()))
        visit.at("#decision-controls button").click()
        visit.at("#abstain").fill("0.000001")
        expect(visit.at("#decision strong")).to_have_text("no answer")
        visit.at("#abstain").fill("")
        asked = dict.fromkeys(model.schema_.names) | row
        for answer, truth in (("apple", "cherry"), ("cherry", "apple"), ("cherry", "plum")):
            cell = visit.page.get_by_label(f"Cost of answering {answer} where {truth} is true")
            cell.fill("30")
            expect(visit.at("#decision strong")).to_have_text(
                model.decide([asked], {(answer, truth): 30})[0]
            )
            cell.fill("")
        expect(visit.at("#evidence")).to_have_text(evidence, use_inner_text=True)


def test_a_counterfactual_is_applied_by_a_click(path, url, chromium):
    row = {"colour": "red", "grams": 60}
    with Visit(chromium, url, f"#row?{json.dumps({'row': row})}") as visit:
        visit.shown(row)
        before = visit.decided()
        visit.at("#wanted").select_option(label="apple" if before != "apple" else "plum")
        wanted = visit.at("#wanted option:checked").inner_text()
        visit.at("#becomes", has_text=wanted).wait_for()
        other = load(path).counterfactual(row, wanted)
        for change in other.changes:
            line = visit.at("#changes li", has_text=change.feature)
            line.locator("button").click()
            line.wait_for(state="detached")
        visit.at("#decision strong", has_text=wanted).wait_for()


def test_the_fragment_is_the_state_and_never_leaves(url, chromium):
    with Visit(chromium, url) as visit:
        visit.at("#row [name=grams]").fill("77")
        visit.shown({"grams": 77})
        visit.page.wait_for_function("() => location.hash.includes('77')")
        link = visit.page.evaluate("location.href")
        assert json.loads(unquote(urlsplit(link).fragment).partition("?")[2]) == {
            "row": {"grams": 77}
        }
        # the port of the server may have any digits
        assert not any("77" in asked.removeprefix(url) for asked in visit.requests)
    with Visit(chromium, link) as visit:
        visit.shown({"grams": 77})
        expect(visit.at("#row [name=grams]")).to_have_value("77")
    for odd in ("#row?%7B", "#row?[1]", "#row?null", '#row?{"row":{"x":1},"priors":3}', "#nothing"):
        with Visit(chromium, url, odd) as visit:
            visit.shown({})


def test_example_rows_come_with_their_answers(url, chromium):
    with Visit(chromium, url) as visit:
        visit.at("#example").click()
        visit.at("#truth", has_text="The true answer of this row is cherry.").wait_for()
        visit.at("#row [name=picked]").evaluate("box => box.value === '2025-06-21'")
        visit.at("#clear-row").click()
        visit.shown({})


def test_words_of_a_text_are_marked_in_place(chromium, tmp_path):
    from deciban import NaiveBayes

    texts = ["win a free prize now", "see you at the meeting", "free money", "lunch at noon?"] * 9
    model = NaiveBayes(kinds={"text": "text"})
    model.fit({"text": texts, "y": ["spam", "ham"] * 18}, target="y").save(tmp_path / "m.deciban")
    with (
        serving.started(tmp_path / "m.deciban") as (_, url),
        Visit(chromium, url) as visit,
    ):
        text = "🍒 a free lunch"  # a letter of two units in JavaScript
        visit.at("textarea").fill(text)
        visit.shown({"text": text})
        expect(visit.at("mark")).to_have_text(["free", "lunch"])
        expect(visit.at("mark").first).to_have_class(re.compile("for"))
        expect(visit.at(".behind")).to_have_text(text)
        visit.at("#changes button").first.click()
        visit.at("mark", has_text="free").wait_for(state="detached")
        visit.page.goto(f"{url}#model")
        visit.at("#words h3", has_text="spam").wait_for()
        strongest = model.words("spam", 15)[0].value
        spam = visit.at(".words", has=visit.at("h3", has_text="spam"))
        expect(spam.locator("tr").first).to_contain_text(strongest)


# ---------------------------------------------------------------------- many rows


def test_a_dropped_file_is_answered_sorted_and_given_back(path, url, chromium):
    with Visit(chromium, url, "#rows") as visit:
        handle = visit.page.evaluate_handle(
            """text => { const data = new DataTransfer();
            data.items.add(new File([text], "fruit.csv")); return data; }""",
            FRUIT.read_text(encoding="utf-8"),
        )
        visit.at("#rows-drop").dispatch_event("drop", {"dataTransfer": handle})
        lines = visit.at("#rows-table tbody tr")
        lines.first.wait_for()
        expect(visit.at("#rows-state")).to_contain_text("200 rows")
        unsure = [float(text.split("\t")[2].strip("<> %")) for text in lines.all_inner_texts()]
        assert unsure[0] < 65
        assert unsure[-1] > 99
        visit.at("#order").select_option("surprising")
        surprise = [float(text.split("\t")[4].strip("<> %")) for text in lines.all_inner_texts()]
        assert surprise == sorted(surprise, reverse=True)
        visit.at("#order").select_option("order")
        assert lines.first.inner_text().split("\t")[0] == "1"
        with visit.page.expect_download() as download:
            visit.at("#rows-download").click()
        assert download.value.suggested_filename == "fruit.predictions.csv"
        expected = done("predict", path, FRUIT, "--digits", "17", "--quiet", "--keep")
        assert Path(download.value.path()).read_text(encoding="utf-8") == expected
        lines.first.locator("button").click()
        visit.shown({"colour": "red", "ripe": False, "picked": "2025-06-21"})
        expect(visit.at("#truth")).to_contain_text("cherry")


def test_a_workbook_is_answered_as_the_same_table_in_csv(path, url, chromium, tmp_path):
    cells = json.loads(pd.read_csv(FRUIT).to_json(orient="values"))
    names = FRUIT.read_text(encoding="utf-8").splitlines()[0].split(",")
    write_workbook(tmp_path / "fruit.xlsx", {"fruit": [names, *cells]})
    with Visit(chromium, url, "#rows") as visit:
        visit.at("#rows-file").set_input_files(tmp_path / "fruit.xlsx")
        expect(visit.at("#rows-state")).to_contain_text("200 rows")
        with visit.page.expect_download() as download:
            visit.at("#rows-download").click()
        assert download.value.suggested_filename == "fruit.predictions.csv"
        given = pd.read_csv(download.value.path())
    expected = done("predict", path, FRUIT, "--digits", "17", "--quiet", "--keep")
    assert given["prediction"].tolist() == pd.read_csv(io.StringIO(expected))["prediction"].tolist()


def test_a_file_that_is_no_table_is_complained_about(url, chromium, tmp_path):
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b\n1,2\n", encoding="utf-8")
    visit = Visit(chromium, url, "#rows")
    visit.at("#rows-file").set_input_files(odd)
    visit.at("#problem", has_text="there is no column").wait_for()
    visit.page.close()


# ---------------------------------------------------------------------- the model


def test_the_model_shows_its_figures(path, url, chromium):
    model = load(path)
    with Visit(chromium, url, "#model") as visit:
        visit.at("#quality .confusion").wait_for()
        first = visit.at("#importance tr").first.inner_text()
        strongest = model.importance()[0]
        assert first.split("\t")[:2] == [strongest.feature, f"+{strongest.decibans:.1f}"]
        visit.at("#importance button", has_text="grams").click()
        visit.at("#curve svg[aria-label*=grams] .band").first.wait_for()
        visit.at("#curve svg").hover()
        expect(visit.at("#curve .told")).to_contain_text(re.compile(r"apple [+−]\d"))
        visit.at("#curve-of").select_option("colour")
        visit.at("#curve table").wait_for()
        diagonal = sum(
            int(text.replace(",", "")) for text in visit.at(".cell.right").all_inner_texts()
        )
        accuracy = visit.at("#quality tr", has_text="accuracy").inner_text().split("\t")[1]
        assert accuracy == percent(diagonal / 200)
        assert visit.at("#quality svg circle").count() > 2


def test_the_nomogram_answers_keys_and_pointer(path, url, chromium):
    sheet = load(path).nomogram()
    with Visit(chromium, url, '#row?{"row":{"colour":"red"}}') as visit:
        visit.shown({"colour": "red"})
        visit.page.goto(f"{url}#model")
        total = visit.at("#nomogram-total")
        total.wait_for()
        points = sheet.total({"colour": "red"})
        probability = percent(sheet.probability(points))
        expect(total).to_have_text(f"{points:.0f} points: {sheet.of} {probability}")
        scale = visit.at(".scale[aria-label=grams]")
        scale.focus()
        visit.page.keyboard.press("ArrowRight")
        (grams,) = (one for one in sheet.scales if one.name == "grams")
        for_first = sheet.total({"colour": "red", "grams": grams.values[0]})
        expect(total).to_contain_text(f"{for_first:.0f} points")
        scale.click(position={"x": 12, "y": 8})
        least = for_first - grams.points[0] + grams.points.min()
        expect(total).to_contain_text(f"{least:.0f} points")
        visit.page.keyboard.press("Delete")
        expect(total).to_contain_text(f"{points:.0f} points")


def test_the_nomogram_names_weekdays_and_knows_those_of_the_row(chromium, tmp_path):
    times = pd.date_range("2024-01-01", periods=400, freq="7h")
    answers = ["rest" if time.isoweekday() > 5 else "work" for time in times]
    model = NaiveBayes().fit({"when": times, "y": answers}, target="y")
    model.save(tmp_path / "m.deciban")
    row = {"when": "2024-01-06T13:00:00"}
    with (
        serving.started(tmp_path / "m.deciban") as (_, url),
        Visit(chromium, url, "#row?" + json.dumps({"row": row})) as visit,
    ):
        visit.page.goto(f"{url}#model")
        scale = visit.at('.scale[aria-label="when (weekday)"]')
        expect(scale).to_have_attribute("aria-valuetext", re.compile(r"^Sat: \d+$"))
        named = [text.text_content() for text in scale.locator("text").all()]
        assert set(named) <= {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
        parts = {"when (weekday)": 5, "when (hour)": 13}
        points = model.nomogram().total({"when": pd.Timestamp(row["when"]), **parts})
        expect(visit.at("#nomogram-total")).to_contain_text(f"{points:.0f} points")


# ---------------------------------------------------------------------- teach and watch


def test_teaching_and_taking_back(path, chromium, tmp_path):
    with (
        serving.started(path, "--learn", "--store", tmp_path / "live.db") as (_, url),
        Visit(chromium, url, '#row?{"row":{"colour":"red","grams":60}}') as visit,
    ):
        visit.shown({"colour": "red", "grams": 60})
        visit.at("#teach-this").click()
        expect(visit.at("#teach-row")).to_have_text("colour = red, grams = 60")
        visit.at("#teach-answers button", has_text="plum").click()
        visit.at("#taught h3", has_text="Learnt: plum").wait_for()
        visit.at("#lesson-count", has_text="1 lesson").wait_for()
        expect(visit.at("#about")).to_contain_text("201 rows")
        visit.at("#new-class").fill("<b>quince</b>")
        visit.at("#teach-new button").click()
        visit.at("#teach-answers button", has_text="<b>quince</b>").wait_for()
        visit.at("#lesson-count", has_text="2 lessons").wait_for()
        for left in ("1 lesson", "0 lessons"):
            visit.at("#lessons button").first.click()
            visit.at("#lesson-count", has_text=left).wait_for()
        visit.at("#teach-answers button", has_text="quince").wait_for(state="detached")
        visit.page.goto(f"{url}#watch")
        visit.at("#losses .note").wait_for()  # what was taken back is not judged either


def test_watching(path, chromium, tmp_path):
    with (
        serving.started(path, "--learn", "--store", tmp_path / "live.db") as (_, url),
        Visit(chromium, url, "#watch") as visit,
    ):
        visit.at("#drift-note", has_text="0 rows").wait_for()
        ask = """([path, body]) => fetch(path, {method: "POST", body: JSON.stringify(body),
            headers: {"Content-Type": "application/json"}}).then(answer => answer.json())"""
        rows = [{**serving.ROW, "colour": "green"}] * 60
        visit.page.evaluate(ask, ["/api/predict", {"rows": rows}])
        lessons = [serving.lesson(i) for i in range(3)]
        visit.page.evaluate(ask, ["/api/learn", {"lessons": lessons, "wait": True}])
        visit.at("#drift tr", has_text="colour").wait_for()
        expect(visit.at("#drift tr", has_text="colour")).to_contain_text("moved far")
        visit.at("#losses circle").first.wait_for()
        visit.at("#watch-rates svg").wait_for()
        expect(visit.at(".tile", has_text="rows").last).to_contain_text("63")  # asked and taught


# ---------------------------------------------------------------------- without a model


def test_a_model_is_trained_on_the_page(chromium, tmp_path):
    with serving.started(None) as (_, url), Visit(chromium, url) as visit:
        visit.at("#train-file").set_input_files(FRUIT)
        visit.at("#train-columns select[name=ripe]").wait_for()
        expect(visit.at("#train-target")).to_have_value("fruit")
        expect(visit.at("#train-columns tr", has_text="id").first).to_contain_text("row number")
        visit.at("#train-columns select[name=ripe]").select_option("identifier")
        visit.at("#train-start").click()
        visit.at("#train-done .confusion").wait_for()
        accuracy = visit.at("#train-quality tr", has_text="accuracy").inner_text()
        assert float(accuracy.split("\t")[1].split()[0]) > 90
        with visit.page.expect_download() as download:
            visit.at("#train-download").click()
        assert download.value.suggested_filename == "fruit.deciban"
        download.value.save_as(tmp_path / "fruit.deciban")
        model = load(tmp_path / "fruit.deciban")
        assert model.target_ == "fruit"
        visit.at("#open-trained").click()
        visit.at("#row [name=grams]").fill("60")
        visit.shown({"grams": 60})
        expect(visit.at("#row .control")).to_have_count(3)
        why = model.explain({"grams": 60})
        expect(visit.at("#posterior tr").first).to_contain_text(percent(why.probability))


def test_a_table_named_on_the_command_line(chromium):
    with serving.started(FRUIT) as (_, url), Visit(chromium, url) as visit:
        visit.at("#train-name", has_text="fruit.csv").wait_for()
        expect(visit.at("#train-target")).to_have_value("fruit")


# ---------------------------------------------------------------------- for everybody


def test_nothing_a_file_says_is_markup(chromium, tmp_path):
    """Column names, values, labels and file names stay text wherever they are shown."""
    evil = "<script>window.evil=1</script><img src=x onerror=window.evil=1>"
    table = tmp_path / "evil.csv"
    lines = [f'"{evil} {i % 3}",{i % 7},"{evil} {"no" if i % 3 else "yes"}"' for i in range(60)]
    table.write_text("\n".join([f'"{evil}",n,"{evil} y"', *lines]), encoding="utf-8")
    with serving.started(None) as (_, url), Visit(chromium, url) as visit:
        visit.at("#train-file").set_input_files(
            {"name": f"{evil}.csv", "mimeType": "text/csv", "buffer": table.read_bytes()}
        )
        visit.at("#train-name", has_text=evil).wait_for()
        visit.at("#train-target").select_option(f"{evil} y")
        visit.at("#train-start").click()
        visit.at("#train-done .confusion").wait_for()
        visit.at("#open-trained").click()
        visit.at("#example").click()
        visit.at("#evidence th", has_text=evil).first.wait_for()
        visit.page.goto(f"{url}#model")
        visit.at("#importance th", has_text=evil).wait_for()
        visit.at("#curve table, #curve svg").first.wait_for()
        visit.page.goto(f"{url}#rows")
        visit.at("#rows-file").set_input_files(table)
        visit.at("#rows-table tbody tr").first.wait_for()
        assert visit.page.evaluate("window.evil") is None
        expect(visit.at("img")).to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_everybody_can_use_it(url, chromium, colours, width, language):
    """axe finds nothing serious; nothing is wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    settings = {"color_scheme": colours, "reduced_motion": "reduce", "width": width}
    with Visit(chromium, f"{url}", **settings) as visit:
        with visit.page.expect_navigation():  # the page is loaded anew
            visit.at("#language").select_option(language)
        waits = {
            "row": "#evidence tr.total", "rows": "#rows-drop", "model": "#quality .confusion",
            "teach": "#teach-answers button", "watch": "#watch-tiles .tile",
        }  # fmt: skip
        for part, there in waits.items():
            visit.page.goto(f"{url}#{part}")
            visit.at(there).first.wait_for()
            if part == "row":
                visit.at("#example").click()
                visit.at("summary").click()
            result = Axe().run(visit.page)
            serious = [
                (one["id"], [node["html"] for node in one["nodes"]])
                for one in result.response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], part
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, part
        assert visit.page.evaluate("document.documentElement.lang") == language


def test_the_keyboard_alone_suffices(url, chromium):
    with Visit(chromium, url) as visit:
        visit.at("#evidence tr.total").wait_for()
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"
        for _ in range(4):
            visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.dataset.part") == "rows"
        visit.page.keyboard.press("Enter")
        visit.at("#rows-drop").wait_for()


def test_both_languages_say_everything():
    keys = [
        set(re.findall(r'(?m)(?:^|[{,])\s*"?([\w ]+?)"?: ["`(]', without_texts(name)))
        for name in ("words-en.js", "words-zh.js")
    ]
    assert keys[0] == keys[1]
    assert len(keys[0]) > 100
    page = "".join(file.read_text(encoding="utf-8") for file in STATIC.glob("*.[jh]*"))
    asked = set(re.findall(r'say\("([\w ]+)"', page)) | set(
        re.findall(r'data-(?:text|label)="(\w+)"', page)
    )
    assert asked <= keys[0]


def without_texts(name):
    """A file of words in which no text is left that could look like a name."""
    text = (STATIC / name).read_text(encoding="utf-8")
    return re.sub(r'(?<=: )"[^"\n]*"|`[^`\n]*`', '""', text)


def test_the_token_is_asked_for(path, chromium, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    with serving.started(path, "--token-file", file, "--lang", "zh") as (_, url):
        visit = Visit(chromium, url)
        visit.at("#token").fill(TOKEN)
        visit.at("#login button").click()
        visit.at("#evidence tr.total").wait_for()
        expect(visit.at("h2", has_text="一行数据")).to_have_count(1)
        expect(visit.at("#login")).to_be_hidden()
        visit.page.close()


def test_the_description_of_the_api_is_a_page(url, chromium):
    with Visit(chromium, url, "docs") as visit:
        visit.at("h2", has_text="POST /api/predict").wait_for()
        expect(visit.at("pre").first).to_contain_text("PredictionRequest")
        visit.at("h2", has_text="GET /healthz").wait_for()  # the last one
        expect(visit.at("h2")).to_have_count(len(API_PATHS))
        expect(visit.at("#problem")).to_be_hidden()
