"""The web UI if it was built, or else a page that says how to build it."""

import os
import re
from pathlib import Path
from typing import ClassVar

from fastapi import APIRouter, Request
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import FileResponse, HTMLResponse, Response

from headgate.app.api.problems import ProblemResponse

router = APIRouter(include_in_schema=False)

LOOKS = ["GET", "HEAD"]
PACKED = re.compile(r"gzip\s*(?:;\s*q=(?!0(?:\.0*)?$).*)?", re.IGNORECASE)
BUILT = Path(__file__).parent.parent / "static"
IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}
"""The name of an asset changes with its content."""
ASK_FIRST = {"Cache-Control": "no-cache"}
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headgate</title></head>
<body><h1>Headgate</h1>
<p>The API is running. The web UI was not built into this installation:
<code>make setup</code> in a checkout builds it, and so does <code>pip install .</code></p>
<p><a href="/api/openapi.json">The API's description</a></p>
</body></html>
"""


class PagePath(Convertor[str]):
    """Any path of a screen: not a path of the API or of another endpoint."""

    regex: ClassVar[str] = r"(?!(?:api|assets|healthz|readyz|metrics)(?:/|$)).*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page", PagePath())


@router.api_route("/assets/{name}", methods=LOOKS)
async def asset(name: str, request: Request) -> Response:
    folder = BUILT / "assets"
    path = folder / name
    kind = KINDS.get(path.suffix)
    if kind is None or path.parent != folder or not _is_there(path):
        raise ProblemResponse(404, f"asset {name[:100]!r} not found; reload the page")
    headers = {**IMMUTABLE, "Vary": "Accept-Encoding"}
    packed = path.with_name(f"{name}.gz")
    if takes_packed(request.headers.get("accept-encoding", "")) and packed.is_file():
        return FileResponse(
            packed, media_type=kind, headers={**headers, "Content-Encoding": "gzip"}
        )
    return FileResponse(path, media_type=kind, headers=headers)


def _is_there(path: Path) -> bool:
    # Unlike Path.is_file, this accepts a name that no file can have.
    return os.path.isfile(path)  # noqa: PTH113


def takes_packed(accept_encoding: str) -> bool:
    """Return whether Accept-Encoding allows gzip. A weight of 0 forbids it."""
    return any(PACKED.fullmatch(part.strip()) for part in accept_encoding.split(","))


@router.api_route("/{path:page}", methods=LOOKS)
async def page(path: str) -> Response:
    """Send the page of the UI. The page itself picks the screen."""
    index = BUILT / "index.html"
    if index.is_file():
        return FileResponse(index, headers=ASK_FIRST)
    return HTMLResponse(NOT_BUILT, headers=ASK_FIRST)
