"""Which gates belong to a job, by its requests and its workers."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from headgate.core.call import Call, CallKind
from headgate.core.gates.config import GateLimits, GatePolicy
from headgate.core.gates.keys import own_name
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.core.retry import FINISHED
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.engine.gate_control import JobGates, keys_before
from headgate.ports.items import EnqueueRequest, SettleRequest
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


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


async def test_a_job_without_a_worker_has_no_gates(store: Store):
    await factories.gate(store, "provider:wikidata", "w1")
    job = await factories.job(store, 3)
    assert await keys(JobGates(store, GateLimits({}), job.id)) == []


async def test_before_the_first_request_the_workers_name_the_gates(store: Store):
    who = await factories.worker(store)
    await factories.gate(store, "provider:wikidata", who)
    await factories.gate(store, "provider:other", "somebody else")
    job = await factories.job(store, 3)
    await factories.claim(store, job.id, who, 1)
    assert await keys(JobGates(store, GateLimits({}), job.id)) == ["provider:wikidata"]


async def test_no_gate_is_guessed_if_the_workers_serve_other_jobs_too(store: Store):
    who = await factories.worker(store)
    await factories.gate(store, "host:secret.example", who)
    job = await factories.job(store, 3)
    await factories.claim(store, job.id, who, 1)
    assert await keys(JobGates(store, GateLimits({}), job.id, guesses=False)) == []


async def test_the_gates_of_waiting_items_are_known_before_the_first_request(store: Store):
    who = await factories.worker(store)
    for key in ("host:a.org", "host:b.org"):
        await factories.gate(store, key, who)
    job = await store.jobs.create_job(NewJob("price.lookup", "gated.csv"))
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 1, "a.org")]))
    await store.jobs.complete_ingest(job.id, ())
    await factories.claim(store, job.id, who, 1)
    assert await keys(JobGates(store, GateLimits({}), job.id, guesses=False)) == ["host:a.org"]


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        ("a.org:81", "a.org:81"),
        ("host:a.org:81", "a.org:81"),
        ("provider:shop", "shop"),
        ("credential:pool/a", "pool"),
        ("shop", "shop"),
    ],
)
def test_an_item_names_its_gate_by_name_or_key(gate: str, name: str):
    assert own_name(gate) == name


async def test_a_finished_job_without_requests_has_no_gates(store: Store):
    who = await factories.worker(store)
    await factories.gate(store, "provider:wikidata", who)
    job = await factories.job(store, 3)
    first, _ = await factories.claim(store, job.id, who, 2)
    done = factories.settlement(first, ItemStatus.DONE)
    await store.items.settle_many(SettleRequest(who, [done]))
    assert await keys(JobGates(store, GateLimits({}), job.id)) == []


async def test_requests_distinguish_a_job_from_others_of_the_same_worker(store: Store):
    who = await factories.worker(store)
    for key in ("credential:pool/a", "global:all", "host:a.org", "host:b.org", "provider:shop"):
        await factories.gate(store, key, who)
    mine, other = await factories.job(store, 3), await factories.job(store, 3)
    await asked(store, mine.id, who, "pool", "a.org")
    await asked(store, other.id, who, "", "b.org")
    pool = ProviderPolicy(hosts=("a.org",), credentials={"a": CredentialPolicy(env="A")})
    assert await keys(JobGates(store, GateLimits({"pool": pool}), mine.id)) == [
        "credential:pool/a",
        "global:all",
        "host:a.org",
    ]
    assert await keys(JobGates(store, GateLimits({}), other.id)) == ["global:all", "host:b.org"]


async def test_a_gate_is_still_known_when_all_its_items_went_back(store: Store):
    who = await factories.worker(store)
    await factories.gate(store, "provider:wikidata", who)
    job = await factories.job(store, 3)
    (item,) = await factories.claim(store, job.id, who, 1)
    gates = JobGates(store, GateLimits({}), job.id)
    assert await keys(gates) == ["provider:wikidata"]
    await store.items.release(who, [item])
    assert await keys(gates) == ["provider:wikidata"]


async def test_a_handlers_provider_is_known_beforehand(store: Store):
    await factories.gate(store, "credential:pool/a")
    await factories.gate(store, "provider:wikidata")
    job = await factories.job(store, 3)
    pool = ProviderPolicy(hosts=("a.org",), credentials={"a": CredentialPolicy(env="A")})
    configured = GateLimits({"pool": pool})
    assert await keys(JobGates(store, configured, job.id, "pool")) == ["credential:pool/a"]


async def test_domains_are_computed_only_if_a_domain_limit_is_configured(store: Store):
    who = await factories.worker(store)
    for key in ("domain:a.org", "domain:b.org"):
        await factories.gate(store, key, who)
    job = await factories.job(store, 3)
    await asked(store, job.id, who, "", "api.a.org:8080")
    assert await keys(JobGates(store, GateLimits({}), job.id)) == []
    capped = GateLimits({}, GatePolicy(concurrency_per_domain=4))
    assert await keys(JobGates(store, capped, job.id)) == ["domain:a.org"]


async def test_the_number_of_remembered_names_is_limited(store: Store):
    who = await factories.worker(store)
    job = await factories.job(store, 12)
    gates = JobGates(store, GateLimits({}), job.id, "shop")
    gates.KEPT = 4
    for number in range(10):
        await factories.gate(store, f"host:h{number}.org", who)
        await asked(store, job.id, who, "", f"h{number}.org")
    assert len(await keys(gates)) == 4


def test_a_pool_is_known_by_its_provider():
    pool = ProviderPolicy(hosts=("a.org",), credentials={"x": CredentialPolicy(env="X")})
    assert keys_before(["pool"], GateLimits({"pool": pool})) == [
        "global:all",
        "provider:pool",
        "host:pool",
        "credential:pool/x",
    ]
