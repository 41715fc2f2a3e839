"""A disk that refuses is told in words, stops the job or the file, and leaves nothing half done."""

import asyncio
import errno
import hashlib
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from headgate.ports.artifacts import (
    FileOrigin,
    FileTrouble,
    FolderFull,
    FolderGone,
    FolderReadOnly,
    FolderTrouble,
)
from headgate.transfer.artifacts import committer, content_store, disk, partial
from headgate.transfer.artifacts.disk import artifact_error
from headgate.transfer.artifacts.draft import SMALL_BYTES
from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder
from tests.kit.filesystems import mounted, needs_root, remount

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def mount(tmp_path):
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(mounted(tmp_path / "mounted", *words))


def make_read_only(place):
    remount(place, "ro")


async def keep(folder, name, *pieces):
    draft = await folder.begin(name)
    draft.start(FileOrigin("http://a/b", '"1"'))
    try:
        for piece in pieces:
            await draft.write(piece)
        return await draft.finish(name, lambda _: None)
    finally:
        draft.abandon()


def files(root):
    return sorted(path.name for path in root.rglob("*") if path.is_file())


def refusing(number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, FolderFull),
        (errno.EDQUOT, FolderFull),
        (errno.EROFS, FolderReadOnly),
        (errno.EACCES, FolderReadOnly),
        (errno.ENOENT, FolderGone),
        (errno.ENAMETOOLONG, FileTrouble),
        (errno.EIO, FolderTrouble),
        (errno.EMFILE, FolderTrouble),
    ],
)
def test_errors_are_sorted_by_what_they_stop(number, kind):
    trouble = artifact_error(OSError(number, os.strerror(number)), Path("papers"))
    assert type(trouble) is kind
    assert "papers" in str(trouble)


