"""Parents bring children, changed rows bring their details, and passes begin where they should."""

from typing import Any

import msgspec
import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import PassWish, StreamState, parse_source, plan_pass
from headgate.ports.mirrors import PassMode
from headgate.testing_http import Asked, FakeHttp, Reply
from tests.kit.passes import MemoryPass, source_of

SINGLE = {"paginator": "single_page"}
ISSUES = {"name": "issues", "endpoint": SINGLE}
COMMENTS = {
    "name": "comments",
    "include_from_parent": ["number"],
    "primary_key": ["_parent.id", "id"],
    "endpoint": {"path": "/issues/{resources.issues.number}/comments", **SINGLE},
}
CLIENT = {"base_url": "https://api.example"}
FAMILY = {"client": CLIENT, "resources": [ISSUES, COMMENTS]}


def family(asked: Asked) -> Any:
    path = asked.url.removeprefix("https://api.example")
    if path == "/issues":
        return [{"id": f"i{n}", "number": n} for n in range(1, 5)]
    number = int(path.split("/")[2])
    return 404 if number == 3 else [{"id": n} for n in range(number)]


def test_each_row_of_a_parent_brings_its_children():
    done = MemoryPass(FAMILY, FakeHttp(family)).run()
    assert done.errors == {}
    assert done.ids("comments") == {
        *('["i1",0]', '["i2",0]', '["i2",1]'),
        *('["i4",0]', '["i4",1]', '["i4",2]', '["i4",3]'),
    }
    assert done.body("comments", '["i2",1]') == {"id": 1, "_issues_number": 2}
    assert done.rows["comments", '["i2",1]'].parent == "i2"
    assert done.proof("comments") == "chained"


def test_a_listing_of_a_parent_that_has_gone_is_not_an_error():
    done = MemoryPass(FAMILY, FakeHttp(family)).run()
    assert list(done.missing) == ["comments/i3/first"]


def test_a_list_in_a_parents_row_brings_a_child_for_each_of_its_values():
    def answer(asked: Asked) -> Any:
        if asked.url.endswith("/models"):
            return [{"name": "m", "explores": [{"name": "a"}, {"name": "b/c"}]}]
        return {"id": asked.url.rpartition("/")[2]}

    path = "/models/{resources.models.name}/explores/{resources.models.explores[].name}"
    models = {"name": "models", "primary_key": "name", "endpoint": SINGLE}
    explores = {"name": "explores", "endpoint": {"path": path, **SINGLE}}
    source = {"client": CLIENT, "resources": [models, explores]}
    done = MemoryPass(source, FakeHttp(answer)).run()
    assert (done.errors, done.ids("explores")) == ({}, {"a", "b%2Fc"})


DETAILED = source_of({"endpoint": SINGLE, "detail": {"path": "/things/{id}"}})


def detailed(asked: Asked) -> Any:
    name = asked.url.rpartition("/")[2]
    if name == "things":
        return [{"id": n, "changed": n} for n in range(3)]
    return 404 if name == "2" else {"id": int(name), "whole": True}


def test_only_new_and_changed_rows_are_asked_for_their_details():
    first = MemoryPass(DETAILED, FakeHttp(detailed)).run()
    assert first.ids("things") == {"0", "1"}
    assert first.body("things", "1") == {"id": 1, "whole": True}
    assert list(first.missing) == ["things/detail=2"]
    known = {"things": {row.id: row.hash for row in first.rows.values()}}
    http = FakeHttp(detailed)
    MemoryPass(DETAILED, http, known=known).run()
    assert [each.url.rpartition("/")[2] for each in http.requests] == ["things", "2"]


def test_details_are_always_asked_for_where_the_description_says_so():
    always = source_of({"endpoint": SINGLE, "detail": {"path": "/things/{id}", "when": "always"}})
    done = MemoryPass(always, FakeHttp(detailed)).run()
    assert done.ids("things") == {"0", "1"}


