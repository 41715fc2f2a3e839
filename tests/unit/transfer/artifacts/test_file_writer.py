"""A separate process writes small files: the same files, and none is lost when it dies."""

import asyncio
import hashlib
import shutil
import signal
import socket
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.verification import Finding, Flaw, Unfit
from headgate.ports.artifacts import FileOrigin, FileTrouble, FolderFull, FolderGone, FolderReadOnly
from headgate.transfer.artifacts.content_store import STORE
from headgate.transfer.artifacts.draft import SMALL_BYTES
from headgate.transfer.artifacts.file_writer import FileWriter, FileWriterGone
from headgate.transfer.artifacts.file_writer_main import OrderLoop
from headgate.transfer.artifacts.file_writer_messages import Frames, framed
from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder
from tests.kit.filesystems import mounted, needs_root, remount

ORIGIN = FileOrigin("http://a/paper", '"1"')


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
async def folder(out):
    async with ArtifactFolder(out) as folder:
        await folder.start_file_writer()
        yield folder


async def keep(folder, name, content, item=None, accept=lambda _: None):
    draft = await folder.begin(item or f"{name} {content}")
    draft.start(ORIGIN)
    try:
        await draft.write(content)
        return await draft.finish(name, accept)
    finally:
        draft.abandon()


async def fill(folder):
    for n in range(20):
        await keep(folder, f"{n}.pdf", b"%d" % n * (SMALL_BYTES // 4))


def files(root):
    return sorted(path.name for path in root.rglob("*") if path.is_file())


def shown(out):
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def process_of(folder):
    return folder.file_writer()._process


async def orders_sent(folder, count):
    """The tasks that were just made have come to where they wait for an answer."""
    await asyncio.wait([asyncio.current_task()], timeout=0)
    assert len(folder.file_writer()._waiting) == count


async def test_many_files_at_once_each_get_their_own_answer(folder, out):
    contents = {f"{n}.pdf": b"%d" % n * n for n in range(200)}
    kept = await asyncio.gather(*(keep(folder, *each) for each in contents.items()))
    assert shown(out) == contents
    for stored, (name, content) in zip(kept, contents.items(), strict=True):
        assert (stored.path, stored.size, stored.known) == (name, len(content), False)
        assert stored.sha256 == hashlib.sha256(content).hexdigest()
    assert files(out / ASIDE) == []


async def test_names_and_contents_are_distinguished_as_ever(folder, out):
    first = await keep(folder, "paper.pdf", b"one")
    second = await keep(folder, "paper.pdf", b"two")
    twin = await keep(folder, "twin.pdf", b"one")
    assert second.path == f"paper-{second.sha256[:8]}.pdf"
    assert (first.known, twin.known) == (False, True)
    assert len(files(out / STORE)) == 2


async def test_it_is_asked_for_small_files_alone(folder, out):
    file_writer = folder.file_writer()
    process_of(folder).send_signal(signal.SIGSTOP)  # a wait for it would never end
    large = await keep(folder, "large.pdf", b"x" * SMALL_BYTES)
    process_of(folder).send_signal(signal.SIGCONT)
    small = await keep(folder, "small.pdf", b"x" * (SMALL_BYTES - 1))
    assert folder.file_writer() is file_writer
    assert [path.stat().st_size for path in (out / large.path, out / small.path)] == [
        SMALL_BYTES,
        SMALL_BYTES - 1,
    ]


async def test_an_item_that_is_not_all_unicode_is_kept(folder, out):
    await keep(folder, "a.pdf", b"one", item="http://a/\ud800")
    assert shown(out) == {"a.pdf": b"one"}


async def test_an_unfit_file_never_gets_to_it(folder, out):
    def refuse(digests):
        assert digests["sha256"] == hashlib.sha256(b"one").hexdigest()
        raise Unfit(Finding(Flaw.CHECKSUM, "another"))

    with pytest.raises(Unfit):
        await keep(folder, "a.pdf", b"one", accept=refuse)
    assert files(out) == []


async def test_when_it_is_killed_the_threads_take_over(folder, out):
    process = process_of(folder)
    process.send_signal(signal.SIGSTOP)
    waiting = [asyncio.create_task(keep(folder, f"{n}.pdf", b"%d" % n)) for n in range(5)]
    await orders_sent(folder, 5)
    process.kill()
    kept = await asyncio.gather(*waiting)
    assert [each.path for each in kept] == [f"{n}.pdf" for n in range(5)]
    assert folder.file_writer() is None
    await keep(folder, "after.pdf", b"after")
    assert (out / "after.pdf").read_bytes() == b"after"
    assert files(out / ASIDE) == []


async def test_after_many_small_files_there_is_one_again(out, monkeypatch):
    monkeypatch.setattr(ArtifactFolder, "FILE_WRITER_AFTER", 3)
    async with ArtifactFolder(out) as folder:
        for n in range(3):
            await keep(folder, f"{n}.pdf", b"%d" % n)
        await folder._starting
        first = process_of(folder)
        first.kill()
        await folder._file_writer._gone
        for n in range(3, 6):
            await keep(folder, f"{n}.pdf", b"%d" % n)
        await folder._starting
        assert process_of(folder).pid != first.pid
        assert first.returncode == -signal.SIGKILL
    assert len(shown(out)) == 6


async def test_a_stopped_process_leaves_a_whole_file_or_none(folder, out):
    process_of(folder).send_signal(signal.SIGSTOP)
    task = asyncio.create_task(keep(folder, "a.pdf", b"one"))
    await orders_sent(folder, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    process_of(folder).send_signal(signal.SIGCONT)
    assert (await keep(folder, "b.pdf", b"two")).path == "b.pdf"
    assert shown(out) == {"a.pdf": b"one", "b.pdf": b"two"}
    assert files(out / ASIDE) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signals_to_everybody_do_not_end_it(folder, number):
    await keep(folder, "a.pdf", b"one")  # it has begun to work
    process_of(folder).send_signal(number)
    await keep(folder, "b.pdf", b"two")
    assert folder.file_writer() is not None


async def test_closing_waits_for_what_is_written(out):
    async with ArtifactFolder(out) as folder:
        await folder.start_file_writer()
        process = process_of(folder)
        tasks = [asyncio.create_task(keep(folder, f"{n}.pdf", b"%d" % n)) for n in range(50)]
        await orders_sent(folder, 50)
    assert len(await asyncio.gather(*tasks)) == len(shown(out)) == 50
    assert process.returncode == 0


@needs_root
async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    with ExitStack() as stack:
        place = stack.enter_context(mounted(tmp_path / "m", "-t", "tmpfs", "-o", "size=1m", "t"))
        async with ArtifactFolder(place) as folder:
            await folder.start_file_writer()
            with pytest.raises(FolderFull, match="make room"):
                await fill(folder)
            assert files(place / ASIDE) == []
            remount(place, "size=9m")
            await keep(folder, "fits.pdf", b"fits")
            remount(place, "ro")
            with pytest.raises(FolderReadOnly):
                await keep(folder, "b.pdf", b"two")


async def test_a_folder_that_was_removed_is_told(folder, out):
    shutil.rmtree(out)
    with pytest.raises(FolderGone, match="moved or removed"):
        await keep(folder, "a.pdf", b"one")
    assert not out.exists()


async def test_a_file_that_finds_no_name_is_its_own_trouble(folder, out):
    sha256 = hashlib.sha256(b"one").hexdigest()
    for name in ("a.pdf", f"a-{sha256[:8]}.pdf", f"a-{sha256}.pdf", sha256):
        (out / name).mkdir()
    with pytest.raises(FileTrouble, match="is taken"):
        await keep(folder, "a.pdf", b"one")


async def test_a_closed_file_writer_takes_no_file(out):
    async with ArtifactFolder(out):
        file_writer = await FileWriter.start(out, out / ASIDE)
        await file_writer.close()
        assert file_writer.is_gone
        with pytest.raises(FileWriterGone):
            await file_writer.keep("item", "a.pdf", "0" * 64, b"one")


def test_the_file_writer_ends_when_idle(tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        OrderLoop(tmp_path, tmp_path / ASIDE, theirs, idle_s=0.0).run()


def test_half_an_order_leaves_nothing(tmp_path):
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(framed(b"an order", b"its bytes")[:-1])
        OrderLoop(tmp_path, tmp_path / ASIDE, theirs).run()
    assert files(tmp_path) == []


FRAMES = st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=50)), max_size=6)


@given(FRAMES, st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_frames_come_out_as_they_went_in_however_they_are_cut(frames, cuts):
    sent = b"".join(framed(*each) for each in frames)
    received = Frames()
    taken, place, turn = [], 0, 0
    while place < len(sent):
        size = cuts[turn % len(cuts)]
        taken += received.feed(sent[place : place + size])
        place, turn = place + size, turn + 1
    assert taken == frames
