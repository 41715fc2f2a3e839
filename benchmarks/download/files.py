"""What is served: PDFs by their marks, no two alike, and the same for the same number."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import BinaryIO

from benchmarks.harness import Bench
from benchmarks.measurement import UnavailableError

SMALL_BYTES = 20_000
HEAD, TAIL = b"%PDF-1.7\n", b"\n%%EOF\n"
OWN_BYTES = 1_000_000
"""So much of a large file is its own; between that and its end is a hole, which reads as zeros."""


def name(number: int) -> str:
    return f"{number:05d}.pdf"


def small(bench: Bench, count: int) -> Path:
    """A folder of files of 20 kB, written once a run."""

    def write(file: BinaryIO, number: int) -> None:
        file.write(HEAD + Random(number).randbytes(SMALL_BYTES - len(HEAD + TAIL)) + TAIL)

    return written(bench.inputs / f"small-{count}", count, write)


def large(bench: Bench) -> Path:
    """A folder of few large ones. Holes, so that reading them does not wait for the disk."""
    count, size = bench.sizes.large_files, bench.sizes.large_file_bytes
    require_space(bench.inputs, 2 * count * size)

    def write(file: BinaryIO, number: int) -> None:
        file.write(HEAD + Random(number).randbytes(OWN_BYTES))
        file.seek(size - len(TAIL))
        file.write(TAIL)

    return written(bench.inputs / f"large-{count}", count, write)


def written(folder: Path, count: int, write: Callable[[BinaryIO, int], None]) -> Path:
    if not folder.exists():
        unfinished = folder.with_suffix(".part")
        unfinished.mkdir()
        for number in range(count):
            with (unfinished / name(number)).open("wb") as file:
                write(file, number)
        unfinished.rename(folder)
    return folder


def require_space(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise UnavailableError(f"{size / 1e9:.0f} GB of disk are needed, {free / 1e9:.0f} are free")
