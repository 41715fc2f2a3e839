"""Downloads through the real engine, against servers that lie: what became of each row."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from headgate.app.handler_finder import HandlerFinder
from headgate.app.providers import with_presets
from headgate.app.settings import Settings
from headgate.core.gates.config import GatePolicy
from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.retry import RetryPolicy
from headgate.core.status import ItemStatus, JobState
from headgate.engine.policy import WorkerPolicy
from headgate.net.policy import NetPolicy
from headgate.ports.items import EnqueueRequest, RequeueRequest
from headgate.ports.reads import ItemQuery
from headgate.stores.sqlite.store import SqliteStore
from tests.kit.answers import Answer, Script, by_path, in_turn
from tests.kit.engines import run_slice
from tests.kit.provider import Provider

Row = Mapping[str, Any]
PDF = [("Content-Type", "application/pdf")]
FINISHED = frozenset(ItemStatus) - {ItemStatus.PENDING, ItemStatus.PROCESSING}


class Ending(NamedTuple):
    """What is stored of one row."""

    status: ItemStatus
    attempts: int
    reason: str
    """In words."""
    result: dict[str, Any]

    @property
    def code(self) -> str:
        """Why, in a word."""
        return str(self.result.get("reason"))

    @property
    def path(self) -> str:
        """The name of its file."""
        return str(self.result["path"])


def pdf_of(size: int, mark: str = "a") -> bytes:
    """A PDF of that many bytes; another mark makes another content."""
    head, tail = f"%PDF-1.7\n% {mark}\n".encode(), b"\ntrailer\n<<>>\n%%EOF\n"
    return head + b"x" * (size - len(head) - len(tail)) + tail


def files(server: Provider, scripts: Mapping[str, Script]) -> None:
    """Serve these paths and no robots.txt."""
    server.script = by_path({"/robots.txt": in_turn(Answer(404)), **scripts})


def asked(server: Provider) -> list[str]:
    """The paths that were asked for, without robots.txt."""
    return [seen.request.path for seen in server.seen if seen.request.path != "/robots.txt"]


class Downloads:
    """One output folder, and the jobs that fill it."""

    def __init__(self, store: SqliteStore, root: Path, settings: Settings) -> None:
        self.store = store
        self.out = root / "out"
        self.settings = settings
        self.environment: Mapping[str, str] = {}
        self.job: Job

    async def __call__(self, rows: Iterable[Row | str], **config: Any) -> list[Ending]:
        """Download all rows, in a new job; a bare text is a URL or another identifier."""
        config = {"out": str(self.out), **config}
        spec = HandlerFinder(self.settings, self.environment)("download").configured(config)
        new = NewJob("download", f"rows-{id(rows)}", config=config)
        made = await self.store.jobs.create_job(new)
        given = [{"id": row} if isinstance(row, str) else row for row in rows]
        assert spec.gate_of is not None
        items = [
            NewItem(str(line), json.dumps(row), line, spec.gate_of(row) or "-")
            for line, row in enumerate(given, 1)
        ]
        await self.store.items.enqueue_many(EnqueueRequest(made.id, items))
        self.job = await self.store.jobs.complete_ingest(made.id, ("id",))
        return await self.work()

    async def again(self) -> list[Ending]:
        """Everything of the last job once more."""
        await self.store.items.requeue(RequeueRequest(self.job.id, FINISHED))
        return await self.work()

    async def work(self) -> list[Ending]:
        """Run until nothing is left to do, or the job rests."""
        while await self._goes_on():
            finder = HandlerFinder(self.settings, self.environment)
            await run_slice(self.store, self.job.id, finder, self.settings)
        return await self.endings()

    async def endings(self) -> list[Ending]:
        """What became of the rows, in their order."""
        query = ItemQuery(self.job.id, with_result=True, limit=10_000)
        return [
            Ending(row.status, row.attempts, row.last_error or "", json.loads(row.result or "{}"))
            for row in (await self.store.reads.items(query)).items
        ]

    async def calls(self, item: int = 1) -> list[Any]:
        """What was asked of the network for a row, over all its attempts."""
        row = (await self.store.reads.items(ItemQuery(self.job.id))).items[item - 1]
        texts = [each.calls for each in await self.store.reads.attempts(row.id)]
        return [call for text in texts if text for call in json.loads(text)]

    async def _goes_on(self) -> bool:
        state = (await self.store.reads.job(self.job.id)).state
        open_items = (await self.store.reads.counts(self.job.id)).open
        return state is not JobState.PAUSED and open_items > 0

    def shown(self) -> dict[str, bytes]:
        """All that stands in the folder under a name."""
        files = [path for path in self.out.iterdir() if not path.name.startswith(".")]
        return {path.name: path.read_bytes() for path in files}

    def left(self) -> list[str]:
        """What lies aside, unfinished."""
        aside = self.out / ".headgate-partial"
        return sorted(path.name for path in aside.iterdir()) if aside.exists() else []


def settings_in(root: Path, *, private: bool = True, **files: Any) -> Settings:
    """Settings for servers on loopback; `files` changes what holds for hosts of files."""
    given = [(f"providers.files.{name}", value) for name, value in files.items()]
    given.append(("providers.files.retry.retries", 0))
    return Settings(
        database_url=f"sqlite:///{root}/headgate.db",
        net=NetPolicy(allow_private=private, cache_folder=str(root / "cache"), read_s=5.0),
        retry=RetryPolicy(backoff_base_s=0.0),
        worker=WorkerPolicy(concurrency=16, poll_s=0.02),
        gates=GatePolicy(longest_wait_s=2.0),
        providers=with_presets(given),
    )


@asynccontextmanager
async def downloads_in(root: Path, settings: Settings | None = None) -> AsyncIterator[Downloads]:
    """A store of its own, and a folder beside it."""
    settings = settings or settings_in(root)
    async with SqliteStore(root / "headgate.db") as store:
        yield Downloads(store, root, settings)


def changed(settings: Settings, **sections: Any) -> Settings:
    """The same settings but for these sections."""
    return msgspec.structs.replace(settings, **sections)
