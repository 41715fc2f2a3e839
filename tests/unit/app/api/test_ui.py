"""Which path gives the page, which gives an asset, and what the browser may keep."""

import asyncio
import gzip
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from fastapi import FastAPI
from starlette.datastructures import Headers

from headgate.app.api import problems, ui


class Answer(NamedTuple):
    status: int
    headers: Headers
    body: bytes


class Browser:
    """Asks the routes of the UI, without a server in between."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.app.state.routes = ui.router.routes
        self.app.include_router(ui.router)
        problems.install(self.app)

    async def get(self, path: str, accept_encoding: str = "", method: str = "GET") -> Answer:
        sent: list[Any] = []
        headers = [(b"accept-encoding", accept_encoding.encode())] if accept_encoding else []
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
            "app": self.app,
        }

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()  # the browser waits for its answer, and sends no more
            return {}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(sent[0]["status"], Headers(raw=sent[0]["headers"]), body)


@pytest.fixture
def browser() -> Browser:
    return Browser()


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page and one script, as the build leaves it."""
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text("<title>Headgate</title>")
    (assets / "index-1a2b.js").write_text("go()")
    (assets / "index-1a2b.js.gz").write_bytes(gzip.compress(b"go()"))
    (assets / "notes.txt").write_text("private")
    monkeypatch.setattr(ui, "BUILT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", ["/", "/login", "/jobs/7", "/apiary", "/a/b/c"])
async def test_any_other_path_is_the_page(built: Path, browser: Browser, path: str):
    answer = await browser.get(path)
    assert (answer.status, answer.body) == (200, b"<title>Headgate</title>")
    assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/api", "/api/no-such", "/healthz/x", "/metrics", "/assets"])
async def test_paths_for_programs_never_return_the_page(built: Path, browser: Browser, path: str):
    answer = await browser.get(path)
    assert answer.status == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_an_asset_is_cached_for_a_year_and_sent_compressed(built: Path, browser: Browser):
    plain = await browser.get("/assets/index-1a2b.js")
    packed = await browser.get("/assets/index-1a2b.js", "gzip, br")
    assert plain.body == gzip.decompress(packed.body) == b"go()"
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    for answer in (plain, packed):
        assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("br;q=1.0, GZIP ; q=0.8, *;q=0.1", True),
        ("gzip;q=0.05", True),
        ("gzip;q=0", False),
        ("br, gzip; q=0.00", False),
        ("x-gzip-not, identity", False),
        ("", False),
    ],
)
def test_compressed_files_are_sent_to_browsers_that_accept_them(accepted: str, packed: bool):
    assert ui.takes_packed(accepted) is packed


@pytest.mark.parametrize("path", ["/", "/assets/index-1a2b.js"])
async def test_a_head_request_is_answered(built: Path, browser: Browser, path: str):
    answer = await browser.get(path, method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "name",
    ["gone-1a2b.js", "notes.txt", "index-1a2b.js.gz", "..%2Findex.html", "%2e%2e", "a%00.js", ""],
)
async def test_nothing_else_is_an_asset(built: Path, browser: Browser, name: str):
    assert (await browser.get(f"/assets/{name}")).status == 404


async def test_without_a_build_the_page_says_how_to_build_it(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ui, "BUILT", tmp_path / "nowhere")
    answer = await browser.get("/jobs")
    assert answer.status == 200
    assert b"make setup" in answer.body
