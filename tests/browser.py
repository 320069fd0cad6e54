"""A real browser: Debian's Chromium, driven by Playwright."""

import contextlib
import os
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Milliseconds that a browser may take for anything, also on a machine that is busy.
PATIENCE = int(os.environ.get("DECIBAN_PATIENCE", "600000"))
#: Milliseconds by which every answer of a service comes late: a test that reads a page too early
#: is found by running it with `DECIBAN_LATENCY=700`.
LATENCY = int(os.environ.get("DECIBAN_LATENCY", "0"))

expect.set_options(timeout=PATIENCE)


def needed():
    """Skip where there is no browser, and none could be installed; fail where tests must run."""
    if CHROMIUM is None and os.environ.get("CI"):
        pytest.fail("there is no chromium")
    if CHROMIUM is None:
        pytest.skip("there is no chromium, and it could not be installed")


@contextlib.contextmanager
def opened():
    """A browser without a window."""
    needed()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page, what it asked for, and what it complained about."""

    def __init__(self, browser, path, width=1280, height=900, **settings):
        self.page = browser.new_page(viewport={"width": width, "height": height}, **settings)
        self.page.set_default_timeout(PATIENCE)
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if LATENCY:
            conditions = {"downloadThroughput": -1, "uploadThroughput": -1, "latency": LATENCY}
            network = self.page.context.new_cdp_session(self.page)
            network.send("Network.enable")
            network.send("Network.emulateNetworkConditions", {"offline": False, **conditions})
        self.page.goto(path if isinstance(path, str) else path.as_uri(), wait_until="load")

    def ask(self, script):
        """The value of an expression on the page."""
        return self.page.evaluate(script)
