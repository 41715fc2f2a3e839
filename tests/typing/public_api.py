"""Handlers as users write them; mypy must find nothing to say."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate import (
    Context,
    Done,
    GiveUp,
    Item,
    NotFound,
    Outcome,
    RetryLater,
    Review,
    Skipped,
    handler,
)
from headgate.testing import FakeClock, run_handler


@handler("price.lookup")
async def price(item: Item, ctx: Context) -> dict[str, Any]:
    ctx.log.info("looking", sku=item.input["sku"], attempt=ctx.attempt)
    return {"price": 12.5, "region": ctx.job.config.get("region")}


@handler("stock.lookup", provider="shop", strategies=["exact", "fuzzy"], timeout=30, memory_mb=512)
def stock(item: Item, ctx: Context) -> Outcome | dict[str, int]:
    match ctx.strategy:
        case "exact":
            return NotFound("no such sku")
        case "fuzzy":
            return Review(candidates=[{"id": 1, "name": "A", "score": 0.9, "result": {}}])
        case None if item.normalized is None:
            return Skipped("nothing to look for")
        case _:
            return RetryLater(after=30) if ctx.attempt < 3 else GiveUp("never there")


def host_of(row: Mapping[str, Any]) -> str:
    return str(row["host"])


def tidy(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value).strip() for name, value in row.items()}


@handler("pages.fetch", gate_of=host_of, normalize=tidy, pack=50)
async def pages(items: Sequence[Item], ctx: Context) -> list[Outcome]:
    return [Done({"key": item.key}) for item in items]


@handler("image.size", version="2", needs=["ref"], config_schema={"type": "object"})
def size(item: Item, ctx: Context) -> dict[str, int]:
    return {"bytes": ctx.file(item.input["ref"]).stat().st_size}


async def users_test() -> None:
    outcome: Outcome = run_handler(price, {"sku": "A"}, config={"region": "EU"}, attempt=2)
    assert outcome == Done({"price": 12.5, "region": "EU"})
    clock = FakeClock()
    await clock.advance(clock.monotonic() + 1.0)
    answer: dict[str, Any] = await price(Item(1, "1", {}), _context())
    assert answer


def _context() -> Context:
    raise NotImplementedError
