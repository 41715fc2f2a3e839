"""Which gates belong to a job, from what it asked and who works on it."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from headgate.core.call import Call, CallKind
from headgate.core.configured import Configured
from headgate.core.gate_policy import GatePolicy
from headgate.core.gate_state import GateState
from headgate.core.level import Level
from headgate.core.membership import Member
from headgate.core.pace_state import PaceState
from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.core.retry import FINISHED
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.engine.job_gates import JobGates, keys_before
from headgate.ports.items import SettleRequest
from headgate.ports.limits import Proposal
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def a_gate(store: Store, key: str, *workers: str) -> None:
    now_s = (await store.limits.exchange((), [])).now_s
    state = GateState(PaceState(rate=Level()), {each: Member(now_s, -1.0) for each in workers})
    text = msgspec.json.encode(state).decode()
    await store.limits.exchange([Proposal(key, 0, text)], [])


async def asked(store: Store, job_id: int, who: str, provider: str, host: str) -> None:
    """Finish one item that has asked a host."""
    (item,) = await factories.claim(store, job_id, who, 1)
    call = Call(1, "GET", provider, host, 200, CallKind.FETCHED, 5, 1.0, 0.0)
    settlement = settle(item, FINISHED, result="{}", ran_us=1)
    noted = msgspec.json.encode([call]).decode()
    done = msgspec.structs.replace(settlement, calls=noted)
    await store.items.settle_many(SettleRequest(who, [done]))


async def keys(gates: JobGates) -> list[str]:
    return [view.key for view in (await gates.read()).views]


async def test_a_job_that_nobody_works_on_has_no_gates(store: Store):
    await a_gate(store, "provider:wikidata", "w1")
    job = await factories.job(store, 3)
    assert await keys(JobGates(store, Configured({}), job.id)) == []


async def test_before_anything_was_asked_its_workers_tell(store: Store):
    who = await factories.worker(store)
    await a_gate(store, "provider:wikidata", who)
    await a_gate(store, "provider:other", "somebody else")
    job = await factories.job(store, 3)
    await factories.claim(store, job.id, who, 1)
    assert await keys(JobGates(store, Configured({}), job.id)) == ["provider:wikidata"]


async def test_what_finished_without_asking_anybody_has_no_gates(store: Store):
    who = await factories.worker(store)
    await a_gate(store, "provider:wikidata", who)
    job = await factories.job(store, 3)
    first, _ = await factories.claim(store, job.id, who, 2)
    done = factories.settlement(first, ItemStatus.DONE)
    await store.items.settle_many(SettleRequest(who, [done]))
    assert await keys(JobGates(store, Configured({}), job.id)) == []


async def test_what_it_asked_tells_it_from_other_jobs_of_the_same_worker(store: Store):
    who = await factories.worker(store)
    for key in ("credential:pool/a", "global:all", "host:a.org", "host:b.org", "provider:shop"):
        await a_gate(store, key, who)
    mine, other = await factories.job(store, 3), await factories.job(store, 3)
    await asked(store, mine.id, who, "pool", "a.org")
    await asked(store, other.id, who, "", "b.org")
    pool = ProviderPolicy(hosts=("a.org",), credentials={"a": CredentialPolicy(env="A")})
    assert await keys(JobGates(store, Configured({"pool": pool}), mine.id)) == [
        "credential:pool/a",
        "global:all",
        "host:a.org",
    ]
    assert await keys(JobGates(store, Configured({}), other.id)) == ["global:all", "host:b.org"]


async def test_a_gate_is_still_known_when_it_has_sent_all_away(store: Store):
    who = await factories.worker(store)
    await a_gate(store, "provider:wikidata", who)
    job = await factories.job(store, 3)
    (item,) = await factories.claim(store, job.id, who, 1)
    gates = JobGates(store, Configured({}), job.id)
    assert await keys(gates) == ["provider:wikidata"]
    await store.items.release(who, [item])
    assert await keys(gates) == ["provider:wikidata"]


async def test_a_handlers_provider_is_known_beforehand(store: Store):
    await a_gate(store, "credential:pool/a")
    await a_gate(store, "provider:wikidata")
    job = await factories.job(store, 3)
    pool = ProviderPolicy(hosts=("a.org",), credentials={"a": CredentialPolicy(env="A")})
    configured = Configured({"pool": pool})
    assert await keys(JobGates(store, configured, job.id, "pool")) == ["credential:pool/a"]


async def test_domains_are_looked_for_only_where_something_is_configured_for_them(store: Store):
    who = await factories.worker(store)
    for key in ("domain:a.org", "domain:b.org"):
        await a_gate(store, key, who)
    job = await factories.job(store, 3)
    await asked(store, job.id, who, "", "api.a.org:8080")
    assert await keys(JobGates(store, Configured({}), job.id)) == []
    capped = Configured({}, GatePolicy(concurrency_per_domain=4))
    assert await keys(JobGates(store, capped, job.id)) == ["domain:a.org"]


async def test_only_so_many_names_are_remembered(store: Store):
    who = await factories.worker(store)
    job = await factories.job(store, 12)
    gates = JobGates(store, Configured({}), job.id, "shop")
    gates.KEPT = 4
    for number in range(10):
        await a_gate(store, f"host:h{number}.org", who)
        await asked(store, job.id, who, "", f"h{number}.org")
    assert len(await keys(gates)) == 4


def test_a_pool_is_known_by_its_provider():
    pool = ProviderPolicy(hosts=("a.org",), credentials={"x": CredentialPolicy(env="X")})
    assert keys_before(["pool"], Configured({"pool": pool})) == [
        "global:all",
        "provider:pool",
        "host:pool",
        "credential:pool/x",
    ]
