"""The page about the service: its requests run, and its tables are complete."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import serving
from commands import FRUIT
from deciban.serve.app import API_PATHS

PAGE = Path(__file__).parents[1] / "docs" / "serve.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
ADDRESS = "http://127.0.0.1:8000"


def steady(text):
    """The text with no more digits of numbers than all processors agree on."""
    return re.sub(r"\d+\.\d{10,}(e-\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def replayed(page, folder):
    """The page with what a service answers now."""
    shutil.copy(FRUIT, folder)
    model = serving.fruit_model(folder)
    with serving.started(model, "--learn") as (_, url):

        def play(block):
            commands = [line for line in block[1].splitlines() if line.startswith("$ ")]
            answers = "".join(f"{line}\n{answer(line[2:])}" for line in commands)
            return f"```console\n{answers}```"

        def answer(command):
            asked = command.replace(ADDRESS, url.rstrip("/"))
            out = subprocess.run(
                asked, shell=True, cwd=folder, stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            return out if out.endswith("\n") else f"{out}\n"

        return BLOCK.sub(play, page)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_requests_get_what_the_page_says(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) >= 7
    assert steady(replayed(text, tmp_path)) == steady(text)


def test_every_path_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for path, (method, _) in API_PATHS.items():
        assert f"`{method} {path}`" in text


if __name__ == "__main__":  # writes into the page what a service answers now
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        new = replayed(PAGE.read_text(encoding="utf-8"), place)
    PAGE.write_text(new, encoding="utf-8")
    sys.exit()
