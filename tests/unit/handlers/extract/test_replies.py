"""Servers that lie or err: the page is an ERROR that says what to do, and nothing is closed."""

from typing import Any

import pytest

from headgate.testing_http import Asked, FakeHttp, Reply
from tests.kit.passes import MemoryPass, source_of

LINK = {"type": "json_link", "next_url_path": "next"}
LISTED = {"data_selector": "rows", "paginator": LINK}


def failure(endpoint: dict[str, Any], reply: Any, **resource: Any) -> str:
    """The reason of the page that failed; nothing may be closed then."""
    http = FakeHttp(reply if callable(reply) else {"*": reply})
    done = MemoryPass(source_of({"endpoint": endpoint, **resource}), http).run()
    assert done.closings == {}
    (reason,) = done.errors.values()
    return reason


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/things?page=2",
        "//evil.example/things",
        "http://api.example/things",
        "https://api.example:8443/things",
        "https://api.example@evil.example/",
        "ftp://api.example/",
        "javascript:alert(1)",
    ],
)
def test_a_next_link_stays_on_the_hosts_of_the_source(link):
    reason = failure(LISTED, {"rows": [{"id": 1}], "next": link})
    assert "the next link" in reason


def test_a_declared_host_may_be_followed():
    replies = {
        "https://api.example/things": {"rows": [{"id": 1}], "next": "https://b.example/2"},
        "https://b.example/2": {"rows": [{"id": 2}], "next": None},
    }
    source = source_of({"endpoint": LISTED}, hosts=["b.example"])
    done = MemoryPass(source, FakeHttp(replies)).run()
    assert (done.ids("things"), done.proof("things")) == ({"1", "2"}, "chained")


@pytest.mark.parametrize("length", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("lead", [0, 5])
def test_pages_that_lead_in_a_circle_are_an_error(length, lead):
    def answer(asked: Asked) -> dict[str, Any]:
        page = int(asked.url.rpartition("=")[2]) if "=" in asked.url else 0
        following = page + 1 if page + 1 < lead + length else lead
        return {"rows": [{"id": page}], "next": f"https://api.example/things?p={following}"}

    assert "lead in a circle" in failure(LISTED, answer)


def test_an_empty_page_in_the_middle_of_a_chain_does_not_end_it():
    def answer(asked: Asked) -> dict[str, Any]:
        page = int(asked.url.rpartition("=")[2]) if "=" in asked.url else 0
        following = f"https://api.example/things?token=x{page}&c={page + 1}"
        rows = [] if page == 2 else [{"id": page}]
        return {"rows": rows, "next": following if page < 4 else None}

    done = MemoryPass(source_of({"endpoint": LISTED}), FakeHttp(answer)).run()
    assert done.ids("things") == {"0", "1", "3", "4"}


def test_empty_pages_without_an_end_are_an_error():
    def answer(asked: Asked) -> dict[str, Any]:
        page = int(asked.url.rpartition("=")[2]) if "=" in asked.url else 0
        return {"rows": [], "next": f"https://api.example/things?token=x{page}&c={page + 1}"}

    assert "were empty" in failure(LISTED, answer)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "quota", "message": "later"}, "no list at 'rows'; it has error, message"),
        ({"items": [{"id": 1}]}, "set data_selector to 'items'"),
        ({"rows": {"id": 1}}, "no list at 'rows'"),
        ({"rows": None}, "no list at 'rows'"),
        ({"rows": [1, 2]}, "row 1 of the page is not an object but int"),
        ({"rows": [{"id": 1}, {"name": "x"}]}, "row 2 of the page has no 'id'"),
        ({"rows": [{"id": ""}]}, "row 1 of the page has no 'id'"),
        ({"rows": [{"id": True}]}, "has True as 'id'"),
        ({"rows": [{"id": [1]}]}, "has [1] as 'id'"),
        ({"rows": [{"id": 1, "a": 1}, {"id": 1, "a": 2}]}, "is not unique; name more fields"),
        ({"rows": [{"id": 1}], "next": 7}, "the next link is not a text"),
    ],
)
def test_a_reply_that_does_not_fit_says_what_to_do(body, words):
    assert words in failure(LISTED, body)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(content="<html>hello</html>", headers={"content-type": "text/html"}), "not JSON"),
        (Reply(content=b'{"rows": [{"id": 1}'), "not JSON"),
        (404, "check base_url and endpoint.path"),
        (Reply(400, content="bad parameter foo"), "answered 400: bad parameter foo"),
        (500, "answered 500"),
        (401, "answered 401"),
    ],
)
def test_an_error_of_the_server_is_an_error_of_the_page(reply, words):
    assert words in failure(LISTED, reply)


