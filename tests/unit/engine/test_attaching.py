"""Rows, follow-ups and closings of handlers: checked before they reach a commit."""

import asyncio

import msgspec
import pytest

from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.mirror import Closing, FollowUp, MirrorRow, Proof
from headgate.core.outcome import Done, NotFound, Skipped
from headgate.engine.attaching import ROW_ID_LIMIT, attachment_of
from headgate.engine.job_runtime import JobRuntime, MirrorNames
from headgate.ports.handler import HandlerSpec, JobView
from headgate.stores.sqlite import SqliteStore
from tests.kit.engines import run_job
from tests.kit.mirrors import PEOPLE, PETS, PassRun, a_pass, pages

ITEM = ClaimedItem(7, 3, "k", "{}", None, 2, 0, 0, 0, 0, False, 0)
NAMES = MirrorNames(frozenset({"people"}), frozenset({"people"}))


def work(mirror=NAMES, **options):
    spec = HandlerSpec("h", "h", lambda item, ctx: None, is_async=False, **options)
    return JobRuntime(JobView(3, "", "local", {}), spec, 60.0, mirror=mirror)


def attached(outcome, runtime=None, max_bytes=10_000):
    return attachment_of(ITEM, outcome, runtime or work(), max_bytes)


def row(**values):
    return MirrorRow(**({"stream": "people", "id": "1", "body": {"a": 1}} | values))


def test_a_row_gets_its_hash_its_json_and_its_fields():
    same = [row(body={"b": 1, "a": "x"}), row(id="2", body=msgspec.Raw(b'{"a": "x", "b": 1}'))]
    attachment, fault = attached(Done(rows=same, total=5))
    assert fault is None
    first, second = attachment.rows
    assert first.hash == second.hash
    assert len(first.hash) == 32
    assert bytes(first.body) == b'{"b":1,"a":"x"}'
    assert attachment.fields == {"people": {"b": 4, "a": 16}}
    assert (attachment.item_id, attachment.epoch, attachment.total) == (7, 2, 5)
    assert attachment.size > 30


def test_a_hash_of_the_handler_stays():
    attachment, _ = attached(Done(rows=[row(hash="mine")]))
    assert attachment.rows[0].hash == "mine"


def test_a_mention_stays_without_a_body_and_tells_no_fields():
    then = FollowUp("k", {})
    attachment, fault = attached(Done(rows=[row(body=None, hash="h", then=then)]))
    assert (fault, attachment.fields) == (None, {})
    assert attachment.rows == [row(body=None, hash="h", then=then)]


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Done(rows="abc"), "rows must be a list"),
        (Done(rows=[{"id": 1}]), "must be MirrorRow, not dict"),
        (Done(rows=[row(id="")]), "must be a text that is not empty"),
        (Done(rows=[row(id=5)]), "must be a text that is not empty"),
        (Done(rows=[row(id="x" * (ROW_ID_LIMIT + 1))]), "Use a hash of it"),
        (Done(rows=[row(id="a\0b")]), "NUL"),
        (Done(rows=[row(id="a\ud800")]), "no database can store"),
        (Done(rows=[row(updated=5)]), "`updated` of row '1' must be a text"),
        (Done(rows=[row(updated=0)]), "`updated` of row '1' must be a text"),
        (Done(rows=[row(deleted="yes")]), "must be True or False"),
        (Done(rows=[row(body=[1])]), "must be a JSON object"),
        (Done(rows=[row(body=None)]), "neither a body nor a hash"),
        (Done(rows=[row(body={"a": object()})]), "is not JSON"),
        (Done(rows=[row(body=msgspec.Raw(b"{"))]), "is not JSON"),
        (Done(rows=[row(body=msgspec.Raw(b"[]"))]), "must be a JSON object"),
        (Done(rows=[row(stream="cars")]), "no stream 'cars'; it has people"),
        (Done(rows=[row(then={"key": "k"})]), "a follow-up is a FollowUp"),
        (Done(rows=[row(body={"a": "x" * 20_000})]), "worker.page_bytes"),
        (Done(items=[FollowUp("", {})]), "the key of a follow-up must be a text"),
        (Done(items=[FollowUp("k", [])]), "must be a dict"),
        (Done(items=[FollowUp("k", {"a": object()})]), "is not JSON"),
        (Done(items=[FollowUp("k", {}, "cars")]), "names 'cars', which the job does not have"),
        (NotFound(items=[FollowUp("k", {}, "cars")]), "returned NotFound"),
        (Done(closing="people"), "must be a Closing"),
        (Done(closing=Closing("people", "sure")), "must be a Closing with a Proof"),
        (Done(closing=Closing("cars", Proof.COVERED)), "names 'cars'"),
        (Done(closing=Closing("people", Proof.COVERED, watermark=5)), "watermark"),
        (Done(total=-1), "total must be a number of rows"),
        (Done(total=True), "total must be a number of rows"),
    ],
)
def test_a_wrong_value_is_a_fault_that_says_what_to_do(outcome, told):
    attachment, fault = attached(outcome)
    assert attachment is None
    assert fault.kind is FaultClass.INVALID_RESULT
    assert told in fault.reason


