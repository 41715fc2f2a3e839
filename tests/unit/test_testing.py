"""The test tools that we ship."""

import asyncio
from pathlib import Path

import pytest

from headgate import Done, NotFound, handler
from headgate.core.errors import UsageError
from headgate.core.fault import FaultClass
from headgate.ports.handler import NoFile
from headgate.testing import FakeClock, run_handler


async def test_sleepers_wake_in_the_order_of_their_times():
    clock = FakeClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            woken.append((name, clock.monotonic()))

    tasks = [asyncio.create_task(sleeper("a", 3)), asyncio.create_task(sleeper("b", 1, 1, 1.5))]
    await clock.advance(3)
    assert woken == [("b", 1.0), ("b", 2.0), ("a", 3.0)]
    await clock.advance(3_600)
    assert woken[-1] == ("b", 3.5)
    assert clock.monotonic() == 3_603
    await asyncio.gather(*tasks)


async def test_time_passes_only_when_it_is_told_to():
    clock = FakeClock(start_us=5)
    await clock.sleep(0)
    assert (clock.now(), clock.monotonic()) == (5, 0.0)
    await clock.advance(1.5)
    assert clock.now() == 1_500_005


async def test_a_cancelled_sleeper_is_forgotten():
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(1))
    await clock.until_asleep()
    assert clock.sleepers == 1
    task.cancel()
    await clock.advance(2)
    assert clock.sleepers == 0
    assert task.cancelled()


def plain(item, ctx):
    if item.key != "1" or ctx.attempt != 2:
        return NotFound()
    ctx.log.info("seen", strategy=ctx.strategy)
    return {"sku": item.input["sku"], "region": ctx.job.config["region"]}


def test_a_plain_handler():
    assert run_handler(plain, {"sku": "A"}, config={"region": "EU"}, attempt=2) == Done(
        {"sku": "A", "region": "EU"},
    )
    assert run_handler(plain, {}) == NotFound()


@handler("h", strategies=["exact", "fuzzy"], normalize=lambda row: {"sku": row["sku"].upper()})
async def lookup(item, ctx):
    await asyncio.Event().wait() if item.normalized is None else None
    return {"sku": item.normalized["sku"], "by": ctx.strategy}


def test_an_async_handler_with_its_options():
    assert run_handler(lookup, {"sku": "a"}) == Done({"sku": "A", "by": "exact"})
    assert run_handler(lookup, {"sku": "a"}, strategy="fuzzy") == Done({"sku": "A", "by": "fuzzy"})


async def test_an_async_handler_from_an_async_test():
    assert run_handler(lookup, {"sku": "a"}) == Done({"sku": "A", "by": "exact"})


def test_a_handler_of_packs_gets_a_pack_of_one():
    @handler("h", pack=10)
    def pack(items, ctx):
        return [None for _ in items]

    assert run_handler(pack, {}) == Done()


@pytest.mark.parametrize("answer", [[], [{}, {}], None])
def test_a_pack_of_one_has_one_outcome(answer):
    with pytest.raises(TypeError, match="list of one"):
        run_handler(handler("h", pack=2)(lambda items, ctx: answer), {})


def test_what_a_handler_may_not_return():
    with pytest.raises(TypeError, match="not 12"):
        run_handler(lambda item, ctx: 12, {})


def test_what_a_handler_raises_comes_out():
    with pytest.raises(KeyError, match="region"):
        run_handler(plain, {"sku": "A"}, attempt=2)


def test_a_handler_that_asks_a_service_is_given_one():
    class Service:
        def get(self, url: str) -> str:
            return f"the answer of {url}"

    def asks(item, ctx):
        return {"said": ctx.http.get(item.input["url"])}

    outcome = run_handler(asks, {"url": "https://example.org"}, http=Service())
    assert outcome == Done({"said": "the answer of https://example.org"})


NAME = "a" * 64


def locate(name: str) -> Path:
    if name != NAME:
        raise ValueError(name)
    raise FileNotFoundError(name)


def size(item, ctx):
    return {"bytes": ctx.file(item.input["ref"]).stat().st_size}


def test_a_handler_that_reads_a_stored_file_is_given_one():
    outcome = run_handler(size, {"ref": "any"}, files=lambda _: Path(__file__))
    assert outcome == Done({"bytes": Path(__file__).stat().st_size})


@pytest.mark.parametrize(
    ("ref", "message"), [("../x", r"'\.\./x': this is not a valid name"), (NAME, "it is gone")]
)
def test_a_stored_file_that_is_not_there_is_a_permanent_error(ref: str, message: str):
    with pytest.raises(NoFile, match=message) as raised:
        run_handler(size, {"ref": ref}, files=locate)
    assert raised.value.ending.kind is FaultClass.PERMANENT


def test_without_files_it_is_said_how_to_pass_them():
    with pytest.raises(UsageError, match="files="):
        run_handler(size, {"ref": NAME})
