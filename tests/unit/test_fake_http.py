"""A handler is tested without a server: scripted replies, and packs of several."""

from typing import Any

import pytest

from headgate import Done, NotFound, handler
from headgate.core.fault import AttemptOver
from headgate.handlers.lookup import of_config
from headgate.testing import Asked, FakeHttp, Reply, run_handler

URL = "https://shop.example/prices"


async def price(item: Any, ctx: Any) -> Any:
    reply = await ctx.http.get(f"{URL}/{item.input['sku']}", params={"currency": "EUR"})
    return {"price": reply.raise_for_status().json()["price"]}


def plain_price(item: Any, ctx: Any) -> Any:
    reply = ctx.http.get(f"{URL}/{item.input['sku']}")
    ctx.spend(tokens=3)
    return {"price": reply.raise_for_status().json()["price"]}


@pytest.mark.parametrize("asks", [price, plain_price])
def test_replies_are_found_by_url(asks: Any):
    http = FakeHttp({f"{URL}/A1": {"price": 12.5}, f"{URL}/*": 404})
    assert run_handler(asks, {"sku": "A1"}, http=http) == Done({"price": 12.5})
    assert isinstance(run_handler(asks, {"sku": "B2"}, http=http), NotFound)
    assert [(each.method, each.url.partition("?")[0]) for each in http.requests] == [
        ("GET", f"{URL}/A1"),
        ("GET", f"{URL}/B2"),
    ]


def test_parameters_methods_and_turns():
    http = FakeHttp(
        {
            f"{URL}/A1?currency=EUR": (503, Reply(200, json={"price": 1}, headers={"X-A": "b"})),
            f"POST {URL}": "made",
        }
    )
    with pytest.raises(AttemptOver, match="answered 503"):
        run_handler(price, {"sku": "A1"}, http=http)
    assert run_handler(price, {"sku": "A1"}, http=http) == Done({"price": 1})
    assert run_handler(price, {"sku": "A1"}, http=http) == Done({"price": 1})
    assert http.post(URL, json={"a": 1}).text == "made"
    assert http.requests[-1].options == {"json": {"a": 1}}
    assert http.get(f"{URL}/A1?currency=EUR").headers["x-a"] == "b"


def test_a_function_and_exceptions_may_answer():
    def answer(asked: Asked) -> Any:
        if asked.url.endswith("down"):
            return ConnectionError("no route")
        return {"price": len(asked.url)}

    http = FakeHttp(answer)
    assert run_handler(plain_price, {"sku": "A"}, http=http) == Done({"price": len(URL) + 2})
    assert http.spent == [{"tokens": 3}]
    with pytest.raises(ConnectionError, match="no route"):
        run_handler(plain_price, {"sku": "down"}, http=http)


def test_an_unscripted_request_lists_the_scripted_ones():
    with pytest.raises(LookupError, match=r"GET https://shop.example/prices/A1; scripted: x"):
        run_handler(plain_price, {"sku": "A1"}, http=FakeHttp({"x": 200}))
    with pytest.raises(TypeError, match="a mapping, a list, a text or a status"):
        FakeHttp({"x": 1.5}).get("x")


async def test_a_stream_gives_the_body():
    async with FakeHttp({"x": "abc"}).stream("GET", "x") as reply:
        assert await reply.aread() == b"abc"
        assert [chunk async for chunk in reply.aiter_bytes()] == [b"abc"]


@handler("packed", pack=10)
async def packed(items: Any, ctx: Any) -> Any:
    reply = await ctx.http.post(URL, json=[item.input["sku"] for item in items])
    return [{"price": each} if each else NotFound("no price") for each in reply.json()]


def test_a_pack_of_several():
    http = FakeHttp({URL: [1, None, 3]})
    found = run_handler(packed, [{"sku": "A"}, {"sku": "B"}, {"sku": "C"}], http=http)
    assert found == [Done({"price": 1}), NotFound("no price"), Done({"price": 3})]
    assert http.requests[0].options["json"] == ["A", "B", "C"]
    with pytest.raises(TypeError, match="a pack of 2 needs a list of 2 outcomes"):
        run_handler(packed, [{"sku": "A"}, {"sku": "B"}], http=http)
    with pytest.raises(TypeError, match="give this one a single input"):
        run_handler(price, [{"sku": "A"}], http=http)


def test_a_described_lookup_reserves_a_cost_and_says_what_it_took():
    description = {
        "request": {"url": "https://model.example/answers/{n}"},
        "columns": {"answer": "text"},
        "cost": {"tokens": "{n}", "usd": 0.5},
        "spend": {"tokens": "usage.total"},
    }
    http = FakeHttp({"https://model.example/*": {"text": "yes", "usage": {"total": 41}}})
    spec = of_config({"lookup": description})
    assert run_handler(spec, {"n": 60}, config={"lookup": description}, http=http) == Done(
        {"answer": "yes"}
    )
    assert http.requests[0].options["cost"] == {"tokens": 60.0, "usd": 0.5}
    assert http.spent == [{"tokens": 41.0}]
    assert spec.needs == ("n",)
