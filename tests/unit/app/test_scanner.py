"""New files become jobs, each once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.app.scanner import Scanner
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.core.errors import BadSetting
from headgate.core.status import JobState
from headgate.engine.clock import SystemClock
from headgate.engine.job_control import JobControl
from headgate.stores.sqlite.store import SqliteStore
from headgate.transfer.places.settings import PlaceSettings


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


def scanner(store: SqliteStore, *watch: str, root: Path) -> Scanner:
    server = ServerPolicy(watch=watch, watch_settle_s=0.0)
    places = PlaceSettings(roots=(str(root),))
    return Scanner(store, Settings(server=server, places=places), SystemClock())


async def test_each_file_becomes_one_job_even_if_it_is_seen_often(
    store: SqliteStore, tmp_path: Path
):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("n\n1\n")
    (folder / "b.csv").write_text("n\n2\n")
    (folder / "notes.txt").write_text("not a table")
    (folder / "c.csv.part").write_text("n\n")
    watching = scanner(store, f"price=folder:{folder}/*.csv", root=tmp_path)
    first = await watching.scan()
    assert [Path(source).name for source, _ in first.made] == ["a.csv", "b.csv"]
    again, other = await asyncio.gather(
        watching.scan(), scanner(store, f"price=folder:{folder}/*.csv", root=tmp_path).scan()
    )
    assert (again.made, again.known, other.made) == ([], 2, [])
    job = await store.reads.job(first.made[0][1])
    assert (job.state, job.handler, job.file) == (JobState.INGESTING, "price", "a.csv")
    assert job.reading is not None


async def test_a_file_that_changed_is_another_file(store: SqliteStore, tmp_path: Path):
    file = tmp_path / "a.csv"
    file.write_text("n\n1\n")
    watching = scanner(store, f"price=folder:{tmp_path}/*.csv", root=tmp_path)
    await watching.scan()
    file.write_text("n\n1\n2\n")
    assert len((await watching.scan()).made) == 1


async def test_a_file_whose_job_was_deleted_is_not_taken_again(store: SqliteStore, tmp_path: Path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    watching = scanner(store, f"price=folder:{tmp_path}/*.csv", root=tmp_path)
    [(_, job_id)] = (await watching.scan()).made
    await JobControl(store).remove(job_id)
    again = await watching.scan()
    assert (again.made, again.known) == ([], 1)


async def test_a_place_that_cannot_be_listed_is_a_separate_problem(
    store: SqliteStore, tmp_path: Path
):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("n\n1\n")
    watching = scanner(
        store, "price=folder:/etc", f"price=folder:{tmp_path}/in", root=tmp_path / "in"
    )
    scan = await watching.scan()
    assert len(scan.made) == 1
    assert "folder:/etc: " in scan.problems[0]


@pytest.mark.parametrize("text", ["", "price", "=folder:/in", "price="])
async def test_a_watch_without_a_handler_or_a_place_is_refused(store: SqliteStore, text: str):
    with pytest.raises(BadSetting, match="HANDLER=PLACE"):
        scanner(store, text, root=Path("/"))
