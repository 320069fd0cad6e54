"""The pictures of docs/serve.md: the page of a model, in a real browser.

``python examples/page_pictures.py`` writes ``docs/serve-*.png``; it needs ``deciban[serve]``,
Playwright and Chromium.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from deciban import NaiveBayes

DOCS = Path(__file__).parents[1] / "docs"
FRUIT = DOCS / "fruit.csv"
WIDTH, PHONE_WIDTH = 1120, 390


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    """The address of a service."""
    command = [sys.executable, "-m", "deciban.cli", "serve", "--port", "0", *map(str, arguments)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait()


def visit(browser: Browser, url: str, **settings: object) -> Page:
    """A page that has begun to answer."""
    size = {"width": settings.pop("width", WIDTH), "height": 760}
    page = browser.new_page(viewport=size, **settings)  # type: ignore[arg-type]
    page.goto(url)
    page.locator("#parts a").first.wait_for()
    return page


def settle(page: Page) -> None:
    """Wait until nothing moves any more."""
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    page.wait_for_timeout(700)


def draw_row(page: Page, name: str) -> None:
    """One row, an example with its reasons."""
    for _ in range(3):
        page.locator("#example").click()
        settle(page)
    page.screenshot(path=DOCS / f"serve-{name}.png", full_page=True)


def draw_parts(page: Page, url: str) -> None:
    """The other parts of the page."""
    page.goto(f"{url}#rows")
    page.locator("#rows-file").set_input_files(FRUIT)
    page.locator("#rows-table tbody tr").first.wait_for()
    settle(page)
    page.screenshot(path=DOCS / "serve-rows.png")
    page.goto(f"{url}#model")
    page.locator("#quality .confusion").wait_for()
    page.locator("#curve-of").select_option("grams")
    settle(page)
    page.screenshot(path=DOCS / "serve-model.png", full_page=True)
    page.goto(f"{url}#teach")
    page.locator("#teach-answers button").nth(2).click()
    page.locator("#taught h3").first.wait_for()
    settle(page)
    page.screenshot(path=DOCS / "serve-teach.png")


def draw_training(page: Page) -> None:
    """A model made from a table."""
    page.locator("#train-file").set_input_files(FRUIT)
    page.locator("#train-start").click()
    page.locator("#train-done .confusion").wait_for()
    settle(page)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=DOCS / "serve-train.png")


def draw_all() -> None:
    """All pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        model = Path(folder, "fruit.deciban")
        NaiveBayes().fit(str(FRUIT), target="fruit").save(model)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with served(model, "--learn", "--data", FRUIT) as url:
            page = visit(browser, url)
            draw_row(page, "row")
            draw_parts(page, url)
            draw_row(visit(browser, url, width=PHONE_WIDTH, color_scheme="dark"), "phone")
        with served() as url:
            draw_training(visit(browser, url))
        browser.close()


if __name__ == "__main__":
    draw_all()
