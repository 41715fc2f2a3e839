"""The real client against a real server: headers, links and statuses as they travel."""

from typing import Any

import pytest
from aiohttp import web

from tests.kit.http import bench
from tests.kit.json_site import Answer, serving
from tests.kit.passes import MemoryPass

ROWS = [{"id": number, "text": "ä" * 50} for number in range(1, 346)]


async def mirrored(answer: Answer, endpoint: dict[str, Any], **resource: Any) -> MemoryPass:
    async with serving(answer) as url, bench() as cli:
        source = {
            "client": {"base_url": url},
            "resources": [{"name": "things", "endpoint": endpoint, **resource}],
        }
        done = MemoryPass(source, cli.client())
        await done.settle_all()
        return done


def by_link(request: web.Request) -> web.Response:
    page = int(request.query.get("page", "1"))
    url = request.url.with_path("/things")
    links = [f'<{url.update_query(page=page + 1)}>; rel="next"'] if page < 4 else []
    links += [f'<{url.update_query(page=4)}>; rel="last"'] if page < 4 else []
    return web.json_response(
        ROWS[(page - 1) * 100 : page * 100], headers={"Link": ", ".join(links)} if links else {}
    )


def by_total(request: web.Request) -> web.Response:
    page, size = int(request.query["page"]), int(request.query["per_page"])
    if page > 4:
        return web.json_response({"code": "rest_post_invalid_page_number"}, status=400)
    rows = ROWS[(page - 1) * size : page * size]
    return web.json_response(rows, headers={"X-WP-Total": str(len(ROWS))})


def by_token(request: web.Request) -> web.Response:
    place = int(request.query.get("_token", "t0")[1:])
    following = request.url.with_query(_token=f"t{place + 50}")
    headers = {"Next-Page": str(following)} if place + 50 < len(ROWS) else {}
    return web.json_response({"data": ROWS[place : place + 50]}, headers=headers)


@pytest.mark.parametrize(
    ("answer", "endpoint", "proof"),
    [
        (
            by_link,
            {
                "params": {"per_page": 100},
                "paginator": {"type": "header_link", "stable": True},
            },
            "chained",
        ),
        (
            by_total,
            {
                "params": {"per_page": 100},
                "paginator": {
                    "type": "page_number",
                    "base_page": 1,
                    "total_header": "X-WP-Total",
                    "ends_status": [400],
                },
            },
            "counted",
        ),
        (
            by_token,
            {
                "data_selector": "data",
                "paginator": {"type": "header_cursor", "cursor_key": "Next-Page"},
            },
            "chained",
        ),
    ],
)
async def test_every_row_comes_over_a_real_connection(answer, endpoint, proof):
    done = await mirrored(answer, endpoint)
    assert done.errors == {}
    assert done.ids("things") == {str(row["id"]) for row in ROWS}
    assert done.proof("things") == proof
    assert done.body("things", "7") == ROWS[6]


async def test_a_status_that_is_an_error_is_one_of_its_page_alone():
    def answer(request: web.Request) -> web.Response:
        begin = int(request.query["offset"])
        if begin == 200:
            return web.json_response({"error": "poison"}, status=422)
        return web.json_response(ROWS[begin : begin + 100], headers={"X-Total": str(len(ROWS))})

    paginator = {"type": "offset", "limit": 100, "total_header": "X-Total"}
    done = await mirrored(answer, {"paginator": paginator})
    assert list(done.errors) == ["things/offset=200"]
    assert 'answered 422: {"error": "poison"}' in done.errors["things/offset=200"]
    assert len(done.ids("things")) == len(ROWS) - 100
    assert done.closings == {}