def test_a_full_first_page_without_a_next_one_is_an_error_unless_declared():
    endpoint = {**LISTED, "params": {"limit": 3}}
    body = {"rows": [{"id": number} for number in range(3)], "next": None}
    assert 'declare ends = "no_next"' in failure(endpoint, body)
    declared = {**endpoint, "paginator": {**LINK, "ends": "no_next"}}
    done = MemoryPass(source_of({"endpoint": declared}), FakeHttp({"*": body})).run()
    assert done.proof("things") == "chained"


@pytest.mark.parametrize(
    ("params", "reply"),
    [
        ({}, Reply(json={"rows": [{"id": 1}], "next": "https://api.example/2"})),
        ({}, Reply(json={"rows": [{"id": 1}]}, headers={"Link": '<https://x/2>; rel="next"'})),
        ({"per_page": 2}, Reply(json={"rows": [{"id": 1}, {"id": 2}]})),
    ],
)
def test_signs_of_more_pages_are_an_error_where_no_paginator_is_described(params, reply):
    endpoint = {"data_selector": "rows", "params": params}
    assert 'paginator = "single_page"' in failure(endpoint, reply)
    single = {**endpoint, "paginator": "single_page"}
    done = MemoryPass(source_of({"endpoint": single}), FakeHttp({"*": reply})).run()
    assert done.errors == {}


@pytest.mark.parametrize("total", ["many", -3, 2.5, {"count": 3}, True])
def test_a_total_that_is_not_a_number_is_an_error(total):
    endpoint = {"data_selector": "rows", "paginator": {"type": "offset", "total_path": "total"}}
    assert "is not a number of rows" in failure(endpoint, {"rows": [{"id": 1}], "total": total})


def test_a_total_above_the_rows_of_a_single_page_is_an_error():
    paginator = {"type": "single_page", "total_path": "total"}
    endpoint = {"data_selector": "rows", "paginator": paginator}
    assert "describe the `paginator`" in failure(endpoint, {"rows": [{"id": 1}], "total": 9})


@pytest.mark.parametrize(("action", "fails"), [("ignore", False), ("fail", True), ("retry", True)])
def test_response_actions_decide_what_a_reply_means(action, fails):
    actions = [{"status_code": 200, "content": "no such", "action": action}]
    endpoint = {**LISTED, "response_actions": actions}
    http = FakeHttp({"*": {"error": "no such table"}})
    done = MemoryPass(source_of({"endpoint": endpoint}), http).run()
    assert bool(done.errors) == fails
    assert bool(done.closings) != fails


def test_a_page_of_fifty_megabytes_is_read():
    body = b'{"rows":[{"id":1,"text":"' + b"x" * 50_000_000 + b'"}],"next":null}'
    done = MemoryPass(source_of({"endpoint": LISTED}), FakeHttp({"*": body})).run()
    assert done.ids("things") == {"1"}


def test_bodies_are_kept_as_they_were_received():
    row = b'{"id": 7,   "n":12345678901234567890.50, "t":"\\u00e9"}'
    http = FakeHttp({"*": b'{"rows":[' + row + b'],"next":null}'})
    done = MemoryPass(source_of({"endpoint": LISTED}), http).run()
    body = done.rows["things", "7"].body
    assert bytes(body) == row


def test_the_hash_ignores_the_order_of_fields_and_what_does_not_matter():
    first = {"rows": [{"id": 1, "a": 1, "views": 5}], "next": None}
    second = {"rows": [{"views": 9, "a": 1, "id": 1}], "next": None}
    passes = [
        MemoryPass(source_of({"endpoint": LISTED, "ignore": ["views"]}), FakeHttp({"*": each}))
        for each in (first, second)
    ]
    one, other = (each.run().rows["things", "1"].hash for each in passes)
    assert one == other


def test_a_page_that_fails_in_a_chain_costs_only_itself():
    def answer(asked: Asked) -> Any:
        page = int(asked.url.rpartition("=")[2]) if "=" in asked.url else 0
        if page == 6:
            return 500
        following = f"https://api.example/things?t={'x' * page}&c={page + 1}"
        return {"rows": [{"id": page}], "next": following}

    done = MemoryPass(source_of({"endpoint": LISTED}), FakeHttp(answer)).run()
    assert done.ids("things") == {"0", "1", "2", "3", "4", "5"}
    assert list(done.errors) == ["things/page=7"]
