"""A small API of records, with pages, totals, changes between passes, and a page that fails."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.kit.answers import Answer, Request, refusal
from tests.kit.provider import Provider

LIMIT = 25
BROKEN = 500
ORDER = {"key": "id", "compare": "number"}
PAGES = {"type": "offset", "limit": LIMIT, "total_path": "total"}


class RecordShop(Provider):
    """Artists, releases and reviews, each by offset; pages of reviews in `broken` fail."""

    def __init__(self) -> None:
        self.open = True
        """False: every request is told to come back in a second."""
        self.broken: set[int] = set()
        self.streams: dict[str, list[dict[str, Any]]] = {
            "artists": [_artist(number) for number in range(1, 121)],
            "releases": [_release(number) for number in range(1, 321)],
            "reviews": [_review(number) for number in range(1, 201)],
        }
        super().__init__(self._reply)

    def source(self) -> dict[str, Any]:
        """The description of this API for `headgate extract`."""
        pages = {"data_selector": "data", "paginator": PAGES}
        return {
            "name": "records",
            "client": {"base_url": self.url("")},
            "resources": [
                {"name": "artists", "order": ORDER, "endpoint": {"path": "/artists", **pages}},
                {"name": "releases", "endpoint": {"path": "/releases", **pages}},
                {"name": "reviews", "endpoint": {"path": "/reviews", **pages}},
            ],
        }

    def change(self) -> None:
        """Change some artists, give one a new field, add three and remove two."""
        artists = self.streams["artists"]
        for artist in artists[:5]:
            artist["followers"] += 1_000
        artists[7]["label"] = "River Records"
        del artists[20:22]
        artists += [_artist(number) for number in range(121, 124)]

    def _reply(self, request: Request) -> Answer:
        if not self.open:
            return refusal("1")
        parts = urlsplit(request.target)
        found = self.streams[parts.path.strip("/")]
        query = parse_qs(parts.query)
        offset, limit = int(query["offset"][0]), int(query["limit"][0])
        if parts.path == "/reviews" and offset in self.broken:
            return Answer(BROKEN, body=b"out of order")
        page = {"total": len(found), "data": found[offset : offset + limit]}
        return Answer(200, body=json.dumps(page).encode())


def _artist(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"Artist {number}",
        "country": ("Norway", "Chile", "Japan")[number % 3],
        "followers": number * 37,
        "genres": ["folk", "jazz"][: number % 2 + 1],
        "url": f"https://records.example/artists/{number}",
    }


def _release(number: int) -> dict[str, Any]:
    return {
        "id": f"a-{number}",
        "title": f"Songs of the river, volume {number}",
        "artist_id": number % 120 + 1,
        "year": 1960 + number % 60,
        "price": None if number % 9 == 0 else number / 4,
    }


def _review(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "release": f"a-{number}",
        "stars": number % 5 + 1,
        "text": "A fine record.",
    }
