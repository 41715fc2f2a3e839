"""The real client against a real server: headers, links and statuses as they travel."""

import base64
import os
from typing import Any

import pytest
from aiohttp import web

from headgate.engine.clock import SystemClock
from headgate.handlers.extract import bound_source
from headgate.net.cache import HttpCache
from headgate.transfer.blobs import LocalBlobs
from tests.kit.gates import OpenGates
from tests.kit.http import bench, no_trouble
from tests.kit.json_site import Answer, serving
from tests.kit.passes import MemoryPass

ROWS = [{"id": number, "text": "ä" * 50} for number in range(1, 346)]


async def mirrored(answer: Answer, endpoint: dict[str, Any], **resource: Any) -> MemoryPass:
    async with serving(answer) as url, bench() as cli:
        done = MemoryPass(described(url, endpoint, **resource), cli.client())
        await done.settle_all()
        return done


def described(url: str, endpoint: dict[str, Any], **resource: Any) -> dict[str, Any]:
    return {
        "client": {"base_url": url},
        "resources": [{"name": "things", "endpoint": endpoint, **resource}],
    }


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


async def mirrored_for_ada(answer: Answer, gates: OpenGates) -> MemoryPass:
    """A pass with a user and a password, which is kept in SHOP_PASSWORD."""
    async with serving(answer) as url:
        source = described(url, {"params": {"per_page": 100}, "paginator": "header_link"})
        secret = {"env": "SHOP_PASSWORD"}
        source["client"]["auth"] = {"type": "http_basic", "username": "ada", "password": secret}
        bound = bound_source(source, {})
        async with bench({bound.provider: bound.policy}, gates=gates) as cli:
            done = MemoryPass(source, cli.client(bound.provider), env=os.environ)
            await done.settle_all()
            return done


async def test_a_user_and_a_password_are_sent_with_every_page(monkeypatch):
    monkeypatch.setenv("SHOP_PASSWORD", "pässword")
    seen: list[str] = []

    def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return by_link(request)

    done = await mirrored_for_ada(answer, OpenGates("source"))
    assert (done.errors, len(done.ids("things"))) == ({}, len(ROWS))
    assert {base64.b64decode(each.removeprefix("Basic ")).decode() for each in seen} == {
        "ada:pässword"
    }


async def test_a_password_that_is_refused_is_sent_once(monkeypatch):
    monkeypatch.setenv("SHOP_PASSWORD", "wrong")
    gates = OpenGates("source")
    done = await mirrored_for_ada(lambda _: web.Response(status=401), gates)
    assert [told for permit in gates.permits for told in permit.told].count("bench") == 1
    assert (list(done.errors), done.closings) == (["things/first"], {})


@pytest.mark.parametrize(("conditional", "unchanged"), [(True, 4), (False, 0)])
async def test_pages_that_have_not_changed_are_not_sent_again(conditional, unchanged, tmp_path):
    answered: list[int] = []

    def answer(request: web.Request) -> web.Response:
        reply = by_link(request)
        tag = f'"{request.query.get("page", "1")}"'
        if request.headers.get("If-None-Match") == tag:
            reply = web.Response(status=304)
        reply.headers["ETag"] = tag
        # A cache could answer for an hour without asking; a pass must not believe that.
        reply.headers["Cache-Control"] = "max-age=3600"
        answered.append(reply.status)
        return reply

    endpoint = {
        "params": {"per_page": 100},
        "paginator": {"type": "header_link", "ends": "no_next"},
    }
    clock = SystemClock()
    blobs = LocalBlobs(tmp_path / "blobs", clock)
    async with serving(answer) as url, HttpCache(tmp_path, blobs, clock, warn=no_trouble) as cache:
        source = described(url, endpoint, conditional=conditional)
        bound = bound_source(source, {})
        async with bench({bound.provider: bound.policy}, cache=cache) as cli:
            passes = [MemoryPass(source, cli.client(bound.provider)) for _ in range(2)]
            for each in passes:
                await each.settle_all()
    assert [each.errors for each in passes] == [{}, {}]
    assert len(answered) == 8
    assert answered[4:].count(304) == unchanged
    assert passes[1].rows == passes[0].rows
    assert len(passes[1].rows) == len(ROWS)


async def test_a_reply_that_is_too_large_is_an_error_of_its_page():
    def answer(request: web.Request) -> web.Response:
        begin = int(request.query["offset"])
        rows = ROWS[begin : begin + 100]
        text = "x" * 700_000 if begin == 100 else ""
        return web.json_response(
            [{**row, "text": text} for row in rows], headers={"X-Total": str(len(ROWS))}
        )

    paginator = {"type": "offset", "limit": 100, "total_header": "X-Total"}
    async with serving(answer) as url, bench() as cli:
        done = MemoryPass(described(url, {"paginator": paginator}), cli.client())
        await done.settle_all()
    (key,) = done.errors
    assert key == "things/offset=100"
    assert done.closings == {}
    assert len(done.ids("things")) == len(ROWS) - 100
