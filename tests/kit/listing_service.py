"""A paginated API on loopback whose rows a test may change at any time."""

import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.kit.answers import Answer, Request
from tests.kit.provider import Provider

DAY = "2026-01-{:02d}T00:00:00Z"


class ListingService(Provider):
    """`/books` by offset with a total and a filter `since`; `/authors` in one page.

    `/books/ID/notes` has the notes of a book.
    """

    def __init__(self, count: int = 100) -> None:
        self.books: dict[int, dict[str, Any]] = {n: book(n) for n in range(1, count + 1)}
        self.refused: set[int] = set()
        """Offsets of pages that are answered with 400."""
        self.open = threading.Event()
        """While it is clear, pages of books after the first get no answer."""
        self.open.set()
        super().__init__(self._reply)

    @property
    def requests(self) -> list[str]:
        """The targets of all requests for books."""
        return [each.request.target for each in self.seen if each.request.path == "/books"]

    def _reply(self, request: Request) -> Answer:
        query = {name: texts[0] for name, texts in parse_qs(urlsplit(request.target).query).items()}
        if request.path == "/authors":
            return _listed([{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}])
        if request.path == "/books":
            return self._books(query)
        if request.path.endswith("/notes"):
            return _listed([{"id": f"{request.path.split('/')[2]}-1", "text": "read"}])
        return Answer(404)

    def _books(self, query: Mapping[str, str]) -> Answer:
        offset = int(query.get("offset", 0))
        if offset in self.refused:
            return Answer(400, body=b"this page is broken")
        if offset and not self.open.is_set():
            return Answer(silent=True)
        rows = [self.books[key] for key in sorted(self.books)]
        rows = [row for row in rows if row["updated_at"] >= query.get("since", "")]
        return _listed(rows[offset : offset + int(query.get("limit", 100))], len(rows))


def book(number: int, day: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": number, "title": f"Book {number}", "updated_at": DAY.format(day), **more}


def _listed(rows: list[dict[str, Any]], total: int | None = None) -> Answer:
    headers = [] if total is None else [("X-Total", str(total))]
    return Answer(200, headers, json.dumps(rows).encode())


SOURCE = """
[client]
base_url = "URL"
paginator = { type = "offset", limit = 10, total_header = "X-Total" }
[[resources]]
name = "books"
order = { key = "id", compare = "number" }
[resources.endpoint]
path = "/books"
incremental = { cursor_path = "updated_at", start_param = "since" }
[[resources]]
name = "authors"
endpoint = { path = "/authors", paginator = "single_page" }
"""
