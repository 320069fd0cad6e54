"""The page in a real browser: nothing is loaded, nothing complains, everything can be read."""

import pytest

from browser import Visit, needed, opened
from deciban import NaiveBayes
from deciban.report import pdf, report
from reported import HOSTILE, hostile, mixed

FOCUS = """(e => e.tagName + e.className + (e.getAttribute('href') || ''))(
    document.activeElement)"""
SIZES = "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())"


@pytest.fixture(scope="module")
def browser():
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    model, rows = mixed(NaiveBayes)
    found = report(model, rows, target="y", bootstrap=20, title="A report")
    path = tmp_path_factory.mktemp("report") / "report.html"
    found.save(path)
    return path, found


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_drawn_at_any_width_and_asks_for_nothing(browser, page, width):
    path, found = page
    visit = Visit(browser, path, width)
    assert visit.complaints == []
    assert visit.requests == [path.as_uri()]
    sizes = visit.ask(f"{SIZES}.map(s => [s.width, s.height])")
    assert len(sizes) == len(found.figures)
    assert all(w > 150 and h > 50 for w, h in sizes)
    assert visit.ask("document.documentElement.scrollWidth") <= width
    assert visit.ask("innerWidth") == width


def test_no_network_is_needed(browser, page):
    visit = Visit(browser, page[0], offline=True)
    assert visit.complaints == []
    assert visit.ask("document.querySelector('h1').textContent") == "A report"


def test_nothing_runs_and_nothing_is_linked(browser, page):
    visit = Visit(browser, page[0])
    assert visit.ask("document.querySelectorAll('script, iframe, object, img').length") == 0
    links = visit.ask("[...document.querySelectorAll('[href],[src]')].map(e => e.getAttribute("
                      "e.hasAttribute('href') ? 'href' : 'src'))")  # fmt: skip
    assert all(link.startswith("#") or link == "data:," for link in links)


def test_screen_readers_are_told_what_is_there(browser, page):
    visit = Visit(browser, page[0])
    named = """[...document.querySelectorAll('figure svg')].map(s => s.getAttribute('role') +
        s.getAttribute('aria-labelledby').split(' ').map(i => document.getElementById(i)
        .textContent.length > 3))"""
    assert set(visit.ask(named)) == {"imgtrue,true"}
    assert visit.ask("document.documentElement.lang") == "en"
    assert visit.ask("document.querySelectorAll('h1').length") == 1
    assert visit.ask("document.querySelectorAll('figure:not(:has(figcaption))').length") == 0
    bare = "document.querySelectorAll('main > section table:not(:has(caption)) th').length"
    assert visit.ask(bare) == 0
    assert visit.ask("document.querySelectorAll('main th:not([scope])').length") == 0
    twice = "[...document.querySelectorAll('[id]')].map(e => e.id)"
    ids = visit.ask(twice)
    assert len(ids) == len(set(ids))


def test_the_tab_key_reaches_links_tables_and_what_can_be_opened(browser, page):
    visit = Visit(browser, page[0])
    links = visit.ask("document.querySelectorAll('a').length")
    reached = []
    for _ in range(200):
        visit.page.keyboard.press("Tab")
        reached.append(visit.ask(FOCUS))
        if len(reached) > 1 and reached[-1] in ("BODY", reached[0]):
            break
    assert reached[0] == "Askip#content"
    assert sum(name.startswith("A") for name in set(reached)) == links
    assert {"SUMMARY", "DIVscroll"} <= set(reached)
    for link in visit.ask("[...document.querySelectorAll('nav a')].map(a => a.hash)"):
        assert visit.ask(f"document.querySelectorAll('{link}').length") == 1, link


def test_hostile_names_values_and_classes_are_only_text(browser, tmp_path):
    model, rows = hostile()
    found = report(model, rows, bootstrap=20)
    path = tmp_path / "report.html"
    found.save(path)
    visit = Visit(browser, path)
    assert visit.complaints == []
    assert visit.requests == [path.as_uri()]
    assert visit.page.title().startswith("NaiveBayes on")
    assert visit.ask("document.querySelectorAll('script, img, b[onload], [onerror]').length") == 0
    shown = visit.ask("document.body.textContent")
    assert HOSTILE in shown
    assert "${title} $css" in shown


def test_the_page_is_printed_with_what_is_closed_on_the_screen(page, tmp_path):
    needed()
    path = tmp_path / "report.pdf"
    pdf.write_pdf(page[1].html(), path)
    assert path.read_bytes()[:5] == b"%PDF-"
    assert path.stat().st_size > 20_000


def test_print_styles_are_used(browser, page):
    visit = Visit(browser, page[0])
    visit.page.emulate_media(media="print")
    assert visit.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert visit.ask("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
