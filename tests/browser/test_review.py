"""What waits for a person: side by side, decided by keys, one after the other."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.browser import PHONE, Visitor


@pytest.fixture
def judge(api: ApiServer, request: pytest.FixtureRequest) -> Caller:
    return api.user(f"judge-{request.node.name[:40]}")


def reviews(judge: Caller, count: int) -> str:
    return judge.done(rows_csv(count, **{f"r{n}": "review" for n in range(1, count + 1)}))


def _is_open(someone: Visitor, key: str) -> None:
    """Wait until an item is there to be decided; before, keys do nothing."""
    expect(someone.page.get_by_role("heading", level=2)).to_have_text(key)


def test_items_are_decided_by_keys_alone(visit: Visit, judge: Caller):
    job = reviews(judge, 4)
    someone = visit(judge)
    someone.open("/review", "Review")
    page, keys = someone.page, someone.page.keyboard
    expect(page.get_by_text("1 of 4", exact=True)).to_be_visible()
    # The best candidate is chosen already; the arrow goes to the next.
    expect(page.get_by_role("radio", name="1. Universe")).to_be_checked()
    keys.press("ArrowRight")
    expect(page.get_by_role("radio", name="2. Earth")).to_be_checked()
    keys.press("a")
    someone.told("accepted “Earth”")
    expect(page.get_by_text("1 of 3", exact=True)).to_be_visible()
    _is_open(someone, "2")
    keys.press("n")
    someone.told("not found")
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    _is_open(someone, "3")
    keys.press("j")
    expect(page.get_by_text("2 of 2", exact=True)).to_be_visible()
    _is_open(someone, "4")
    keys.press("s")
    someone.told("skipped")
    _is_open(someone, "3")
    keys.press("1")
    keys.press("a")
    expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    counts = judge.job(job)["counts"]
    assert (counts["done"], counts["notFound"], counts["skipped"]) == (2, 1, 1)
    assert [item["result"] for item in judge.items(job, statuses="DONE")] == [
        {"match": "Q2"},
        {"match": "Q1"},
    ]


def test_keys_that_come_faster_than_answers_all_count(visit: Visit, judge: Caller):
    job = reviews(judge, 8)
    someone = visit(judge)
    someone.open("/review", "Review")
    _is_open(someone, "1")
    for key in ["a", "a", "2", "a", "n", "s", "ArrowRight", "a", "a", "a"]:
        someone.page.keyboard.press(key)
    expect(someone.page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    found = {item["key"]: (item["status"], item["result"]) for item in judge.items(job)}
    first, second = ("DONE", {"match": "Q1"}), ("DONE", {"match": "Q2"})
    assert [found[str(n)][0] for n in (4, 5)] == ["NOT_FOUND", "SKIPPED"]
    assert [found[str(n)] for n in (1, 2, 3, 6, 7, 8)] == [
        first,
        first,
        second,
        second,
        first,
        first,
    ]


def test_the_row_stands_beside_its_candidates(visit: Visit, judge: Caller):
    reviews(judge, 1)
    someone = visit(judge)
    someone.open("/review", "Review")
    table = someone.page.get_by_role("table")
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert [head.splitlines()[0] for head in heads] == ["Row", "1. Universe", "2. Earth"]
    name = table.get_by_role("row").filter(has=someone.page.get_by_role("rowheader", name="name"))
    expect(name).to_contain_text("name 1")
    match = table.get_by_role("row").filter(has=someone.page.get_by_role("rowheader", name="match"))
    expect(match).to_contain_text("Q1")


def test_an_item_reviewed_by_another_user_is_not_reviewed_again(visit: Visit, judge: Caller):
    job = reviews(judge, 2)
    someone = visit(judge)
    someone.open("/review", "Review")
    first, second = judge.pages("/api/reviews", jobId=job)
    judge.post(f"/api/items/{first['id']}/skip").ok()
    expect(someone.page.get_by_text("1 of 1", exact=True)).to_be_visible()
    someone.open(f"/review?item={first['id']}", "Review")
    reviewed = "This item was already reviewed"
    expect(someone.page.get_by_role("heading", name=reviewed)).to_be_visible()
    someone.page.get_by_role("button", name="Continue").click()
    expect(someone.page.get_by_role("heading", name=second["key"], exact=True)).to_be_visible()


def test_a_phone_shows_the_candidates_below_the_row(visit: Visit, judge: Caller):
    reviews(judge, 1)
    someone = visit(judge, viewport=PHONE, has_touch=True)
    someone.open("/review", "Review")
    expect(someone.page.get_by_role("region", name="Row", exact=True)).to_be_visible()
    someone.page.get_by_role("radio", name="2. Earth").check()
    someone.page.get_by_role("button", name="Accept “Earth”").click()
    someone.told("accepted “Earth”")
