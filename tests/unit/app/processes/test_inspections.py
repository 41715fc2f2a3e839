"""Files are inspected in other processes, with the same results as here."""

import os
import signal
from asyncio import create_task, to_thread, wait
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from openpyxl import Workbook

from headgate.app.processes import inspection_main, inspections
from headgate.app.processes.inspection_main import InspectionOrder, InspectionRefused, reply_to
from headgate.app.processes.inspections import InspectionProcess, Inspections
from headgate.core.errors import BadSource, WorkerFailed, WrongEncoding
from headgate.transfer.inspection import inspect
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions
from tests.kit.command import living, until

DEFAULTS = ReadOptions()
LIMITS = Limits()


@pytest.fixture
async def made() -> AsyncIterator[Inspections]:
    inspections = Inspections()
    yield inspections
    await inspections.stop()


def pids() -> set[int]:
    """The inspecting processes of this one."""
    children = psutil.Process().children()
    return {each.pid for each in living(children) if inspections.MODULE in each.cmdline()}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"id,name\n1,a\n2\n" * 200),
        ("a.jsonl", b'{"id": 123456789012345678901234567890, "to": [1, {"a": null}]}\n'),
        ("a.csv", "id,name\n1,Zoë\n".encode("cp1252")),
    ],
)
async def test_an_inspection_in_another_process_gives_the_same_result(
    made: Inspections, tmp_path: Path, name: str, content: bytes
):
    path = tmp_path / name
    path.write_bytes(content)
    found = await made.inspect(path, DEFAULTS, LIMITS)
    here = inspect(path, DEFAULTS, LIMITS)
    assert (found.format, [*found.columns], found.rows) == (here.format, [*here.columns], here.rows)
    assert (found.problems, found.misread) == (here.problems, here.misread)
    assert ([*found.notes], [*found.sheets]) == ([*here.notes], [*here.sheets])


async def test_a_workbook_is_read_and_its_reader_ends(made: Inspections, tmp_path: Path):
    book = Workbook()
    book.active.append(["id"])
    book.active.append([7])
    book.save(tmp_path / "a.xlsx")
    found = await made.inspect(tmp_path / "a.xlsx", DEFAULTS, LIMITS)
    assert (found.rows, found.sheets) == ([{"id": 7}], ["Sheet"])
    (pid,) = pids()
    assert living(psutil.Process(pid).children()) == []


async def test_a_refusal_says_the_same_and_the_process_continues(made: Inspections, tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id\n")
    with pytest.raises(BadSource, match="no rows under it"):
        await made.inspect(path, DEFAULTS, LIMITS)
    first = pids()
    path.write_text("id\n1\n")
    assert (await made.inspect(path, DEFAULTS, LIMITS)).rows == [{"id": "1"}]
    assert pids() == first
    assert len(first) == 1


async def test_a_refusal_names_an_encoding_that_fits(made: Inspections, tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes("Straße\n".encode("cp1252"))
    with pytest.raises(WrongEncoding) as refused:
        await made.inspect(path, DEFAULTS, LIMITS)
    assert refused.value.fits == "cp1252"


async def test_a_file_that_needs_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def hungry(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(inspection_main, "inspect", hungry)
    reply = reply_to(InspectionOrder("a.csv", DEFAULTS, LIMITS))
    assert reply == InspectionRefused("a.csv cannot be read in 2,048 MiB of memory: split it")


async def test_memory_is_limited(made: Inspections, tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    await made.inspect(path, DEFAULTS, Limits(max_memory_bytes=123 << 20))
    (pid,) = pids()
    assert psutil.Process(pid).rlimit(psutil.RLIMIT_DATA) == (123 << 20, 123 << 20)


async def test_the_death_of_a_process_ends_its_inspection_only(made: Inspections, tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    await made.inspect(path, DEFAULTS, LIMITS)
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)
    asked = create_task(made.inspect(path, DEFAULTS, LIMITS))
    await wait({asked}, timeout=0)  # until it waits for the process
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerFailed, match=r"reading a\.csv ended \(killed by SIGKILL\)"):
        await asked
    assert (await made.inspect(path, DEFAULTS, LIMITS)).columns == ["id"]
    assert pid not in pids()


async def test_a_process_that_hangs_is_killed(
    made: Inspections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    await made.inspect(path, DEFAULTS, LIMITS)
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(inspections, "GRACE_S", 0.0)
    with pytest.raises(BadSource, match=r"a\.csv took longer than 0\.05 s to read"):
        await made.inspect(path, DEFAULTS, Limits(max_look_s=0.05))
    await to_thread(until, lambda: not pids(), what="its end")


async def test_an_idle_process_is_ended(
    made: Inspections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(inspections, "IDLE_S", 0.0)
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    await made.inspect(path, DEFAULTS, LIMITS)
    assert len(pids()) == 1
    await to_thread(until, lambda: not pids(), what="its end")
    assert (await made.inspect(path, DEFAULTS, LIMITS)).columns == ["id"]


async def test_a_process_leads_a_group_with_which_its_readers_are_killed():
    process = await InspectionProcess.start()
    assert os.getpgid(process.pid) == process.pid
    process.kill()
    await process.wait()


async def test_a_stop_ends_processes_that_work(made: Inspections, tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    await made.inspect(path, DEFAULTS, LIMITS)
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)
    asked = create_task(made.inspect(path, DEFAULTS, LIMITS))
    await wait({asked}, timeout=0)  # until it waits for the process
    await made.stop()
    with pytest.raises(WorkerFailed):
        await asked
    assert not pids()
