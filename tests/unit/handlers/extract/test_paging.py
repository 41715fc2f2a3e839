"""Every kind of paging brings every row once, and says how it knows."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from headgate.testing_http import Asked, FakeHttp, Reply
from tests.kit.passes import MemoryPass, source_of


def query(asked: Asked) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(asked.url).query))


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": number, "name": f"row {number}"} for number in range(1, count + 1)]


def offset_server(count: int, *, total: int | None = None, most: int = 1_000) -> FakeHttp:
    """An API with offset paging over rows 1…count."""

    def answer(asked: Asked) -> Reply:
        asked_for = query(asked)
        begin, limit = int(asked_for["offset"]), min(int(asked_for["limit"]), most)
        headers = {} if total is None else {"X-Total": str(total)}
        return Reply(json=rows(count)[begin : begin + limit], headers=headers)

    return FakeHttp(answer)


ORDER = {"key": "id", "compare": "number"}
OFFSET = {"type": "offset", "limit": 10}
WITH_TOTAL = {**OFFSET, "total_header": "X-Total"}


def listed(source: Any, http: Any, **options: Any) -> MemoryPass:
    done = MemoryPass(source, http, **options).run()
    assert done.errors == {}
    return done


def all_ids(count: int) -> set[str]:
    return {str(number) for number in range(1, count + 1)}


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 95, 100])
def test_offset_pages_with_a_total_and_an_order_are_covered(count):
    http = offset_server(count, total=count)
    done = listed(source_of({"order": ORDER, "endpoint": {"paginator": WITH_TOTAL}}), http)
    assert done.ids("things") == all_ids(count)
    assert done.proof("things") in {"covered", "chained"}
    assert done.closings["things"].deletes


@pytest.mark.parametrize("count", [10, 95, 100])
def test_offset_pages_without_an_order_are_counted(count):
    http = offset_server(count, total=count)
    done = listed(source_of({"endpoint": {"paginator": WITH_TOTAL}}), http)
    assert (done.ids("things"), done.proof("things")) == (all_ids(count), "counted")
    assert not done.closings["things"].deletes


@pytest.mark.parametrize("count", [10, 95, 100, 361])
def test_pages_are_asked_for_ahead_where_there_is_no_total(count):
    http = offset_server(count)
    done = listed(source_of({"order": ORDER, "endpoint": {"paginator": OFFSET}}), http)
    assert (done.ids("things"), done.proof("things")) == (all_ids(count), "covered")
    assert len(http.requests) <= count // 9 + 18


@pytest.mark.parametrize("compare", ["equal", "text"])
def test_keys_that_can_only_be_recognised_cover_a_listing_too(compare):
    def answer(asked: Asked) -> list[dict[str, Any]]:
        begin, limit = int(query(asked)["offset"]), int(query(asked)["limit"])
        return [{"id": f"key-{number:04}"} for number in range(77)][begin : begin + limit]

    order = {"key": "id", "compare": compare}
    done = listed(source_of({"order": order, "endpoint": {"paginator": OFFSET}}), FakeHttp(answer))
    assert (len(done.ids("things")), done.proof("things")) == (77, "covered")


def test_a_descending_order_is_covered():
    def answer(asked: Asked) -> list[dict[str, Any]]:
        begin, limit = int(query(asked)["offset"]), int(query(asked)["limit"])
        return rows(77)[::-1][begin : begin + limit]

    order = {**ORDER, "direction": "desc"}
    done = listed(source_of({"order": order, "endpoint": {"paginator": OFFSET}}), FakeHttp(answer))
    assert (done.ids("things"), done.proof("things")) == (all_ids(77), "covered")


@pytest.mark.parametrize("total", [95, None])
def test_a_page_size_that_the_server_reduces_loses_nothing(total):
    http = offset_server(95, total=total, most=7)
    paginator = WITH_TOTAL if total else OFFSET
    done = listed(source_of({"order": ORDER, "endpoint": {"paginator": paginator}}), http)
    assert done.ids("things") == all_ids(95)


@pytest.mark.parametrize("stated", [40, 2_000])
def test_a_total_that_lies_loses_nothing(stated):
    http = offset_server(95, total=stated)
    done = listed(source_of({"order": ORDER, "endpoint": {"paginator": WITH_TOTAL}}), http)
    assert done.ids("things") == all_ids(95)
    assert done.proof("things") in {"covered", "unproven"}


def test_a_total_of_billions_costs_at_most_a_plan_of_pages():
    http = offset_server(95, total=10**12)
    done = MemoryPass(source_of({"endpoint": {"paginator": WITH_TOTAL}}), http).run()
    assert done.proof("things") == "unproven"
    assert len(http.requests) <= 2_010


@pytest.mark.parametrize("count", [0, 10, 25, 30])
def test_numbered_pages_end_where_the_source_refuses_one(count):
    def answer(asked: Asked) -> Reply:
        page = int(query(asked)["page"])
        if page > 1 and (page - 1) * 10 >= count:
            return Reply(400, json={"code": "rest_post_invalid_page_number"})
        headers = {"X-WP-Total": str(count)}
        return Reply(json=rows(count)[(page - 1) * 10 : page * 10], headers=headers)

    paginator = {
        "type": "page_number",
        "base_page": 1,
        "total_header": "X-WP-Total",
        "ends": "total",
        "ends_status": [400],
    }
    endpoint = {"paginator": paginator, "params": {"per_page": 10}}
    done = listed(source_of({"endpoint": endpoint}), FakeHttp(answer))
    assert done.ids("things") == all_ids(count)
    assert done.proof("things") in {"counted", "chained"}


@pytest.mark.parametrize("count", [0, 25, 2_050])
def test_a_cursor_in_the_body_is_followed_to_its_end(count):
    def answer(asked: Asked) -> dict[str, Any]:
        after = int(query(asked).get("starting_after", "0"))
        page = rows(count)[after : after + 100]
        return {"data": page, "has_more": after + 100 < count}

    paginator = {
        "type": "cursor",
        "cursor_path": "data[-1].id",
        "cursor_param": "starting_after",
        "has_more_path": "has_more",
        "ends": "flag",
    }
    endpoint = {"data_selector": "data", "paginator": paginator}
    done = listed(source_of({"endpoint": endpoint}), FakeHttp(answer))
    assert (done.ids("things"), done.proof("things")) == (all_ids(count), "chained")


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_in_the_body_is_followed_also_if_it_is_relative(relative):
    def answer(asked: Asked) -> dict[str, Any]:
        token = query(asked).get("$skiptoken", "t0")
        place = int(token[1:])
        link = f"things?$skiptoken=t{place + 10}"
        link = link if relative else f"https://api.example/{link}"
        page = {"value": rows(45)[place : place + 10]}
        return page | ({"@odata.nextLink": link} if place + 10 < 45 else {})

    paginator = {"type": "json_link", "next_url_path": '"@odata.nextLink"'}
    endpoint = {"data_selector": "value", "paginator": paginator}
    done = listed(source_of({"endpoint": endpoint}), FakeHttp(answer))
    assert (done.ids("things"), done.proof("things")) == (all_ids(45), "chained")


def linked(asked: Asked) -> Reply:
    page = int(query(asked).get("page", "1"))
    base = "https://api.example/things?per_page=10&page="
    links = [f'<{base}{page + 1}>; rel="next"', f'<{base}5>; rel="last"'] if page < 5 else []
    return Reply(json=rows(45)[(page - 1) * 10 : page * 10], headers={"Link": ", ".join(links)})


@pytest.mark.parametrize(("stable", "proof"), [(True, "chained"), (False, "unproven")])
def test_the_pages_between_two_links_are_asked_for_at_once(stable, proof):
    paginator = {"type": "header_link", "stable": stable}
    endpoint = {"paginator": paginator, "params": {"per_page": 10}}
    http = FakeHttp(linked)
    done = listed(source_of({"endpoint": endpoint}), http, seed=3)
    assert (done.ids("things"), done.proof("things")) == (all_ids(45), proof)
    assert len(http.requests) == 5
    assert len(done.keys) == 5


def test_a_cursor_in_a_header_may_be_a_whole_url():
    def answer(asked: Asked) -> Reply:
        place = int(query(asked).get("_token", "t0")[1:])
        following = {"Next-Page": f"https://api.example/things?_token=t{place + 10}"}
        return Reply(
            json={"data": rows(45)[place : place + 10]}, headers=following if place < 40 else {}
        )

    paginator = {"type": "header_cursor", "cursor_key": "Next-Page"}
    endpoint = {"data_selector": "data", "paginator": paginator}
    done = listed(source_of({"endpoint": endpoint}), FakeHttp(answer))
    assert (done.ids("things"), done.proof("things")) == (all_ids(45), "chained")


@pytest.mark.parametrize("spread", [1, 7, 1_000])
@pytest.mark.parametrize("parallel", ["auto", "off"])
def test_ranges_of_keys_divide_themselves_and_cover_everything(spread, parallel):
    table = [{"id": number**2 * spread} for number in range(1, 500)]

    def answer(asked: Asked) -> dict[str, Any]:
        asked_for = query(asked)
        low = float(asked_for.get("id__gt", "-inf"))
        high = float(asked_for.get("id__lte", "inf"))
        return {"rows": [row for row in table if low < row["id"] <= high][:10]}

    paginator = {"type": "keyset", "after_param": "id__gt", "until_param": "id__lte"}
    endpoint = {"data_selector": "rows", "paginator": paginator, "params": {"_size": 10}}
    http = FakeHttp(answer)
    done = listed(source_of({"endpoint": endpoint, "parallel": parallel}), http)
    assert done.ids("things") == {str(row["id"]) for row in table}
    assert done.proof("things") == "covered"
    assert len(http.requests) < 50 * 3


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("bounds", [{}, {"first": 0, "last": 60_000, "step": 5_000.0}])
def test_windows_of_time_over_a_cursor_lose_nothing(descending, bounds):
    table = [{"id": number, "created": 10 * (number // 3)} for number in range(1, 900)]
    ordered = table[::-1] if descending else table

    def answer(asked: Asked) -> dict[str, Any]:
        asked_for = query(asked)
        low = float(asked_for.get("created[gte]", "-inf"))
        high = float(asked_for.get("created[lt]", "inf"))
        found = [row for row in ordered if low <= row["created"] < high]
        cursor = asked_for.get("after")
        place = [row["id"] for row in found].index(int(cursor)) + 1 if cursor else 0
        return {"data": found[place : place + 10], "has_more": place + 10 < len(found)}

    paginator = {
        "type": "cursor",
        "cursor_path": "data[-1].id",
        "cursor_param": "after",
        "has_more_path": "has_more",
    }
    window = {
        "by": "created",
        "start_param": "created[gte]",
        "end_param": "created[lt]",
        "unix": True,
        **bounds,
    }
    resource = {"range": window, "endpoint": {"data_selector": "data", "paginator": paginator}}
    done = listed(source_of(resource), FakeHttp(answer))
    assert done.ids("things") == {str(row["id"]) for row in table}
    assert done.proof("things") == "chained"
    assert len(done.keys) > 5


def test_a_window_that_reaches_the_cap_divides_itself():
    table = [{"id": number, "created": number} for number in range(1, 300)]

    def answer(asked: Asked) -> Reply:
        asked_for = query(asked)
        low = float(asked_for.get("from", "-inf"))
        high = float(asked_for.get("to", "inf"))
        found = [row for row in table if low <= row["created"] < high]
        begin = int(asked_for["offset"])
        assert begin < 50
        return Reply(json=found[begin : begin + 10], headers={"X-Total": str(len(found))})

    window = {
        "by": "created",
        "start_param": "from",
        "end_param": "to",
        "compare": "number",
        "first": 0,
        "last": 300,
    }
    resource = {"range": window, "endpoint": {"paginator": {**WITH_TOTAL, "cap": 50}}}
    done = listed(source_of(resource), FakeHttp(answer))
    assert done.ids("things") == all_ids(299)


def test_more_rows_than_the_cap_are_an_error_without_a_range():
    http = offset_server(95, total=95)
    paginator = {**WITH_TOTAL, "cap": 50}
    done = MemoryPass(source_of({"endpoint": {"paginator": paginator}}), http).run()
    (reason,) = done.errors.values()
    assert "at most 50 rows" in reason
    assert "`range`" in reason
    assert done.closings == {}


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize(
    "paginator",
    [
        {"type": "offset", "limit": 10, "maximum_offset": 30},
        {"type": "page_number", "limit": 10, "limit_param": "limit", "maximum_page": 2},
    ],
)
@pytest.mark.parametrize("total", [95, None])
def test_a_listing_that_is_cut_is_never_called_complete(paginator, stable, total):
    def answer(asked: Asked) -> Reply:
        given = query(asked)
        begin = int(given.get("offset", 10 * int(given.get("page", 0))))
        headers = {} if total is None else {"X-Total": str(total)}
        return Reply(json=rows(95)[begin : begin + 10], headers=headers)

    words = {**paginator, "stable": stable, "total_header": "X-Total"}
    done = listed(source_of({"endpoint": {"paginator": words}}), FakeHttp(answer))
    assert (done.ids("things"), done.proof("things")) == (all_ids(30), "unproven")
    assert not done.closings["things"].deletes


def test_a_listing_that_ends_before_its_maximum_is_complete():
    words = {**WITH_TOTAL, "maximum_offset": 100}
    done = listed(source_of({"endpoint": {"paginator": words}}), offset_server(95, total=95))
    assert (done.ids("things"), done.proof("things")) == (all_ids(95), "counted")


def posted(paginator: dict[str, Any], answer: Any) -> tuple[MemoryPass, list[Any]]:
    bodies: list[Any] = []

    def reply(asked: Asked) -> Any:
        bodies.append(asked.options["json"])
        assert (asked.method, urlsplit(asked.url).query) == ("POST", "")
        return answer(asked.options["json"])

    endpoint = {
        "method": "POST",
        "json": {"filter": {"state": "open"}},
        "data_selector": "rows",
        "paginator": paginator,
    }
    return listed(source_of({"endpoint": endpoint}), FakeHttp(reply)), bodies


def test_offset_and_limit_may_stand_in_the_body():
    paginator = {
        "type": "offset",
        "limit": 10,
        "offset_body_path": "page.from",
        "limit_body_path": "page.size",
        "total_path": "total",
    }

    def answer(body: Any) -> Any:
        begin, size = body["page"]["from"], body["page"]["size"]
        return {"rows": rows(25)[begin : begin + size], "total": 25}

    done, bodies = posted(paginator, answer)
    assert (done.ids("things"), done.proof("things")) == (all_ids(25), "counted")
    assert bodies[0] == {"filter": {"state": "open"}, "page": {"from": 0, "size": 10}}


def test_a_page_number_may_stand_in_the_body():
    paginator = {"type": "page_number", "page_body_path": "page", "limit": 10, "ends": "short"}
    done, _ = posted(paginator, lambda body: {"rows": rows(25)[10 * body["page"] :][:10]})
    assert done.ids("things") == all_ids(25)


def test_a_cursor_may_stand_in_the_body():
    paginator = {"type": "cursor", "cursor_path": "next", "cursor_body_path": "after.cursor"}

    def answer(body: Any) -> Any:
        begin = int(body.get("after", {}).get("cursor", "c0")[1:])
        following = f"c{begin + 10}" if begin + 10 < 25 else None
        return {"rows": rows(25)[begin : begin + 10], "next": following}

    done, bodies = posted(paginator, answer)
    assert (done.ids("things"), done.proof("things")) == (all_ids(25), "chained")
    assert bodies[1] == {"filter": {"state": "open"}, "after": {"cursor": "c10"}}
