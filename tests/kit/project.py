"""A folder with a store, rows, and a log of every execution of a handler."""

import asyncio
import contextlib
import csv
import os
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from typer.testing import CliRunner

from headgate.app.cli import app
from headgate.app.settings import Settings
from headgate.app.wiring import open_store, sqlite_path, store_kind
from headgate.core.job import Counts, Job
from headgate.core.status import FINISHED, JobState
from headgate.core.worker import WorkerRow
from headgate.ports.reads import AttemptRow, EventQuery, EventRow, ItemQuery, ItemRow, JobQuery
from headgate.ports.store import Store
from tests.kit.command import Command, Ended

Answer = TypeVar("Answer")


class Project:
    """What a user has: a folder, a store, and the `headgate` command.

    The questions open the store again each time, as a user's second terminal would.
    """

    def __init__(self, folder: Path, url: str, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.url = url
        self.log = folder / "executions.log"
        self.settings = dict(settings or {})
        self.environment: dict[str, str] = {}
        """What commands find in their environment besides settings."""
        self.stderr: int | None = None
        """A descriptor that commands write their talk to, instead of a file."""

    # ---- commands -------------------------------------------------------------------------

    def start(self, *words: str | Path, **settings: object) -> Command:
        """Start a command; settings are named as in `worker__memory_mb=300`."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HEADGATE_")}
        named = {**self.settings, **{name: str(value) for name, value in settings.items()}}
        ours = {f"HEADGATE_{name.upper()}": value for name, value in named.items()}
        environment = {**kept, "NO_COLOR": "1", "HEADGATE_DATABASE_URL": self.url, **ours}
        environment |= self.environment
        return Command(self.folder, [str(word) for word in words], environment, self.stderr)

    def run(self, *words: str | Path, **settings: object) -> Ended:
        """Run a command to its end."""
        with self.start(*words, **settings) as command:
            return command.wait()

    def invoke(self, *words: str) -> Ended:
        """Run a short command in this process, which spares the start of another one."""
        done = CliRunner().invoke(app, [*words, "--db", self.url])
        return Ended(done.exit_code, done.stdout, done.stderr)

    def batch(self, handler: str, file: Path, *words: str, **config: object) -> list[str]:
        """The words of `headgate run` for one of the test handlers, which log to our file."""
        given = {"log": str(self.log), **config}
        pairs = [part for name, value in given.items() for part in ("--config", f"{name}={value}")]
        return ["run", handler, str(file), *pairs, *words]

    def rows(
        self, count: int, deeds: Mapping[int, str] | None = None, name: str = "rows.csv"
    ) -> Path:
        """A file of `count` rows; `deeds` tells the handler what to do with the nth, from 1."""
        path = self.folder / name
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "do"])
            writer.writerows((n, (deeds or {}).get(n, "")) for n in range(1, count + 1))
        return path

    def freeze(self, command: Command) -> None:
        """Stop a command where it is, but not in a write transaction of SQLite.

        No process can write to a file whose only writer stands still; that is not ours to mend.
        """
        path = Path(sqlite_path(self.url)) if store_kind(self.url) == "sqlite" else None
        with contextlib.ExitStack() as stack:
            if path is not None:
                pen = stack.enter_context(contextlib.closing(sqlite3.connect(path, timeout=30)))
                pen.execute("BEGIN IMMEDIATE")
            command.freeze()

    # ---- questions ------------------------------------------------------------------------

    def executions(self) -> Counter[str]:
        """How often each key was run."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()

    def executed(self) -> int:
        """How many executions have begun."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def ask(self, question: Callable[[Store], Awaitable[Answer]]) -> Answer:
        """Ask the store itself."""

        async def asking() -> Answer:
            async with open_store(Settings(database_url=self.url)) as store:
                return await question(store)

        return asyncio.run(asking())

    def jobs(self) -> list[Job]:
        """Every job, newest first."""
        return self.ask(lambda store: store.reads.jobs(JobQuery()))

    def counts(self, job_id: int = 1) -> Counts:
        """The counters of a job."""
        return self.ask(lambda store: store.reads.counts(job_id))

    def items(self, job_id: int = 1) -> list[ItemRow]:
        """Every item of a job, in input order."""

        async def pages(store: Store) -> list[ItemRow]:
            found: list[ItemRow] = []
            after: str | None = None
            while True:
                page = await store.reads.items(ItemQuery(job_id, after=after, limit=5_000))
                found += page.items
                after = page.next
                if after is None:
                    return found

        return self.ask(pages)

    def results(self, job_id: int = 1) -> dict[str, str | None]:
        """The stored result of each key, as text."""

        async def rows(store: Store) -> dict[str, str | None]:
            found = await store.reads.export_rows(job_id, 0, 1_000_000)
            return {row.key: row.result for row in found}

        return self.ask(rows)

    def attempts(self, items: list[ItemRow]) -> dict[str, list[AttemptRow]]:
        """The history of some items, by key."""

        async def histories(store: Store) -> dict[str, list[AttemptRow]]:
            return {item.key: await store.reads.attempts(item.id) for item in items}

        return self.ask(histories)

    def events(self, kind: str, job_id: int | None = None) -> list[EventRow]:
        """What the record of decisions says of one kind."""

        async def chosen(store: Store) -> list[EventRow]:
            found = await store.reads.events(EventQuery(job_id, limit=1_000_000))
            return [event for event in found if event.kind == kind]

        return self.ask(chosen)

    def workers(self) -> list[WorkerRow]:
        """Workers that the store believes to be alive."""
        return self.ask(lambda store: store.reads.workers())

    # ---- laws -----------------------------------------------------------------------------

    def assert_clean(self) -> None:
        """`headgate db check` finds nothing."""
        checked = self.invoke("db", "check", "--json")
        assert checked.json == {"clean": True, "findings": []}
        assert checked.code == 0

    def assert_finished(self, total: int, job_id: int = 1) -> list[ItemRow]:
        """Each of `total` items is in exactly one final state, and the store is clean."""
        items = self.items(job_id)
        assert len(items) == total
        assert len({item.key for item in items}) == total
        assert {item.status for item in items} <= FINISHED
        counted = Counter(item.status.lower() for item in items)
        counts = self.counts(job_id)
        assert {name: getattr(counts, name) for name in counted} == dict(counted)
        assert counts.total == total
        states = {job.id: job.state for job in self.jobs()}
        assert states[job_id] in {JobState.DONE, JobState.CANCELLED}
        self.assert_clean()
        return items

    def assert_never_redone(self, items: list[ItemRow]) -> None:
        """No item was run again after its result was committed: nothing follows the last word."""
        runs = self.executions()
        redone = [item for item in items if runs[item.key] > 1 or item.attempts != 1]
        for key, history in self.attempts(redone).items():
            final = [attempt.outcome in FINAL for attempt in history]
            assert final.count(True) == 1, (key, history)
            assert final[-1], (key, history)


FINAL: frozenset[Any] = frozenset({"done", "not_found", "skipped", "review", "error", "cancelled"})
