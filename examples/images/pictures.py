"""Makes a folder of pictures to label: `python pictures.py FOLDER`. Standard library only."""

import struct
import sys
import zlib
from pathlib import Path

SHAPES = {"wide.png": (160, 90), "tall.png": (30, 70), "even.png": (50, 50)}


def png(width: int, height: int) -> bytes:
    """A grey picture."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\x80" * width) * height
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, shape in SHAPES.items():
        (folder / name).write_bytes(png(*shape))