def test_a_detail_of_another_row_is_an_error():
    def answer(asked: Asked) -> Any:
        return [{"id": 1}] if asked.url.endswith("things") else {"id": 7}

    done = MemoryPass(DETAILED, FakeHttp(answer)).run()
    assert "with the row '7', and '1' was asked for" in done.errors["things/detail=1"]


CHANGED = {"cursor_path": "updated_at", "start_param": "since", "lag": "5m"}
STAMPED = source_of({"endpoint": {**SINGLE, "incremental": CHANGED}})
MARK = "2026-01-02T03:04:05Z"


def test_a_second_pass_asks_from_the_watermark_less_the_lag():
    http = FakeHttp({"*": [{"id": 1, "updated_at": MARK}]})
    done = MemoryPass(STAMPED, http).run()
    assert http.requests[0].url == "https://api.example/things"
    assert done.closings["things"].watermark == MARK
    state = {"things": StreamState(done.closings["things"].watermark)}
    again = FakeHttp({"*": []})
    done = MemoryPass(STAMPED, again, states=state).run()
    assert again.requests[0].options["params"] == {"since": "2026-01-02T02:59:05Z"}
    assert done.checkpoints["things"].mode is PassMode.INCREMENTAL
    assert done.closings["things"].watermark is None


def test_only_changed_parents_bring_their_children_in_an_incremental_pass():
    changed = {"cursor_path": "updated_at", "start_param": "since"}
    issues = {"name": "issues", "endpoint": {**SINGLE, "incremental": changed}}
    source = {"client": CLIENT, "resources": [issues, COMMENTS]}
    rows = [{"id": f"i{n}", "number": n, "updated_at": MARK} for n in (1, 2)]

    def answer(asked: Asked) -> Any:
        return family(asked) if "comments" in asked.url else rows

    first = MemoryPass(source, FakeHttp(answer)).run()
    known = {"issues": {"i1": first.rows["issues", "i1"].hash, "i2": "another"}}
    http = FakeHttp(answer)
    states = {"issues": StreamState(MARK), "comments": StreamState(full_at=1)}
    again = MemoryPass(source, http, states=states, known=known).run()
    assert [each.url.partition("example")[2] for each in http.requests] == [
        *(f"/issues?since={MARK.replace(':', '%3A')}", "/issues/2/comments"),
    ]
    assert {each.mode for each in again.checkpoints.values()} == {PassMode.INCREMENTAL}
    assert again.ids("comments") == {'["i2",0]', '["i2",1]'}
    assert again.closings["comments"].proof == "chained"


def test_an_incremental_pass_in_which_no_parent_changed_closes_the_children_too():
    changed = {"cursor_path": "updated_at", "start_param": "since"}
    issues = {"name": "issues", "endpoint": {**SINGLE, "incremental": changed}}
    source = {"client": CLIENT, "resources": [issues, COMMENTS]}
    states = {"issues": StreamState(MARK), "comments": StreamState(full_at=1)}
    done = MemoryPass(source, FakeHttp({"*": []}), states=states).run()
    assert set(done.closings) == {"issues", "comments"}


def by_date(date: str | None) -> MemoryPass:
    changed = {"start_param": "since", "watermark": "date", "lag": "1m"}
    source = source_of({"endpoint": {**SINGLE, "incremental": changed}})
    reply = Reply(json=[{"id": 1}], headers={"Date": date} if date else {})
    return MemoryPass(source, FakeHttp({"*": reply})).run()


def test_the_next_pass_may_begin_at_the_time_of_the_first_page():
    done = by_date("Fri, 02 Jan 2026 03:04:05 GMT")
    assert done.closings["things"].watermark == MARK


@pytest.mark.parametrize("date", [None, "yesterday"])
def test_a_reply_without_a_date_is_an_error_where_the_next_pass_begins_at_it(date):
    (reason,) = by_date(date).errors.values()
    assert "without a usable Date header" in reason


def test_rows_keep_their_stamp_in_a_stream_that_is_always_listed_in_full():
    source = source_of({"endpoint": SINGLE, "updated": "meta.changed"})
    done = MemoryPass(source, FakeHttp({"*": [{"id": 1, "meta": {"changed": MARK}}]})).run()
    assert done.rows["things", "1"].updated == MARK
    assert (
        plan_pass(parse_source(source), {"things": StreamState(MARK)}).checkpoints[0].since is None
    )