@needs_root
@pytest.mark.parametrize("size", [3 * SMALL_BYTES, 100 * SMALL_BYTES])
async def test_a_full_disk_stops_the_job_and_leaves_no_half_file(mount, size):
    place = mount("-t", "tmpfs", "-o", f"size={8 * SMALL_BYTES}", "tmpfs")
    blocks = [b"x" * SMALL_BYTES] * (size // SMALL_BYTES)

    async def fill(folder):
        for number in range(10):
            await keep(folder, f"{number}.pdf", *blocks, b"%d" % number)

    async with ArtifactFolder(place) as folder:
        with pytest.raises(FolderFull, match="make room"):
            await fill(folder)
    assert {(place / name).stat().st_size for name in files(place) if ".pdf" in name} <= {size + 1}
    assert files(place / ASIDE) == []


@needs_root
async def test_a_folder_that_became_read_only_stops_the_job(mount):
    place = mount("-t", "tmpfs", "tmpfs")
    async with ArtifactFolder(place) as folder:
        await keep(folder, "a.pdf", b"one")
        make_read_only(place)
        with pytest.raises(FolderReadOnly):
            await keep(folder, "b.pdf", b"two")


async def test_a_folder_that_cannot_be_made_is_reported_immediately(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FolderTrouble, match="file"):
        async with ArtifactFolder(tmp_path / "file" / "out"):
            pass


async def test_a_folder_whose_path_is_too_long_is_reported_immediately(tmp_path):
    for long in ("x" * 300, "/".join(["x" * 200] * 19)):
        with pytest.raises(FolderTrouble, match="too long"):
            async with ArtifactFolder(tmp_path / long):
                pass


@pytest.mark.parametrize("pieces", [[b"one"], [b"x" * SMALL_BYTES] * 2])
async def test_a_folder_that_was_removed_stops_the_job_and_is_not_made_again(tmp_path, pieces):
    root = tmp_path / "out"
    async with ArtifactFolder(root) as folder:
        shutil.rmtree(root)
        with pytest.raises(FolderGone, match="moved or removed"):
            await keep(folder, "a.pdf", *pieces)
    assert not root.exists()


@pytest.mark.parametrize(
    "place", [(committer, "sync_all"), (content_store.os, "link"), (partial.os, "writev")]
)
async def test_a_disk_that_is_full_at_any_step_leaves_nothing(tmp_path, monkeypatch, place):
    async with ArtifactFolder(tmp_path) as folder:
        with monkeypatch.context() as patch:
            patch.setattr(*place, refusing(errno.ENOSPC))
            with pytest.raises(FolderFull):
                await keep(folder, "a.pdf", b"one")
        assert files(tmp_path) == []
        await keep(folder, "b.pdf", b"two")  # room was made
    assert (tmp_path / "b.pdf").read_bytes() == b"two"


async def test_one_file_that_does_not_get_to_the_disk_does_not_harm_others(tmp_path, monkeypatch):
    def sync(numbers, folders, root):
        return {number: OSError(errno.EIO, "broken") for number in numbers}

    async with ArtifactFolder(tmp_path) as folder:
        with monkeypatch.context() as patch:
            patch.setattr(committer, "sync_all", sync)
            with pytest.raises(FolderTrouble, match="broken"):
                await keep(folder, "a.pdf", b"one")
        await keep(folder, "b.pdf", b"two")
    assert [name for name in files(tmp_path) if ".pdf" in name] == ["b.pdf"]


async def test_a_disk_that_cannot_sync_as_a_whole_is_asked_file_by_file(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_syncfs", lambda _: -1)
    async with ArtifactFolder(tmp_path) as folder:
        kept = await asyncio.gather(*(keep(folder, f"{n}.pdf", b"%d" % n) for n in range(20)))
    assert [(tmp_path / each.path).read_bytes() for each in kept] == [b"%d" % n for n in range(20)]


def test_files_that_did_not_get_to_the_disk_are_told_one_by_one(tmp_path):
    with (tmp_path / "good").open("wb") as good:
        reading, writing = os.pipe()  # there is no disk behind it
        with os.fdopen(reading, "rb"), os.fdopen(writing, "wb"):
            failed = disk.sync_all([good.fileno(), writing], [tmp_path], good.fileno())
    assert set(failed) == {writing}


async def test_a_file_that_vanished_is_its_own_trouble(tmp_path):
    async with ArtifactFolder(tmp_path) as folder:
        draft = await folder.begin("a")
        draft.start(FileOrigin("http://a/b", '"1"'))
        await draft.write(b"x" * SMALL_BYTES)
        for path in (tmp_path / ASIDE).iterdir():
            path.unlink()
        with pytest.raises(FileTrouble, match="vanished"):
            await draft.finish("a.pdf", lambda _: None)
        await keep(folder, "b.pdf", b"two")
    assert (tmp_path / "b.pdf").read_bytes() == b"two"


@pytest.mark.parametrize("links", [True, False])
async def test_when_every_name_is_taken_the_file_is_abandoned(tmp_path, monkeypatch, links):
    sha256 = hashlib.sha256(b"one").hexdigest()
    for name in ("a.pdf", f"a-{sha256[:8]}.pdf", f"a-{sha256}.pdf", sha256):
        (tmp_path / name).mkdir()
    if not links:
        monkeypatch.setattr(content_store.os, "link", refusing(errno.EPERM))
    async with ArtifactFolder(tmp_path) as folder:
        with pytest.raises(FileTrouble, match="is taken"):
            await keep(folder, "a.pdf", b"one")
        await folder.tidy(before_us=0)
    assert files(tmp_path) == []


async def test_a_content_that_is_cleaned_up_meanwhile_is_stored_again(tmp_path, monkeypatch):
    link, stored = os.link, tmp_path / content_store.STORE

    def tidied_before(source, target):
        if Path(source).is_relative_to(stored):
            monkeypatch.setattr(content_store.os, "link", link)
            Path(source).unlink()
        link(source, target)

    async with ArtifactFolder(tmp_path) as folder:
        await keep(folder, "a.pdf", b"one")
        monkeypatch.setattr(content_store.os, "link", tidied_before)
        await keep(folder, "b.pdf", b"one")
    assert (tmp_path / "b.pdf").read_bytes() == b"one"
    assert len(files(stored)) == 1


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
async def test_without_links_files_are_moved_and_still_never_overwritten(
    tmp_path, monkeypatch, number
):
    monkeypatch.setattr(content_store.os, "link", refusing(number))
    async with ArtifactFolder(tmp_path) as folder:
        first = await keep(folder, "a.pdf", b"one")
        second = await keep(folder, "a.pdf", b"two")
        again = await keep(folder, "a.pdf", b"two")
    assert (first.path, second.path) == ("a.pdf", f"a-{second.sha256[:8]}.pdf")
    assert again.path == second.path
    assert files(tmp_path) == sorted([first.path, second.path])
