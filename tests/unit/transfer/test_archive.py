"""Hostile archives and damaged archives."""

import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from headgate.core.errors import BadSource
from headgate.transfer.archive import check_inflated, name_problem, open_archive
from headgate.transfer.limits import Limits

MIB = 1024 * 1024


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def check(path: Path, limits: Limits | None = None) -> None:
    limits = limits or Limits()
    with open_archive(path, limits, unsafe_names=False) as archive:
        check_inflated(path, archive, limits)


def test_a_plain_archive_passes(tmp_path: Path):
    check(zipped(tmp_path / "a.zip", one=b"1" * 100_000, two=b""))


def test_a_cut_off_archive_is_refused(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", one=b"1" * 1_000)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadSource, match=r"not a complete zip archive.*cut off.*send it again"):
        check(path)


def test_a_bomb_is_seen_by_its_ratio(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", bomb=bytes(64 * MIB))
    with pytest.raises(BadSource, match=r"unpacks to .* times its size.*zip bomb"):
        check(path)


def test_a_bomb_is_seen_by_its_size(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", one=bytes(MIB), two=bytes(MIB))
    with pytest.raises(BadSource, match="unpacks to more than 1 MiB"):
        check(path, Limits(max_decompressed_bytes=MIB))


def test_a_directory_that_lies_about_sizes_is_detected(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", bomb=bytes(20 * MIB))
    data = bytearray(path.read_bytes())
    # The size of the first member stands at byte 22 of its local and 24 of its central header.
    for sign, place in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<I", data, data.index(sign) + place, 1_000)
    path.write_bytes(data)
    with pytest.raises(BadSource, match="bomb is not as large as the archive says"):
        check(path)
    with pytest.raises(BadSource, match="unpacks to more than 10 MiB"):
        check(path, Limits(max_decompressed_bytes=10 * MIB))


def test_members_that_share_their_bytes_are_refused(tmp_path: Path):
    """As in the bombs that need no nesting: many names, one packed body."""
    body = zlib.compressobj(wbits=-15)
    packed = body.compress(b"x" * 1_000) + body.flush()
    crc = zlib.crc32(b"x" * 1_000)
    sizes = struct.pack("<3I", crc, len(packed), 1_000)
    local = b"PK\3\4" + struct.pack("<5H", 20, 0, 8, 0, 0) + sizes + struct.pack("<2H", 1, 0) + b"a"
    central = b"".join(
        b"PK\1\2"
        + struct.pack("<6H", 20, 20, 0, 8, 0, 0)
        + sizes
        + struct.pack("<5H2I", 1, 0, 0, 0, 0, 0, 0)
        + name
        for name in (b"a", b"b")
    )
    start = len(local) + len(packed)
    end = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 2, 2, len(central), start, 0)
    path = tmp_path / "a.zip"
    path.write_bytes(local + packed + central + end)
    with pytest.raises(BadSource, match="overlap"):
        check(path)


def test_too_many_members_are_refused_before_they_are_listed(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", **{f"m{n}": b"" for n in range(12)})
    with pytest.raises(BadSource, match="contains 12 files; an archive may contain 10"):
        check(path, Limits(max_members=10))


def test_a_password_is_noticed(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", one=b"1")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(BadSource, match="protected by a password: save it without"):
        check(path)


@pytest.mark.parametrize(
    "name", ["../a", "a/../../b", "/etc/passwd", "C:\\a", "\\a", "..\\a", "a\0b", "a\nb"]
)
def test_names_that_are_not_safe_paths(tmp_path: Path, name: str):
    assert name_problem(name)
    path = zipped(tmp_path / "a.zip", **{"x" * len(name): b""})
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name.encode()))
    with pytest.raises(BadSource, match="is refused: its name"):
        check(path)


@pytest.mark.parametrize("name", ["a", "a/b.png", "..a", "a..b/c", "é €.jpg"])
def test_names_that_are(name: str):
    assert name_problem(name) is None
