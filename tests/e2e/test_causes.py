"""Commands, API, pending list and metrics give the same true cause of a wait."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.answers import Answer
from tests.kit.api_server import ApiServer
from tests.kit.command import until
from tests.kit.local_and_remote import LocalAndRemote
from tests.kit.ports import free_port
from tests.kit.provider import Provider

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HANDLERS = """
import asyncio
from headgate import RetryLater, handler

@handler("ask")
async def ask(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.raise_for_status().status_code}

@handler("later")
async def later(item, ctx):
    return RetryLater(after=600, reason="the shop opens later")

@handler("hang")
async def hang(item, ctx):
    await asyncio.sleep(600)

@handler("broken")
async def broken(item, ctx):
    raise KeyError("prise")
"""
PATIENCE_S = 45.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAndRemote]:
    folder = tmp_path_factory.mktemp("world")
    (folder / "causes.py").write_text(HANDLERS)
    patient = {"retry__backoff_base_s": "80000", "retry__backoff_cap_s": "80000"}
    server = ApiServer(folder, net__allow_private="true", **patient)
    try:
        server.start("--handlers", str(folder / "causes.py"))
        yield LocalAndRemote(server)
    finally:
        server.__exit__(None, None, None)


def urls(place: str, count: int) -> bytes:
    return "\n".join(["url", *(f"http://{place}/{n}" for n in range(count)), ""]).encode()


def causes(world: LocalAndRemote, job: str) -> dict[str, Any]:
    """What each of those says who can be asked."""
    admin = world.server.admin()
    listed = admin.get("/api/pending", jobId=job, statuses="PENDING", pageSize=200).ok()["items"]
    listed.sort(key=lambda each: each["attempts"])  # rows that failed wait for their own time
    found: dict[str, Any] = {
        "api": admin.job(job)["limitedBy"],
        "local": world.local("jobs", "show", job, "--json").json["limited_by"],
        "remote": world.remote("jobs", "show", job, "--json").json["limited_by"],
    }
    if listed:
        item = listed[0]["id"]
        found["pending"] = listed[0]["waiting"]
        found["why"] = world.local("items", "why", item, "--json").json["waiting"]
        found["remote why"] = admin.get(f"/api/items/{item}/why").ok()["waiting"]
    return found


def agreed(
    world: LocalAndRemote, job: str, kind: str, words: str, *, running: bool = False
) -> dict[str, Any]:
    """What they say once they all say it; hosts are asked again now and then meanwhile."""
    found: dict[str, Any] = {}

    def all_say_it() -> bool:
        found.update(causes(world, job))
        return (running or "why" in found) and all(
            each and each["kind"] == kind and words in each["why"] for each in found.values()
        )

    try:
        until(all_say_it, PATIENCE_S, f"all to say {kind}: {words}")
    except AssertionError as error:
        raise AssertionError(f"{error}: {found}") from error
    metrics = world.server.admin().get("/metrics").body.decode()
    assert f'headgate_job_limited_by{{cause="{kind}",job="{job}"}} 1.0' in metrics
    return found


def test_a_port_without_a_listener(world: LocalAndRemote):
    place = f"127.0.0.1:{free_port()}"
    job = world.server.admin().send(urls(place, 60), handler="ask", key="url")
    why = f"{place} does not answer (connection refused)"
    found = agreed(world, job, "breaker", why)
    assert {each["next"] for each in found.values()} == {"next try"}
    assert all(each["until"] for each in found.values())
    shown = world.local("jobs", "show", job).out
    assert why in shown
    assert "What would help" not in shown, "the server works on it"
    world.server.admin().post(f"/api/jobs/{job}/cancel").ok()


def test_a_server_that_answers_errors_to_all(world: LocalAndRemote):
    with Provider(lambda _: Answer(500)) as provider:
        place = f"127.0.0.1:{provider.port}"
        job = world.server.admin().send(urls(place, 200), handler="ask", key="url")
        agreed(world, job, "breaker", f"paused itself: {place} keeps answering 500")
        world.server.admin().post(f"/api/jobs/{job}/cancel").ok()


def test_rows_that_the_handler_postponed(world: LocalAndRemote):
    job = world.server.admin().send(b"id\n1\n2\n3\n", handler="later")
    found = agreed(world, job, "deferred", "the handler asked to try later")
    assert found["api"]["why"] == "3 rows wait because the handler asked to try later"
    assert found["api"]["next"] == "the next is due"
    assert found["api"]["evidence"] == "the shop opens later"
    assert "the shop opens later" in found["why"]["why"]
    detail = world.server.admin().job(job)
    assert detail["rate"] == 0
    assert detail["eta"]["words"].startswith("over "), "at least until the next is due"
    world.server.admin().post(f"/api/jobs/{job}/cancel").ok()


def test_rows_that_failed_and_wait_for_a_retry(world: LocalAndRemote):
    job = world.server.admin().send(b"id\n1\n2\n", handler="broken")
    found = agreed(world, job, "retry", "failed")
    assert found["api"]["why"] == "2 rows failed and wait for a retry"
    assert found["why"]["why"] == "it failed once: KeyError: 'prise'"
    world.server.admin().post(f"/api/jobs/{job}/cancel").ok()


def test_handlers_that_finish_nothing(world: LocalAndRemote):
    job = world.server.admin().send(b"id\n1\n2\n", handler="hang")
    found = agreed(
        world, job, "handler", "2 rows in progress; no row is finished yet", running=True
    )
    assert set(found) == {"api", "local", "remote"}
    world.server.admin().post(f"/api/jobs/{job}/cancel").ok()


def test_a_paused_job(world: LocalAndRemote):
    admin = world.server.admin()
    job = admin.send(b"id\n1\n2\n", handler="later")
    admin.reached(job, "RUNNING")
    admin.post(f"/api/jobs/{job}/pause").ok()
    agreed(world, job, "paused", f"job {job} is paused")
    admin.post(f"/api/jobs/{job}/cancel").ok()


def test_a_failed_item_says_why_it_failed(world: LocalAndRemote):
    admin = world.server.admin()
    job = admin.done(b"id,name,do\n1,a,fail\n")
    (item,) = admin.items(job)
    again = f"headgate dlq replay {item['id']}"
    for said in (world.local("items", "why", item["id"]), world.remote("items", "why", item["id"])):
        assert said.out.splitlines() == [
            f"item {item['id']} is ERROR: it failed (permanent): out of stock in shop 1",
            f"correct the row or the handler, then try it again: {again}",
        ]
    assert admin.get(f"/api/items/{item['id']}/why").ok()["waiting"] is None
