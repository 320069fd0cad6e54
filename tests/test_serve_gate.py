"""Who may ask: other sites, other names, callers without the token; and what answers forbid."""

import re
from pathlib import Path

import pytest

import deciban.serve
from commands import run
from deciban.errors import FileError, ParameterError
from deciban.serve import gate
from deciban.serve.server import read_token
from deciban.serve.settings import Settings
from serving import ROW, fruit_model, serving

TOKEN = "0123456789abcdef0123456789abcdef"
STATIC = Path(deciban.serve.__file__).parent / "static"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return fruit_model(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(path):
    with serving(path, names=("models.example",)) as client:
        yield client


def status(client, path="/api/model", **headers):
    return client.get(
        path, headers={k.replace("_", "-"): v for k, v in headers.items()}
    ).status_code


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "10.0.0.7",
     "models.example", "Models.Example:443"],
)  # fmt: skip
def test_hosts_that_are_this_service(client, host):
    assert status(client, Host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "[evil]", "1"]
)
def test_other_names_are_refused_whatever_they_point_at(client, host):
    assert status(client, Host=host) == 421
    assert status(client, "/", Host=host) == 421


def test_other_sites_are_refused(client):
    own = {"Host": "127.0.0.1:8000"}
    assert status(client, **own, Origin="http://127.0.0.1:8000") == 200
    assert status(client, **own, Sec_Fetch_Site="same-origin") == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9", "file://"):
        assert status(client, **own, Origin=origin) == 403
    for site in ("cross-site", "same-site"):
        assert status(client, **own, Sec_Fetch_Site=site) == 403
        assert status(client, "/", **own, Sec_Fetch_Site=site) == 200  # a link to the page


def test_answers_forbid_all_that_is_not_theirs(client):
    for path in ("/", "/api/model", "/nothing", "/static/page.css"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control")]


def test_pages_load_nothing_from_elsewhere_and_have_no_script_inside():
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]", text.replace("www.w3.org", "")), (
            file
        )
        if file.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", text), file
        if file.suffix == ".js":
            assert not re.search(r"\beval\(|\binnerHTML\b|new Function|\.cssText", text), file


# ---------------------------------------------------------------------- tokens


def test_all_but_the_page_needs_the_token(path):
    with serving(path, token=TOKEN) as client:
        for one in ("/api/model", "/metrics", "/api/openapi.json"):
            assert status(client, one) == 401
            assert status(client, one, Authorization=f"Bearer {TOKEN[:-1]}") == 401
            assert status(client, one, Authorization=f"Basic {TOKEN}") == 401
            assert status(client, one, Authorization=f"bearer {TOKEN}") == 200
        assert status(client, "/healthz") == status(client, "/") == 200
        refused = client.post("/api/predict", json={"rows": [ROW]})
        assert refused.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in refused.text


def test_tokens_are_compared_in_constant_time(path, monkeypatch):
    seen = []
    monkeypatch.setattr(gate.hmac, "compare_digest", lambda a, b: seen.append((a, b)) or False)
    with serving(path, token=TOKEN) as client:
        assert status(client, Authorization=f"Bearer {TOKEN}") == 401
    assert seen == [(TOKEN.encode(), TOKEN.encode())]


def test_an_address_that_others_reach_needs_a_token():
    for host in ("0.0.0.0", "::", "192.0.2.1", "models.example"):
        with pytest.raises(ParameterError, match=r"--token-file FILE, or --insecure"):
            Settings("m", host=host).check()
        assert Settings("m", host=host, token=TOKEN).check()
        assert Settings("m", host=host, insecure=True).check()
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        assert Settings("m", host=host).check()


def test_the_command_says_so_before_anything_is_listened_at(path):
    ended = run("serve", path, "--host", "0.0.0.0", "--port", "0")
    assert ended.code == 1
    assert "--token-file" in ended.err


def test_files_of_tokens(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o644)
    with pytest.raises(FileError, match="others may read"):
        read_token(str(file))
    file.chmod(0o600)
    assert read_token(str(file)) == TOKEN
    for bad in ("short", "with a blank in the middle of it"):
        file.write_text(bad)
        with pytest.raises(ParameterError, match="16 letters and digits"):
            read_token(str(file))
    with pytest.raises(FileError, match="cannot be read"):
        read_token(str(tmp_path / "none"))
