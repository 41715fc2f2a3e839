"""What a lookup makes of replies, of hostile ones as well."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.core.errors import UsageError
from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import Done, NotFound, Review
from headgate.handlers.words.expression import Expression
from tests.kit.answers import Answer
from tests.kit.lookups import Asking, asking, described
from tests.kit.provider import Provider


@pytest.fixture
async def ask() -> AsyncIterator[Asking]:
    async with asking() as found:
        yield found


def answering(provider: Provider, value: Any, status: int = 200, **headers: str) -> None:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    provider.script = lambda _: Answer(status, list(headers.items()), body)


async def test_columns_come_from_body_headers_and_status(ask: Asking, provider: Provider):
    answering(provider, {"items": [{"price": 3, "tags": ["a"]}]}, 201, ETag='"x"')
    columns = {
        "price": "items[0].price",
        "tags": {"path": "items[0].tags"},
        "none": "nothing.here",
        "etag": {"header": "ETag"},
        "absent": {"header": "X-Absent"},
        "status": {"status": True},
    }
    assert await ask(described(provider, columns=columns), {}) == Done(
        {"price": 3, "tags": ["a"], "none": None, "etag": '"x"', "absent": None, "status": 201}
    )


async def test_headers_and_status_need_no_json(ask: Asking, provider: Provider):
    answering(provider, b"<html>", 200)
    assert await ask(described(provider, columns={"s": {"status": True}}), {}) == Done({"s": 200})


async def test_text_is_read_where_that_is_said(ask: Asking, provider: Provider):
    answering(provider, "grün".encode("latin-1"), **{"Content-Type": "text/plain; charset=latin-1"})
    lookup = described(provider, reply="text", columns={"color": "text", "long": "length(text)"})
    assert await ask(lookup, {}) == Done({"color": "grün", "long": 4})


@pytest.mark.parametrize("status", [404, 410])
async def test_not_found_is_an_answer(ask: Asking, provider: Provider, status: int):
    answering(provider, {}, status)
    ended = await ask(described(provider, "/x"), {})
    assert isinstance(ended, NotFound)
    assert ended.reason.endswith(f"/x answered {status}")


@pytest.mark.parametrize("value", [[], {}, "", None, False])
async def test_nothing_in_the_reply_is_not_found(ask: Asking, provider: Provider, value: Any):
    answering(provider, {"items": value})
    lookup = described(provider, not_found={"empty": "items"}, columns={"n": "items"})
    assert isinstance(await ask(lookup, {}), NotFound)


async def test_nought_is_something(ask: Asking, provider: Provider):
    answering(provider, {"items": 0})
    lookup = described(provider, not_found={"empty": "items"}, columns={"n": "items"})
    assert await ask(lookup, {}) == Done({"n": 0})


async def test_an_empty_reply_is_not_found_where_something_is_looked_for(
    ask: Asking, provider: Provider
):
    answering(provider, b"", 204)
    lookup = described(provider, not_found={"empty": "items"}, columns={"n": "items"})
    assert isinstance(await ask(lookup, {}), NotFound)


async def test_other_statuses_can_mean_not_found_and_the_usual_ones_an_error(
    ask: Asking, provider: Provider
):
    lookup = described(provider, not_found={"statuses": [422]})
    answering(provider, {}, 422)
    assert isinstance(await ask(lookup, {}), NotFound)
    answering(provider, {}, 400)
    ended = await ask(lookup, {})
    assert isinstance(ended, Fault)
    assert ended.kind is FaultClass.PERMANENT


# ---- choices -----------------------------------------------------------------------------------

REVIEW = {
    "candidates": "hits",
    "name": "label",
    "columns": {"qid": "id", "born": "facts.born"},
}


async def test_several_candidates_are_for_a_person(ask: Asking, provider: Provider):
    hits = [{"id": 1, "label": "A", "score": 0.9, "facts": {"born": 1815}}, {"id": 2}]
    answering(provider, {"hits": hits})
    lookup = described(provider, columns={"qid": "hits[0].id"}, review=REVIEW)
    assert await ask(lookup, {}) == Review(
        [
            {"id": 1, "name": "A", "score": 0.9, "result": {"qid": 1, "born": 1815}},
            {"id": 2, "name": None, "score": None, "result": {"qid": 2, "born": None}},
        ]
    )
    answering(provider, {"hits": hits[:1]})
    assert await ask(lookup, {}) == Done({"qid": 1})


async def test_when_to_ask_can_be_said(ask: Asking, provider: Provider):
    review = {"candidates": "hits", "when": "hits[?score < `0.5`]"}
    lookup = described(provider, columns={"id": "hits[0].id"}, review=review)
    answering(provider, {"hits": [{"id": 1, "score": 0.9}, {"id": 2, "score": 0.8}]})
    assert await ask(lookup, {}) == Done({"id": 1})
    answering(provider, {"hits": [{"id": 1, "name": "A", "score": 0.4, "facts": {}}]})
    assert await ask(lookup, {}) == Review(
        [{"id": 1, "name": "A", "score": 0.4, "result": {"id": 1, "name": "A", "score": 0.4}}]
    )


@pytest.mark.parametrize("hits", [None, {}, "text", 3])
async def test_candidates_that_are_not_a_list_are_an_error(
    ask: Asking, provider: Provider, hits: Any
):
    answering(provider, {"hits": hits})
    ended = await ask(described(provider, review=REVIEW), {})
    assert isinstance(ended, Fault)
    assert "review.candidates: 'hits' does not give a list" in ended.reason


async def test_at_most_a_hundred_candidates_are_shown(ask: Asking, provider: Provider):
    answering(provider, {"hits": [{"id": number} for number in range(1_000)]})
    ended = await ask(described(provider, review=REVIEW), {})
    assert isinstance(ended, Review)
    assert len(ended.candidates) == 100


# ---- hostile replies ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "with a body that is not JSON (text/html); if the reply is text, write"),
        (b"", "with a body that is not JSON"),
        (b'{"a": ', "with a body that is not JSON"),
        (b"\xff\xfe\xfa", "with a body that is not JSON"),
        (b"[" * 100_000, "with a body that is not JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "with a body that is not JSON"),
        (b"x" * 2_000_000, "answered with more than 1,000,000 bytes"),
        (b'{"a": "' + b"x" * 2_000_000 + b'"}', "answered with more than 1,000,000 bytes"),
    ],
)
async def test_a_reply_that_cannot_be_read_is_a_permanent_error(
    ask: Asking, provider: Provider, body: bytes, reason: str
):
    answering(provider, body, **{"Content-Type": "text/html"})
    ended = await ask(described(provider, columns={"a": "a"}, reply_bytes=1_000_000), {})
    assert isinstance(ended, Fault)
    assert ended.kind is FaultClass.PERMANENT
    assert reason in ended.reason


@pytest.mark.parametrize("value", [[], 3, "text", None, [[[]]], {"a": {"a": "\0\ud800"}}])
async def test_a_reply_of_another_shape_leaves_columns_empty(
    ask: Asking, provider: Provider, value: Any
):
    answering(provider, value)
    assert await ask(described(provider, columns={"b": "a.b.c"}), {}) == Done({"b": None})


async def test_a_reply_of_the_wrong_type_is_said(ask: Asking, provider: Provider):
    answering(provider, {"a": 3})
    ended = await ask(described(provider, columns={"n": "length(a)"}), {})
    assert isinstance(ended, Fault)
    assert ended.reason.startswith("columns.n: the reply does not fit 'length(a)': ")


@pytest.mark.parametrize(
    "expression",
    [
        "join('', [@, @])" + " | join('', [@, @])" * 20,
        "[@, @]" + " | [@, @]" * 30,
        "[*].[@, @]" + " | [].[@, @]" * 20,
        "{a: @, b: @}" + ".{a: @, b: @}" * 20,
        "map(&[@, @], @)" + " | map(&[@, @], @)" * 20,
        "to_string([@])" + " | to_string([@])" * 20,
        f"join('{'x' * 200}', @)",
        "[" + ",".join(["@"] * 200) + "]",
    ],
)
def test_an_expression_that_could_make_a_bomb_is_refused(expression: str):
    with pytest.raises(UsageError, match="could make a reply too large"):
        Expression(expression, "columns.x")


@pytest.mark.parametrize(
    "expression",
    [
        "a.b[0].c",
        "items[?type=='a very long literal that is compared'].{id: id, name: names.en} | [0]",
        "join(', ', authors[*].name)",
        "sort_by(items, &score)[-1].id",
        "not_null(price, offers[0].price, `0`)",
        "length(items[?contains(name, 'pear')]) > `1`",
    ],
)
def test_usual_expressions_pass(expression: str):
    assert Expression(expression, "columns.x").text == expression
