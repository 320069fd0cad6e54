"""The page as PDF: printed by a Chromium that is on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from deciban.errors import FileError, MissingPackageError
from deciban.files.atomic import output
from deciban.files.overwriting import check_overwrite

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Seconds after which printing is given up.
PRINT_SECONDS = 120


def find_browser() -> str | None:
    """Where a browser is that can print, if there is one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def write_pdf(html: str, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a page as PDF; a file that is there is replaced only if ``overwrite`` is True."""
    if not overwrite:
        check_overwrite(path)  # before the work
    program = find_browser()
    if program is None:
        raise MissingPackageError(
            "PDF is printed by Chromium, which is not on this machine.",
            hint="apt install chromium, or print report.html from any browser",
        )
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8", errors="replace")
        complaints = _run(program, folder, page, printed)
        if not printed.exists():
            last = complaints.strip().splitlines()[-1:] or ["no message"]
            raise FileError(f"{program} did not print the page: {last[0]}.")
        with printed.open("rb") as pages, output(path, overwrite=overwrite) as file:
            shutil.copyfileobj(pages, file)


def _run(program: str, folder: str, page: Path, output: Path) -> str:
    """Run the browser; what it complained about."""
    # As root a sandbox cannot be made; the page runs no script and loads nothing.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [
        program, "--headless", *root, "--disable-gpu", "--no-pdf-header-footer",
        f"--user-data-dir={folder}/profile", f"--print-to-pdf={output}", page.as_uri(),
    ]  # fmt: skip
    try:
        ended = subprocess.run(command, capture_output=True, timeout=PRINT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it took longer than {PRINT_SECONDS} s"
    return ended.stderr.decode("utf-8", "replace")
