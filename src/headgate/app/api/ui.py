"""The web UI, where it was built; else a page that says how to build it."""

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, HTMLResponse, Response

router = APIRouter(include_in_schema=False)

BUILT = Path(__file__).parent.parent / "static"
NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headgate</title></head>
<body><h1>Headgate</h1>
<p>The API is running. The web UI was not built into this installation:
<code>make setup</code> in a checkout builds it.</p>
<p><a href="/api/openapi.json">The API's description</a></p>
</body></html>
"""


@router.get("/")
@router.get("/login")
async def index() -> Response:
    """The page that everything else hangs on."""
    page = BUILT / "index.html"
    return FileResponse(page) if page.is_file() else HTMLResponse(NOT_BUILT)