def test_rows_need_a_mirror_and_follow_ups_do_not():
    _, fault = attached(Done(rows=[row()]), work(mirror=None))
    assert "no mirror" in fault.reason
    attachment, fault = attached(Done(items=[FollowUp("k", {"n": 1})]), work(mirror=None))
    assert (fault, [item.key for item in attachment.items]) == (None, ["k"])


def test_every_end_of_an_item_of_a_pass_has_an_attachment():
    attachment, fault = attached(Skipped())
    assert (attachment.item_id, attachment.rows, fault) == (7, (), None)


def test_a_follow_up_gets_the_gate_of_its_row():
    gated = work(gate_of=lambda values: values["host"])
    attachment, _ = attached(Done(items=[FollowUp("k", {"host": "a"})]), gated)
    assert attachment.items[0].gate == "a"
    _, fault = attached(Done(items=[FollowUp("k", {})]), gated)
    assert "gate_of raised KeyError" in fault.reason


async def extract(item, ctx):
    """Three pages of people, each bringing the next, with a pet each; then the closings."""
    if "close" in item.input:
        name = item.input["close"]
        found = [page["n"] async for page in ctx.pages(name)]
        return Done({}, closing=Closing(name, Proof.CHAINED, evidence={"pages": found}))
    if "pet" in item.input:
        return Done({"n": 0}, rows=[MirrorRow("pets", item.input["pet"], {"name": "rex"})])
    n = item.input.get("n", 1)
    more = [FollowUp(f"pets/{n}", {"pet": f"pet {n}"}, "pets")]
    if n < 3:
        more.append(FollowUp(f"people/{n + 1}", {"n": n + 1}, "people"))
    return Done({"n": n}, rows=[MirrorRow("people", str(n), {"n": n})], items=more)


async def test_a_handler_mirrors_a_source_page_by_page(tmp_path):
    spec = HandlerSpec("extract", "extract", extract, is_async=True)
    async with SqliteStore(tmp_path / "store.db") as store:
        job = await store.mirrors.begin_pass(a_pass(pages(1), [PEOPLE, PETS]))
        async with asyncio.timeout(60):
            await run_job(store, job.id, spec)
        run = PassRun(store, job, "")
        assert await run.live("people") == ["1", "2", "3"]
        assert sorted(await run.live("pets")) == ["pet 1", "pet 2", "pet 3"]
        assert (await run.checkpoint("people")).evidence == {"pages": [1, 2, 3]}
        assert (await run.checkpoint("pets")).proof is Proof.CHAINED
        assert await store.jobs.finish_job(job.id)
        fields = await store.mirrors.fields((await run.stream("pets")).id)
        assert [(each.name, each.types) for each in fields] == [("name", 16)]
