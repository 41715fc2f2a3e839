"""Commands, run in this process against a SQLite file."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from typer.testing import CliRunner

from headgate.app.cli import app
from headgate.core.fault import Fault, FaultClass
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.outcome import Done, NotFound, Outcome
from headgate.core.retry import RetryPolicy, decide
from headgate.core.settlement import settle
from headgate.core.worker import WorkerInfo
from headgate.ports.items import ClaimRequest, EnqueueRequest, SettleRequest
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore

Answer = TypeVar("Answer")


class Result:
    """How a command ended and what it said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Commands:
    """Runs commands in a folder, and puts things into its store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str | int, stdin: str | None = None) -> Result:
        words = [str(argument) for argument in arguments]
        result = CliRunner().invoke(app, words, input=stdin, prog_name="headgate")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Result(result.exit_code, result.stdout, result.stderr)

    def store(self, act: Callable[[Store], Awaitable[Answer]]) -> Answer:
        async def main() -> Answer:
            async with SqliteStore(self.folder / "headgate.db") as store:
                return await act(store)

        return asyncio.run(main())

    def job(self, rows: int = 5, **changes: Any) -> int:
        """A job whose source is read, with rows keyed k1, k2 and so on."""

        async def act(store: Store) -> int:
            job = await store.jobs.create_job(NewJob("price", "products.csv", **changes))
            items = [
                NewItem(f"k{n}", f'{{"sku": "S-{n}"}}', n + 1, summary=f"S-{n}")
                for n in range(1, rows + 1)
            ]
            await store.items.enqueue_many(EnqueueRequest(job.id, items))
            if not job.open:
                await store.jobs.complete_ingest(job.id, ("sku",))
            return job.id

        return self.store(act)

    def finished_job(self) -> int:
        """A DONE job of five rows: two done, one not found, two failed in different ways."""
        job_id = self.job()
        ends: list[Outcome | Fault] = [
            Done({"price": 1}),
            Done({"price": 2}),
            NotFound("no such sku"),
            Fault(FaultClass.PERMANENT, "HTTP 400"),
            Fault(FaultClass.TIMEOUT, "took too long"),
        ]

        async def act(store: Store) -> None:
            name = f"w{job_id}"
            worker = WorkerInfo(name, "s1", "here", "boot", 1, 1, "0", 60.0)
            await store.jobs.register(worker)
            claimed = await store.items.claim(ClaimRequest(name, job_id, 10, 60.0))
            policy = RetryPolicy(max_attempts_error=1)
            settlements = [
                settle(
                    item,
                    decide(item, end, policy, 0, Random(1)),
                    result='{"price": 1}' if isinstance(end, Done) else None,
                    ran_us=1_500,
                )
                for item, end in zip(claimed, ends, strict=True)
            ]
            await store.items.settle_many(SettleRequest(name, settlements))
            await store.jobs.retire(name, "finished")
            await store.jobs.finish_job(job_id)

        self.store(act)
        return job_id


@pytest.fixture
def headgate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    for name in [name for name in os.environ if name.startswith("HEADGATE_")]:
        monkeypatch.delenv(name)
    return Commands(tmp_path)
