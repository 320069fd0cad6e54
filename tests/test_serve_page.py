"""The page in a real browser: controls from the schema, answers and evidence, live."""

from urllib.parse import urlsplit

import pytest

import browser
import serving
from deciban import load

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return serving.fruit_model(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as opened:
        yield opened


class Visit:
    """A page, the hosts it asked, and what it complained about."""

    def __init__(self, chromium, url):
        self.page = chromium.new_page()
        self.page.set_default_timeout(browser.PATIENCE)
        self.hosts, self.complaints = set(), []
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)

    def first(self, text):
        """Wait until the first class of the posterior is this one; its line."""
        line = self.page.locator("#posterior tr").first.filter(has_text=text)
        line.wait_for()
        return line.inner_text()


def test_a_row_is_answered_while_it_is_typed(path, chromium):
    with serving.started(path) as (_, url):
        visit = Visit(chromium, url)
        visit.page.locator("#row [name=colour]").select_option(label="blue")
        visit.first("plum")
        visit.page.locator("#row [name=grams]").fill("20")
        visit.page.locator("#row [name=picked]").fill("2025-06-10")
        visit.page.locator("#row [name=colour]").select_option(label="red")
        visit.page.locator("#row [name=ripe]").select_option(label="yes")
        row = {"grams": 20, "picked": "2025-06-10", "colour": "red", "ripe": True}
        why = load(path).explain(row)
        shown = f"{100 * why.probability:.1f} %"
        assert shown in visit.first(shown)
        visit.page.locator("#evidence tr", has_text="grams = 20").wait_for()
        total = visit.page.locator("#evidence tr.total").inner_text()
        assert f"+{why.total:.1f}" in total
        assert visit.page.locator("#row label").count() == 4  # an identifier needs no control
        assert visit.hosts == {urlsplit(url).netloc}
        assert visit.complaints == []  # the policy of contents complains there, too
        visit.page.close()


def test_the_token_is_asked_for(path, chromium, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    with serving.started(path, "--token-file", file, "--lang", "zh") as (_, url):
        visit = Visit(chromium, url)
        visit.page.locator("#token").fill(TOKEN)
        visit.page.locator("#login button").click()
        visit.page.locator("#evidence tr.total").wait_for()
        assert visit.page.locator("#row-title").inner_text() == "一行数据"
        assert not visit.page.locator("#login").is_visible()
        visit.page.close()


def test_the_description_of_the_api_is_a_page(path, chromium):
    with serving.started(path) as (_, url):
        visit = Visit(chromium, f"{url}docs")
        visit.page.locator("h2", has_text="POST /api/predict").wait_for()
        assert "PredictionRequest" in visit.page.locator("pre").all_inner_texts()[0]
        assert visit.hosts == {urlsplit(url).netloc}
        assert visit.complaints == []
        visit.page.close()
