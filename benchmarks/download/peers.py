"""What people fetch folders of files with: curl, aria2 and Scrapy, each at its best settings."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import environment
from benchmarks.download.ours import AT_ONCE
from benchmarks.measurement import FailedError, UnavailableError
from benchmarks.scripts import LIMIT_S, ROOT
from tests.kit.service import ServiceMissing, find_program

SCRIPT = ROOT / "benchmarks" / "peers" / "scrapy_files.py"
Settings = Mapping[str, object]
Fetch = Callable[[Sequence[str], Path, Settings], float]
"""Fetches URLs into a folder, and tells how many seconds that took."""

# Found with `python -m benchmarks --tune scrapy`, `--tune aria2` and `--tune curl`.
SCRAPY: Settings = {"reactor": "asyncio", "loop": "uvloop.Loop", "urls-an-item": 1}
ARIA2: Settings = {"disk-cache": "16M"}
CURL: Settings = {}


def curl(urls: Sequence[str], out: Path, settings: Settings) -> float:
    out.mkdir()
    wanted = out.with_suffix(".curl")
    wanted.write_text("".join(f'url = "{url}"\noutput = "{at(out, url)}"\n' for url in urls))
    words = [program("curl"), "--silent", "--show-error", "--fail", "--parallel"]
    words += ["--parallel-max", str(AT_ONCE), *options(settings), "--config", str(wanted)]
    return timed(words, out.parent)


def aria2(urls: Sequence[str], out: Path, settings: Settings) -> float:
    out.mkdir()
    wanted = out.with_suffix(".aria2")
    wanted.write_text("".join(f"{url}\n out={at(out, url).name}\n" for url in urls))
    words = [program("aria2c"), "--quiet", "--no-conf", "--summary-interval=0"]
    words += ["--download-result=hide", "--file-allocation=none", "--async-dns=false"]
    words += ["--max-concurrent-downloads", str(AT_ONCE), "--max-connection-per-server=16"]
    words += [*options(settings), "--dir", str(out), "--input-file", str(wanted)]
    return timed(words, out.parent)


def scrapy(urls: Sequence[str], out: Path, settings: Settings) -> float:
    """The clock runs for the whole program, as it does for all others."""
    wanted = out.with_suffix(".urls")
    wanted.write_text("".join(f"{url}\n" for url in urls))
    words = [str(environment.require()), str(SCRIPT), "--urls", str(wanted), "--out", str(out)]
    return timed([*words, "--at-once", str(AT_ONCE), *options(settings)], out.parent)


def options(settings: Settings) -> list[str]:
    """As words; a flag is True, or False to be left out."""
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in settings.items()
        if value is not False
    ]


def at(out: Path, url: str) -> Path:
    return out / url.rsplit("/", 1)[1]


def by_name(urls: Sequence[str], out: Path) -> dict[str, Path]:
    return {url: at(out, url) for url in urls}


def by_digest(urls: Sequence[str], out: Path) -> dict[str, Path]:
    """As the FilesPipeline names its files."""
    return {
        url: out / "full" / f"{hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()}.pdf"
        for url in urls
    }


def program(name: str) -> str:
    try:
        return find_program(name)
    except ServiceMissing as error:
        raise UnavailableError(str(error)) from error


def timed(words: Sequence[str], folder: Path) -> float:
    started = time.perf_counter()
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"{words[0]} did not end within {LIMIT_S} s") from error
    if done.returncode:
        said = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
        raise FailedError(f"{words[0]} ended with {done.returncode}: {said[-1]}")
    return time.perf_counter() - started


def flush() -> float:
    """Bring all that was written to the disk, and tell how long that took."""
    started = time.perf_counter()
    os.sync()
    return time.perf_counter() - started