def test_rows_that_say_that_they_are_deleted_are_kept_as_deleted():
    source = source_of({"endpoint": SINGLE, "deleted": "deleted_at != null"})
    rows = [{"id": 1, "deleted_at": None}, {"id": 2, "deleted_at": MARK}]
    done = MemoryPass(source, FakeHttp({"*": rows})).run()
    assert [row.deleted for row in done.rows.values()] == [False, True]


def test_a_count_of_its_own_is_asked_before_and_after():
    def answer(asked: Asked) -> Reply:
        if asked.method == "HEAD":
            return Reply(headers={"Total": "25"})
        begin = int(asked.options["params"]["offset"])
        return Reply(json=[{"id": n} for n in range(25)][begin : begin + 10])

    paginator = {"type": "offset", "limit": 10, "total_header": "Total", "total_url": "/things"}
    http = FakeHttp(answer)
    done = MemoryPass(source_of({"endpoint": {"paginator": paginator}}), http).run()
    assert (done.proof("things"), done.totals["things"]) == ("counted", 25)
    assert sum(each.method == "HEAD" for each in http.requests) == 2


def planned(wish: PassWish, full_every: str = "", **state: Any) -> tuple[str, str | None]:
    source = {**STAMPED, **({"full_every": full_every} if full_every else {})}
    plan = plan_pass(parse_source(source), {"things": StreamState(MARK, **state)}, wish)
    (checkpoint,) = plan.checkpoints
    first = msgspec.json.decode(plan.items[0].input)
    assert first.get("since") == checkpoint.since
    return checkpoint.mode, checkpoint.since


DAY_US = 86_400 * 1_000_000


@pytest.mark.parametrize(
    ("wish", "full_at", "expected"),
    [
        (PassWish(), 0, ("incremental", "2026-01-02T02:59:05Z")),
        (PassWish(full=True), 0, ("full", None)),
        (PassWish(since="2020-01-01"), 0, ("incremental", "2020-01-01")),
        (PassWish(now=6 * DAY_US), 0, ("incremental", "2026-01-02T02:59:05Z")),
        (PassWish(now=7 * DAY_US), 0, ("full", None)),
        (PassWish(now=7 * DAY_US), None, ("full", None)),
    ],
)
def test_a_pass_is_full_when_asked_or_due(wish, full_at, expected):
    assert planned(wish, "7d", full_at=full_at) == expected


def test_a_stream_brings_its_parents_into_the_plan_and_waits_for_them():
    plan = plan_pass(parse_source(FAMILY), {}, PassWish(streams=["comments"]))
    assert [(each.name, each.after) for each in plan.checkpoints] == [
        ("issues", ""),
        ("comments", "issues"),
    ]
    assert [item.key for item in plan.items] == ["issues/first"]


def test_a_stream_that_the_source_does_not_have_is_refused():
    with pytest.raises(UsageError, match="no stream 'isues'; it has issues, comments"):
        plan_pass(parse_source(FAMILY), {}, PassWish(streams=["isues"]))


def test_a_child_that_was_never_listed_makes_its_parents_be_listed_in_full():
    changed = {"cursor_path": "updated_at", "start_param": "since"}
    issues = {"name": "issues", "endpoint": {**SINGLE, "incremental": changed}}
    source = parse_source({"client": CLIENT, "resources": [issues, COMMENTS]})
    states = {"issues": StreamState(MARK, 1)}
    alone = plan_pass(source, states, PassWish(streams=["issues"]))
    both = plan_pass(source, states)
    assert [each.mode for each in alone.checkpoints] == [PassMode.INCREMENTAL]
    assert {each.mode for each in both.checkpoints} == {PassMode.FULL}


def test_children_that_a_pass_leaves_out_are_not_listed():
    done = MemoryPass(FAMILY, FakeHttp(family), streams=["issues"]).run()
    assert done.errors == {}
    assert set(done.closings) == {"issues"}
    assert done.ids("comments") == set()
