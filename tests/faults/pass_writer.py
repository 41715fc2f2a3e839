"""Commits the items of a pass; each commit is first killed before every one of its statements.

Prints, as JSON, what the store had after every death and after every commit.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import apsw
import psycopg

from headgate.app.settings import Settings
from headgate.app.wiring import open_store
from headgate.core.item import ClaimedItem
from headgate.core.mirror import Closing, Proof
from headgate.ports.items import HeldLease
from headgate.ports.store import Store
from tests.kit import factories
from tests.kit.mirrors import PassRun, begin, follow_up, rows, whole_pass

COMMITS = 3
"""The first page, the one that it brings, and the closing."""


class Deaths:
    """Kills this process before a statement of the number given, or after the commit."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._is_armed = False
        self._seen = 0

    def watch(self) -> None:
        """Count the statements on all connections that will be opened."""
        execute = psycopg.AsyncCursor.execute

        async def counted(*arguments: Any, **options: Any) -> Any:
            self.count()
            return await execute(*arguments, **options)

        psycopg.AsyncCursor.execute = counted  # type: ignore[method-assign]
        apsw.connection_hooks.append(self._watch_file)

    def arm(self) -> None:
        self._is_armed = True

    def count(self, *_: object) -> bool:
        self._seen += self._is_armed
        if self._is_armed and self._seen == self._step:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def _watch_file(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self.count


def brought_by(item: ClaimedItem) -> dict[str, Any]:
    """The attachment of the first page, of the second one, and of the closing."""
    if item.key == "people/0":
        first = [*rows(1, body={"x": 1}), *rows(3, then=follow_up("people/then"))]
        fields = {"people": {"id": 4}}
        return {"rows": first, "total": 3, "fields": fields}
    if "closing" in item.key:
        return {"closing": Closing("people", Proof.COVERED, watermark="now")}
    return {"rows": rows(4, 5)}


async def commit(url: str, job_id: int, deaths: Deaths) -> None:
    """Claim the next item and settle it, to the death if there is one."""
    async with open_store(Settings(database_url=url)) as store:
        run = PassRun(
            store,
            await store.reads.job(job_id),
            await factories.worker(store, f"worker-{os.getpid()}"),
        )
        (item,) = await run.claim(1)
        deaths.arm()
        await run.settle(item, **brought_by(item))
        deaths.count()


def code_of_commit(url: str, job_id: int, step: int) -> int:
    """How a process ended that committed one item; forked, for it is one of many."""
    pid = os.fork()
    if pid == 0:
        deaths = Deaths(step)
        deaths.watch()
        asyncio.run(commit(url, job_id, deaths))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


async def free_leases(store: Store) -> None:
    """What a sweep does for a worker that died."""
    for worker in await store.reads.workers():
        leases = await store.items.leases_of(worker.id)
        await store.items.release(worker.id, [HeldLease(each.id, each.epoch) for each in leases])


async def kept(store: Store, job_id: int) -> dict[str, Any]:
    """All that a commit of a pass may change."""
    run = PassRun(store, await store.reads.job(job_id), "")
    stream = await run.stream()
    stored = await run.stored(deleted=True)
    checkpoint = await run.checkpoint()
    counts = await store.reads.counts(job_id)
    return {
        "rows": [[row.id, row.hash, row.seen_pass, row.deleted_at is None] for row in stored],
        "changes": [each.row_id for each in await store.mirrors.changes(stream.id, 0, 10)],
        "fields": [each.name for each in await store.mirrors.fields(stream.id)],
        "checkpoint": [checkpoint.pages, checkpoint.added, checkpoint.changed, checkpoint.total],
        "closed": [checkpoint.proof, stream.watermark, stream.full_pass == job_id],
        "items": [counts.pending, counts.processing, counts.done],
    }


async def prepare(url: str) -> int:
    """A pass of one page, over a mirror with two rows."""
    async with open_store(Settings(database_url=url)) as store:
        await whole_pass(store, 1, 2)
        return (await begin(store)).id


async def look(url: str, job_id: int) -> dict[str, Any]:
    async with open_store(Settings(database_url=url)) as store:
        await free_leases(store)
        assert await store.reads.check(repair=False) == []
        return await kept(store, job_id)


def deaths_of_a_commit(url: str, job_id: int) -> Iterator[dict[str, Any]]:
    """The store before the commit, after each death in it, and at last after the commit."""
    before = asyncio.run(look(url, job_id))
    yield before
    for step in itertools.count(1):
        code = code_of_commit(url, job_id, step)
        assert code == -signal.SIGKILL, f"it ended with {code} at step {step}"
        after = asyncio.run(look(url, job_id))
        yield after
        if after != before:
            return


def main(url: str) -> None:
    job_id = asyncio.run(prepare(url))
    commits = [list(deaths_of_a_commit(url, job_id)) for _ in range(COMMITS)]
    sys.stdout.write(json.dumps(commits))


if __name__ == "__main__":
    main(sys.argv[1])
