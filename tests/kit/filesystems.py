"""File systems of one's own, small enough to be full soon."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[Path]:
    """Mount at a place until the block ends; skips the test where that cannot be done."""
    place.mkdir()
    done = subprocess.run(["mount", *words, str(place)], check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"no mounting here: {done.stderr.decode()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def remount(place: Path, options: str) -> None:
    """Change a mounted file system: `ro`, `rw`, or its size."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)
