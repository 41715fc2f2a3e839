"""Images as rows: what their heads say, where their bytes go, and files that are not images."""

import asyncio
import hashlib
import struct
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from headgate.core.errors import BadSource
from headgate.engine.clock import SystemClock
from headgate.transfer.blobs import LocalBlobs, StoreSink
from headgate.transfer.formats.image_head import read_head
from headgate.transfer.limits import Limits
from headgate.transfer.sources import open_images, open_source
from tests.kit.rows import all_rows, batches

FORMATS = ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"]


def image(kind: str = "PNG", size: tuple[int, int] = (7, 5), **options) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, "red").save(out, kind, **options)
    return out.getvalue()


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("size", [(1, 1), (7, 5), (1_300, 900)])
def test_heads_tell_format_and_size(kind: str, size: tuple[int, int]):
    assert read_head(BytesIO(image(kind, size))) == (kind.lower(), *size)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("WEBP", {"lossless": True}),
        ("JPEG", {"progressive": True}),
        ("JPEG", {"exif": b"Exif\0\0" + bytes(60_000), "icc_profile": bytes(200_000)}),
        ("TIFF", {"compression": "tiff_lzw"}),
    ],
)
def test_variants_of_a_format_are_known(kind: str, options: dict):
    assert read_head(BytesIO(image(kind, (31, 17), **options))) == (kind.lower(), 31, 17)


def test_a_large_tiff_may_have_its_directory_at_its_end():
    pixels = bytes(300_000)
    tags = [(256, 3, 1, 640), (257, 4, 1, 480)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    data = b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + struct.pack("<H", 2) + entries
    assert read_head(BytesIO(data)) == ("tiff", 640, 480)


@pytest.mark.parametrize("kind", FORMATS)
def test_no_cut_off_head_is_too_much(kind: str):
    data = image(kind)
    for end in range(min(len(data), 60)):
        assert read_head(BytesIO(data[:end])) in {None, (kind.lower(), 7, 5)}


def test_each_image_of_an_archive_is_a_row(tmp_path: Path):
    pictures = {"b/two.jpg": image("JPEG"), "a.png": image()}
    path = zipped(tmp_path / "a.zip", {"b/": b"", "__MACOSX/._a.png": b"x", **pictures})
    rows = all_rows(open_source(path))
    assert [row.values for row in rows] == [
        {
            "file": name,
            "format": form,
            "width": 7,
            "height": 5,
            "bytes": len(pictures[name]),
            "sha256": hashlib.sha256(pictures[name]).hexdigest(),
            "ref": "",
        }
        for name, form in (("b/two.jpg", "jpeg"), ("a.png", "png"))
    ]


async def test_the_bytes_go_where_the_sink_puts_them(tmp_path: Path):
    blobs = LocalBlobs(tmp_path / "blobs", SystemClock())
    content = image("BMP", (600, 500))
    path = zipped(tmp_path / "a.zip", {"a.bmp": content})
    sink = StoreSink(blobs, asyncio.get_running_loop())
    [row] = await asyncio.to_thread(all_rows, open_source(path, sink=sink))
    blob = await blobs.open(row.values["ref"])
    assert blob is not None
    assert b"".join([chunk async for chunk in blob.chunks()]) == content
    blob.close()
    await blobs.close()


async def test_bytes_that_break_off_leave_nothing_behind(tmp_path: Path):
    blobs = LocalBlobs(tmp_path / "blobs", SystemClock())
    sink = StoreSink(blobs, asyncio.get_running_loop())

    def breaking() -> Iterator[bytes]:
        yield bytes(1_000_000)
        raise EOFError

    with pytest.raises(EOFError):
        await asyncio.to_thread(sink, breaking())
    await blobs.close()
    assert [each for each in (tmp_path / "blobs").rglob("*") if each.is_file()] == []


def test_what_is_not_an_image_is_a_bad_row(tmp_path: Path):
    kept: list[bytes] = []
    members = {
        "a.png": b"no image",
        "../b.png": image(),
        "c.png": image(),
        "d.jpg": b"\xff\xd8\xff",
    }
    path = zipped(tmp_path / "a.zip", members)
    source = open_source(path, sink=lambda chunks: str(kept.append(b"".join(chunks))))
    problems = [row.problem for row in all_rows(source)]
    assert problems[0] == problems[3] == "this is not an image in a known format, or it is damaged"
    assert problems[1] == "its name points outside the archive (..)"
    assert problems[2] is None
    assert kept == [image()]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_counts_once(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.png", image())
        archive.writestr("a.png", image())
    first, second = all_rows(open_source(tmp_path / "a.zip"))
    assert (first.problem, second.problem) == (None, "an earlier file has the same name")


def test_a_damaged_member_is_a_bad_row(tmp_path: Path):
    content = image("BMP", (100, 100))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.bmp", content)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[data.index(content) + 5_000] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(data)
    [row] = all_rows(open_source(tmp_path / "a.zip"))
    assert "cannot be read: Bad CRC-32" in (row.problem or "")


def test_a_folder_is_read_in_order_without_hidden_files_and_links(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("z.png", "b/a.png", ".hidden/c.png", ".d.png"):
        (tmp_path / name).write_bytes(image())
    (tmp_path / "link.png").symlink_to(tmp_path / "z.png")
    source = open_source(tmp_path)
    assert [row.values["file"] for row in all_rows(source)] == ["z.png", "b/a.png"]
    before = source.fingerprint()
    (tmp_path / "b/a.png").write_bytes(image(size=(2, 2)))
    assert open_source(tmp_path).fingerprint() != before


def test_several_files_keep_the_names_of_their_owner(tmp_path: Path):
    (tmp_path / "spool-1").write_bytes(image())
    rows = all_rows(open_images([("my cat.png", tmp_path / "spool-1")]))
    assert [row.values["file"] for row in rows] == ["my cat.png"]
    with pytest.raises(BadSource, match="there are 2 files; at most 1"):
        open_images([("a", tmp_path), ("b", tmp_path)], Limits(max_members=1))


def test_reading_continues_after_any_image(tmp_path: Path):
    path = zipped(tmp_path / "a.zip", {f"{n}.png": image() for n in range(4)})
    source = open_source(path)
    whole = all_rows(source)
    for done, batch in enumerate(batches(source, rows=1), 1):
        assert all_rows(source, batch.position) == whole[done:]
    assert len(next(batches(source, max_bytes=1)).values) == 1
