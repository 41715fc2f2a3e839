"""A partial copy that is kept has exactly the bytes that are on the disk."""

from pathlib import Path

import pytest

from headgate.core.errors import SourceUnreachable
from headgate.transfer.places import partial as parts
from headgate.transfer.places.driver import NOTHING, KeptCopy
from headgate.transfer.places.partial import PartialCopy, discard


def copied(target: Path, version: str, *pieces: bytes) -> None:
    with PartialCopy(target) as part:
        part.begin(version, 0)
        for piece in pieces:
            part.write(piece)


def kept_of(target: Path) -> KeptCopy:
    with PartialCopy(target) as part:
        return part.kept()


def test_a_new_copy_keeps_nothing(tmp_path: Path):
    assert kept_of(tmp_path / "copy") == NOTHING


def test_what_was_written_is_kept_under_its_version(tmp_path: Path):
    copied(tmp_path / "copy", "v1", b"abc", b"def")
    assert kept_of(tmp_path / "copy") == KeptCopy("v1", 6)


def test_without_a_version_nothing_can_be_added_later(tmp_path: Path):
    copied(tmp_path / "copy", "", b"abc")
    assert kept_of(tmp_path / "copy") == NOTHING


def test_another_version_forgets_the_first_at_once(tmp_path: Path):
    copied(tmp_path / "copy", "v1", b"abc")
    with PartialCopy(tmp_path / "copy") as part:
        part.begin("v2", 0)
        assert part.kept() == NOTHING


def test_a_resumed_file_is_cut_to_the_recorded_length(tmp_path: Path):
    copied(tmp_path / "copy", "v1", b"abc")
    with (tmp_path / "copy.part").open("ab") as file:
        file.write(b"\0\0\0")  # as a power cut may leave it
    with PartialCopy(tmp_path / "copy") as part:
        kept = part.kept()
        assert kept == KeptCopy("v1", 3)
        part.begin("v1", kept.size)
        part.write(b"def")
        part.complete()
    assert (tmp_path / "copy").read_bytes() == b"abcdef"


def test_a_note_of_more_than_there_is_counts_for_nothing(tmp_path: Path):
    copied(tmp_path / "copy", "v1", b"abc")
    (tmp_path / "copy.part").write_bytes(b"a")
    assert kept_of(tmp_path / "copy") == NOTHING


@pytest.mark.parametrize("note", [b"", b"{", b'["v1"]', b'["v1",-3]', b"\xff"])
def test_a_damaged_note_counts_for_nothing(tmp_path: Path, note: bytes):
    copied(tmp_path / "copy", "v1", b"abc")
    (tmp_path / "copy.part.json").write_bytes(note)
    assert kept_of(tmp_path / "copy") == NOTHING


def test_a_long_copy_is_noted_on_its_way(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(parts, "SYNC_BYTES", 4)
    with PartialCopy(tmp_path / "copy") as part:
        part.begin("v1", 0)
        part.write(b"abc")
        assert part.kept() == NOTHING
        part.write(b"de")
        assert part.kept() == KeptCopy("v1", 5)
        part.write(b"f")
        assert part.kept() == KeptCopy("v1", 5)


def test_a_full_disk_is_reported_as_full(tmp_path: Path):
    (tmp_path / "copy.part").symlink_to("/dev/full")
    with pytest.raises(SourceUnreachable, match=r"cannot be stored: No space left"):
        copied(tmp_path / "copy", "v1", b"x" * 100_000)
    assert not (tmp_path / "copy").exists()


def test_a_folder_that_is_not_there_is_reported_as_missing(tmp_path: Path):
    with pytest.raises(SourceUnreachable, match="No such file"), PartialCopy(tmp_path / "a" / "b"):
        pytest.fail("there is nothing to write to")


def test_a_complete_copy_leaves_nothing_beside_it(tmp_path: Path):
    with PartialCopy(tmp_path / "copy") as part:
        part.begin("v1", 0)
        part.write(b"abc")
        part.complete()
    assert [file.name for file in tmp_path.iterdir()] == ["copy"]
    discard(tmp_path / "copy")
    assert (tmp_path / "copy").exists()
