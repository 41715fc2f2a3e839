"""Pages by a key that is a time or a text, unique or not, bring every row once."""

import random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.ordering import Compare, position, time_text
from headgate.testing_http import Asked, FakeHttp
from tests.kit.passes import MemoryPass, source_of

SIZE = 5
BEGIN_S = 1_767_225_600


def listing(keys: list[Any], compare: str) -> FakeHttp:
    """A source that lists rows by a key, which need not be unique."""

    def place(key: Any) -> Any:
        return position(key, Compare(compare))

    rows = [{"id": number, "key": key} for number, key in enumerate(keys)]
    rows.sort(key=lambda row: (place(row["key"]), row["id"]))

    def answer(asked: Asked) -> list[dict[str, Any]]:
        given = dict(parse_qsl(urlsplit(asked.url).query))
        bounds = {name: position(_sent(value), Compare(compare)) for name, value in given.items()}
        found = [
            row
            for row in rows
            if ("after" not in bounds or place(row["key"]) > bounds["after"])
            and ("until" not in bounds or place(row["key"]) <= bounds["until"])
        ]
        return found[:SIZE]

    return FakeHttp(answer)


def _sent(value: str) -> Any:
    return int(value) if value.isdecimal() else value


def source(compare: str, **words: Any) -> dict[str, Any]:
    paginator = {
        "type": "keyset",
        "key": "key",
        "compare": compare,
        "limit": SIZE,
        "after_param": "after",
        "until_param": "until",
    }
    return source_of({"endpoint": {"paginator": paginator}, **words})


def listed(keys: list[Any], compare: str, **words: Any) -> MemoryPass:
    done = MemoryPass(source(compare, **words), listing(keys, compare)).run()
    assert done.errors == {}
    assert done.ids("things") == {str(number) for number in range(len(keys))}
    assert done.proof("things") == "covered"
    return done


@pytest.mark.parametrize("parallel", ["auto", "off"])
@pytest.mark.parametrize("count", [0, 1, 5, 6, 83])
def test_texts_are_listed_in_turn(count, parallel):
    listed([f"key {number:04}" for number in range(count)], "text", parallel=parallel)


@pytest.mark.parametrize("unix", [False, True])
@pytest.mark.parametrize("step_s", [1, 60, 86_400])
def test_ranges_of_times_divide_themselves(step_s, unix):
    keys = [time_text((BEGIN_S + n * step_s) * 1_000_000, unix=unix) for n in range(200)]
    done = listed(keys, "time")
    assert sum("until" in str(key) or "," in key for key in done.keys) > 3


times = st.lists(st.integers(0, 40_000_000), max_size=80)


@settings(max_examples=60, deadline=None)
@given(times, st.sampled_from(["auto", "off"]))
def test_times_with_fractions_that_are_not_unique_lose_nothing(offsets, parallel):
    crowd = max((offsets.count(each) for each in offsets), default=0)
    keys = [time_text(BEGIN_S * 1_000_000 + each, unix=False) for each in offsets]
    if crowd < SIZE:
        listed(keys, "time", parallel=parallel)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 2).map(lambda value: round(value, 2)), max_size=80, unique=True))
def test_fractions_of_numbers_lose_nothing(keys):
    rows = [{"id": number, "key": key} for number, key in enumerate(sorted(keys))]

    def answer(asked: Asked) -> list[dict[str, Any]]:
        given = {name: float(value) for name, value in parse_qsl(urlsplit(asked.url).query)}
        low, high = given.get("after", -9.0), given.get("until", 1e300)
        return [row for row in rows if low < row["key"] <= high][:SIZE]

    done = MemoryPass(source("number"), FakeHttp(answer)).run()
    assert (done.errors, len(done.ids("things"))) == ({}, len(keys))
    assert done.proof("things") == "covered"


def test_numbers_that_are_not_unique_are_listed_if_the_order_says_so():
    keys = [number // 3 for number in range(100)]
    listed(keys, "number", order={"key": "key", "compare": "number", "unique": False})


def test_more_rows_with_one_key_than_a_page_has_are_an_error():
    keys = [time_text(BEGIN_S * 1_000_000, unix=False)] * (SIZE + 1)
    done = MemoryPass(source("time"), listing(keys, "time")).run()
    (reason,) = done.errors.values()
    assert "rows of a page have the same 'key'" in reason
    assert done.closings == {}


def test_a_parameter_that_the_source_ignores_is_an_error_and_no_endless_listing():
    rows = [{"id": number, "key": number} for number in range(SIZE)]
    done = MemoryPass(source("number", parallel="off"), FakeHttp({"*": rows})).run()
    (reason,) = done.errors.values()
    assert "check `after_param` (after)" in reason


def test_a_key_that_may_change_proves_nothing():
    order = {"key": "key", "compare": "time", "immutable": False}
    keys = [time_text((BEGIN_S + number) * 1_000_000, unix=False) for number in range(20)]
    done = MemoryPass(source("time", order=order), listing(keys, "time")).run()
    assert done.proof("things") == "unproven"
    assert len(done.ids("things")) == 20


def test_rows_in_another_order_are_an_error():
    keys = random.Random(1).sample(range(100), SIZE)
    rows = [{"id": number, "key": key} for number, key in enumerate(keys)]
    done = MemoryPass(source("number"), FakeHttp({"*": rows})).run()
    (reason,) = done.errors.values()
    assert "not sorted by 'key'" in reason
