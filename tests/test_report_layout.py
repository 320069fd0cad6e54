"""The drawings of a report in a browser with other letters: no text is cut, none covers another."""

import numpy as np
import pytest

from browser import Visit, opened
from deciban import NaiveBayes
from deciban.charts.letters import FONT_FAMILIES, text_width
from deciban.charts.svg import fit_texts
from deciban.report import report
from deciban.report.leakage import leave_pair_out_area
from reported import hostile, mixed, texts

#: Texts that leave their drawing, and pairs of upright texts that cover each other.
MISPLACED = """() => {
  const wrong = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const frame = svg.getBoundingClientRect(), name = svg.closest('figure').id;
    const boxes = [...svg.querySelectorAll('text')]
      .filter(t => t.textContent.trim() && t.getAttribute('opacity') !== '0')
      .map(t => {
        const b = t.getBBox(), m = t.getScreenCTM();
        const corners = [[b.x, b.y], [b.x + b.width, b.y], [b.x, b.y + b.height],
                         [b.x + b.width, b.y + b.height]]
          .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
        const xs = corners.map(c => c[0]), ys = corners.map(c => c[1]);
        return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys),
                bottom: Math.max(...ys), slanted: Math.abs(m.a * m.b) > 0.01, t: t.textContent};
      });
    boxes.forEach((a, i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1
          || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        wrong.push([name, 'leaves', a.t]);
      boxes.slice(i + 1).forEach(b => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (!a.slanted && !b.slanted && across > 1 && down > 3)
          wrong.push([name, 'covers', a.t, b.t]);
      });
    });
  }
  return wrong;
}"""


def long_names():
    """Columns and categories with long names, in two scripts."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 300)
    places = np.array(["Outlying-US(Guam-USVI-etc)", "Married-spouse-absent", "WWWWWWWW", "iiiiii"])
    cities = np.array(["上海市浦东新区", "北京", "黑龙江省齐齐哈尔市", "广州"])
    rows = {
        "hours_per_week_without_the_way": rng.normal(y, 2.0).tolist(),
        "place": places[(y + rng.integers(0, 3, 300)) % 4].tolist(),
        "城市名称": cities[(y + rng.integers(0, 3, 300)) % 4].tolist(),
        **{f"column_{j}": rng.normal(y * (j % 3), 3.0).tolist() for j in range(12)},
        "y": [["no", "certainly, with a long name"][c] for c in y],
    }
    return NaiveBayes().fit(rows, target="y"), rows


@pytest.fixture(scope="module")
def browser():
    with opened() as chromium:
        yield chromium


@pytest.mark.parametrize(
    "make",
    [lambda: mixed(NaiveBayes), lambda: mixed(NaiveBayes, 3), texts, long_names, hostile],
    ids=["two classes", "three classes", "texts", "long names", "hostile names"],
)
def test_no_text_is_cut_and_none_covers_another(browser, tmp_path, make):
    model, rows = make()
    path = tmp_path / "report.html"
    report(model, rows, target="y", bootstrap=0).save(path)
    for width in (1440, 390):
        assert Visit(browser, path, width).ask(MISPLACED) == []


def test_desktops_are_used_and_phones_scroll_inside_the_page(browser, tmp_path):
    model, rows = long_names()
    path = tmp_path / "report.html"
    report(model, rows, target="y", bootstrap=0).save(path)
    tops = "[...document.querySelectorAll('#evidence figure')].map(f => f.offsetTop)"
    wide, phone = Visit(browser, path, 1440), Visit(browser, path, 390)
    assert wide.ask(tops)[0] == wide.ask(tops)[1]
    assert phone.ask(tops) == sorted(set(phone.ask(tops)))
    assert phone.ask("document.documentElement.scrollWidth") == 390
    scroll = "[...document.querySelectorAll('#{} .scroll')].every(s => s.scrollWidth > {})"
    assert phone.ask(scroll.format("nomogram", "s.clientWidth"))
    # Letters of 13 pixels are never smaller than 10.
    smallest = """Math.min(...[...document.querySelectorAll('figure svg')].map(
        s => s.getBoundingClientRect().width / s.viewBox.baseVal.width))"""
    assert phone.ask(smallest) >= 0.79


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_what_is_behind_them(browser, tmp_path, scheme):
    model, rows = mixed(NaiveBayes)
    path = tmp_path / "report.html"
    report(model, rows, target="y", bootstrap=0).save(path)
    visit = Visit(browser, path, color_scheme=scheme)
    paper, page, *letters = visit.ask("""() => {
      const of = (e, what) => getComputedStyle(e)[what];
      const texts = document.querySelectorAll('#figure-roc text, #figure-importance text');
      return [of(document.querySelector('#figure-roc svg > rect'), 'fill'),
              of(document.body, 'backgroundColor'), of(document.body, 'color'),
              ...[...texts].map(t => of(t, 'fill'))];
    }""")
    behind = page if paper == "none" else paper
    assert (light_of(behind) > 128) == (scheme == "light")
    assert {abs(light_of(letter) - light_of(behind)) > 120 for letter in letters} == {True}


def light_of(colour):
    """The mean of red, green and blue."""
    return np.mean([float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]])


@pytest.mark.parametrize("text", ["hours_per_week", "0.25", "<=50K", "gross weight", "−4.5 (é)"])
@pytest.mark.parametrize("bold", [False, True])
def test_widths_are_those_charts_are_laid_out_with(text, bold):
    vl_convert = pytest.importorskip("vl_convert")
    axis = {"title": None, "ticks": False, "labelPadding": 0, "labelLimit": 999, "domain": False}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": [{"a": text}]}, "mark": "bar", "width": 10, "padding": 0,
        "encoding": {"y": {"field": "a", "type": "nominal", "axis": axis}},
        "config": {"font": FONT_FAMILIES,
                   "axis": {"labelFontSize": 50, "labelFontWeight": 700 if bold else 400}},
    }  # fmt: skip
    drawn = vl_convert.vegalite_to_svg(spec)
    width = float(drawn.split('width="')[1].split('"')[0])
    assert width - 10 == pytest.approx(text_width(text, 50, bold=bold), rel=0.02)


def test_a_drawing_is_as_large_as_its_texts():
    turned = '<text font-size="10px" transform="translate(5,5) rotate(-90)">wwwwwwww</text>'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 10"><g transform="translate(0,3)">{turned}</g></svg>'  # noqa: E501
    fitted = fit_texts(drawing)
    assert 'viewBox="-10 -55 40 68"' in fitted
    assert 'textLength="57.8"' in fitted


def test_columns_alone_are_ranked_without_the_pair_that_is_judged():
    rng = np.random.default_rng(1)
    for _ in range(5):
        cells = rng.integers(0, 6, 30)
        y = (rng.random(30) < 0.2 + 0.1 * cells).astype(int)
        table = np.zeros((6, 2))
        np.add.at(table, (cells, y), 1.0)
        expected = (every_pair(cells, y) + every_pair(cells, 1 - y)) / 2
        assert leave_pair_out_area(table) == pytest.approx(expected)


def every_pair(cells, y):
    """The mean over pairs, by their definition."""

    def score(k, others):
        cell = others & (cells == cells[k])
        return y[cell].mean() if cell.any() else y.mean()

    points = []
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            others = ~np.isin(np.arange(len(y)), [i, j])
            a, b = score(i, others), score(j, others)
            tie = cells[i] == cells[j] or np.isclose(a, b)
            points.append(0.5 if tie else float(a > b))
    return np.mean(points)
