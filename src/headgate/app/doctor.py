"""Checks for `headgate doctor`: each gives one line, with advice."""

import os
import platform
import resource
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from enum import StrEnum
from pathlib import Path

import apsw
import msgspec
import psutil

from headgate.app import wiring
from headgate.app.settings import Settings
from headgate.core.errors import HeadgateError, StoreMismatch
from headgate.core.redact_values import without_secrets
from headgate.core.words import agreeing, counted
from headgate.ports.clock import Clock
from headgate.ports.handler import HandlerLookup
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

MEGABYTE = 1_048_576
LOW_DISK = 1_024 * MEGABYTE
NO_DISK = 100 * MEGABYTE
SPARE_FILES = 64
"""Open files of a worker in addition to two for each item in flight."""
SHARED_FOLDERS = frozenset({"nfs", "nfs4", "cifs", "smbfs", "smb3", "fuse.sshfs", "9p", "afs"})
OLDEST_SQLITE = (3, 40, 0)
SKEW_US = 300_000_000
LONGEST_SILENCE = 3
"""Missed heartbeat periods after which a silent worker is reported."""


class Grade(StrEnum):
    OK = "ok"
    WARN = "warn"
    PROBLEM = "problem"


class CheckResult(msgspec.Struct, frozen=True):
    grade: Grade
    what: str
    found: str
    advice: str = ""


def machine_checks(settings: Settings) -> Iterator[CheckResult]:
    yield python_version(sys.version_info[:3])
    yield sqlite_version(apsw.sqlite_lib_version())
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield open_files(soft, settings.worker.concurrency)
    folder = store_folder(settings)
    if folder is not None:
        yield writable(folder)
        yield filesystem(folder)
        path = Path(wiring.sqlite_path(settings.database_url))
        if path.exists():
            yield file_mode(path)
    if folder is None or folder.exists():
        yield disk_space(shutil.disk_usage(folder or Path.cwd()).free, folder or Path.cwd())


def python_version(version: tuple[int, ...]) -> CheckResult:
    found = ".".join(str(part) for part in version)
    if version < (3, 11):
        return CheckResult(Grade.PROBLEM, "Python", found, "install Python 3.11 or newer")
    return CheckResult(Grade.OK, "Python", f"{found} ({platform.python_implementation()})")


def sqlite_version(found: str) -> CheckResult:
    """SQLite must support RETURNING and must not reset its log while it is read."""
    if tuple(int(part) for part in found.split(".")) < OLDEST_SQLITE:
        return CheckResult(
            Grade.PROBLEM, "SQLite", found, "install a newer apsw: pip install -U apsw"
        )
    return CheckResult(Grade.OK, "SQLite", found)


def open_files(soft: int, concurrency: int) -> CheckResult:
    """There must be enough file descriptors for all items in flight."""
    needed = 2 * concurrency + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        advice = f"{concurrency} items in flight need {needed}: ulimit -n {needed}"
        return CheckResult(Grade.WARN, "open files", f"limit {soft}", advice)
    return CheckResult(Grade.OK, "open files", f"limit {soft}")


def store_folder(settings: Settings) -> Path | None:
    if wiring.store_kind(settings.database_url) != "sqlite":
        return None
    return Path(wiring.sqlite_path(settings.database_url)).absolute().parent


def writable(folder: Path) -> CheckResult:
    """SQLite writes its log beside the file, so the folder must be writable."""
    if not folder.is_dir():
        return CheckResult(Grade.PROBLEM, "folder", str(folder), f"create it: mkdir -p {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return CheckResult(
            Grade.PROBLEM, "folder", f"{folder} is not writable", "choose another: --db"
        )
    return CheckResult(Grade.OK, "folder", f"{folder} is writable")


def filesystem(folder: Path) -> CheckResult:
    """SQLite's locks do not work on network file systems."""
    mounts = [
        part for part in psutil.disk_partitions(all=True) if folder.is_relative_to(part.mountpoint)
    ]
    kind = max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else "unknown"
    if kind in SHARED_FOLDERS:
        advice = "use a local disk, or PostgreSQL to share a store between machines"
        return CheckResult(Grade.PROBLEM, "filesystem", f"{kind}, a network folder", advice)
    return CheckResult(Grade.OK, "filesystem", kind)


def file_mode(path: Path) -> CheckResult:
    """The store contains password hashes, rows and configurations."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o007:
        advice = f"restrict it: chmod 600 {path}*"
        return CheckResult(
            Grade.WARN, "store file", "every user of this machine can read it", advice
        )
    return CheckResult(Grade.OK, "store file", f"mode {mode:o}")


def disk_space(free: int, folder: Path) -> CheckResult:
    found = f"{free / MEGABYTE / 1024:,.1f} GB free in {folder}"
    if free < NO_DISK:
        return CheckResult(Grade.PROBLEM, "disk", found, "make space before the next run")
    if free < LOW_DISK:
        return CheckResult(Grade.WARN, "disk", found, "a large batch may fill it")
    return CheckResult(Grade.OK, "disk", found)


async def store_checks(settings: Settings, clock: Clock) -> AsyncIterator[CheckResult]:
    """Checks of the store; a missing store is not created."""
    place = without_secrets(settings.database_url)
    if missing := wiring.missing_file(settings):
        yield CheckResult(
            Grade.WARN, "store", f"{missing} does not exist", "`headgate run` creates it"
        )
        return
    try:
        async with wiring.open_store(settings) as store:
            status = await store.reads.status()
            yield CheckResult(Grade.OK, "store", f"{status.kind} {status.version} at {place}")
            yield CheckResult(Grade.OK, "schema", f"{status.schema}, current")
            yield await workers(store, clock)
            yield await clock_sanity(store, clock)
    except StoreMismatch as error:
        yield CheckResult(Grade.PROBLEM, "schema", str(error), "headgate db migrate")
    except HeadgateError as error:
        advice = "check that the database is running and that --db is correct"
        yield CheckResult(Grade.PROBLEM, "store", f"{place}: {error}", advice)


async def workers(store: Store, clock: Clock) -> CheckResult:
    """Workers that are marked as running but have been silent for long."""
    alive = await store.reads.workers()
    now = clock.now()
    silent = [
        worker
        for worker in alive
        if now - worker.beat_at > LONGEST_SILENCE * worker.ttl_s * 1_000_000
    ]
    if silent:
        held = sum(worker.leases for worker in silent)
        are = agreeing(len(silent), "is", "are")
        found = f"{len(silent)} of {len(alive)} {are} silent, with {counted(held, 'item')}"
        return CheckResult(
            Grade.WARN, "workers", found, "any running worker takes over: headgate worker"
        )
    return CheckResult(Grade.OK, "workers", f"{len(alive)} running")


async def clock_sanity(store: Store, clock: Clock) -> CheckResult:
    """A clock behind the newest stored time was set back, here or on another machine."""
    newest = await store.reads.jobs(JobQuery(limit=1, configs=False))
    ahead = (newest[0].updated_at - clock.now()) if newest else 0
    if ahead > SKEW_US:
        found = f"{ahead / 60e6:,.0f} min behind the newest job"
        return CheckResult(Grade.WARN, "clock", found, "set this machine's clock (NTP)")
    return CheckResult(Grade.OK, "clock", "agrees with the store")


def handler_check(lookup: HandlerLookup, reference: str) -> CheckResult:
    try:
        spec = lookup(reference)
    except HeadgateError as error:
        return CheckResult(Grade.PROBLEM, "handler", reference, str(error))
    kind = "async" if spec.is_async else "plain, in threads"
    return CheckResult(Grade.OK, "handler", f"{spec.name} ({kind})")
