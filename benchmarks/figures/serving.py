"""The server: uploads, pages, looks at a job under load, and how fast it accepts."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.harness import Bench, Contender, Figure
from benchmarks.limits import postgres_copy, sqlite_insert
from benchmarks.measurement import Round, Values
from benchmarks.ours import Store, postgres, sqlite
from benchmarks.ratios import ratio
from benchmarks.scripts import numbers, run_module
from benchmarks.workload import write_csv


def upload(name: str, store: Store) -> Contender:
    """A large CSV, from the first byte to the last row that can be queried."""

    def run(bench: Bench) -> Values:
        count = bench.sizes.large
        source = write_csv(bench.inputs / f"{count}.csv", count)
        with bench.scratch() as folder, store(bench, folder) as url:
            arguments = {"db": url, "file": source, "items": count, "folder": folder}
            found = run_module("benchmarks.serving.upload", arguments)
        return numbers(found, "rows_per_s", "growth_mb", "answered_s")

    return Contender(name, run)


def pages(bench: Bench) -> Values:
    with bench.scratch() as folder:
        arguments = {"db": folder / "pages.db", "items": bench.sizes.huge, "folder": folder}
        found = run_module("benchmarks.serving.pages", arguments)
    return numbers(found, "first_ms", "deepest_ms", "page_ratio")


def busy(bench: Bench) -> Values:
    count = max(bench.sizes.drain * 4, 5_000)  # fewer would be drained before the second look
    source = write_csv(bench.inputs / f"{count}.csv", count)
    with bench.scratch() as folder:
        arguments = {"db": folder / "busy.db", "file": source, "folder": folder}
        found = run_module("benchmarks.serving.busy", arguments)
    return numbers(found, "idle_ms", "busy_ms", "busy_ratio")


def accept(bench: Bench) -> Values:
    with bench.scratch() as folder:
        repeats = min(bench.sizes.drain, 90)
        arguments = {"db": folder / "accept.db", "repeats": repeats, "folder": folder}
        found = run_module("benchmarks.serving.accept", arguments)
    return numbers(found, "p50_ms", "p99_ms")


SQLITE_UPLOAD = upload("headgate serve, upload, SQLite", sqlite)
POSTGRES_UPLOAD = upload("headgate serve, upload, PostgreSQL", postgres)
SQLITE_RAW = Contender("raw executemany, many rows", lambda b: sqlite_insert(b, b.sizes.large))
POSTGRES_RAW = Contender("raw COPY, many rows", lambda b: postgres_copy(b, b.sizes.large))
PAGES = Contender("headgate serve, pages of 5M items", pages)
BUSY = Contender("headgate serve, a job looked at", busy)
ACCEPT = Contender("headgate serve, references", accept)


def measured(contender: Contender, value: str) -> Callable[[Round], float]:
    return lambda r: r.values[contender.name][value]


def steadiness(one: Round) -> float:
    """The ratio, or 1 where even the busy server answers within 20 ms."""
    values = one.values[BUSY.name]
    return 1.0 if values["busy_ms"] <= 20.0 else values["busy_ratio"]


FIGURES = (
    Figure(
        name="upload-sqlite",
        title="upload of 1M rows until queryable ÷ executemany on SQLite",
        contenders=(SQLITE_UPLOAD, SQLITE_RAW),
        value=ratio(SQLITE_UPLOAD, SQLITE_RAW, "rows_per_s"),
        must=0.35,
        aim=0.6,
    ),
    Figure(
        name="upload-postgres",
        title="upload of 1M rows until queryable ÷ COPY on PostgreSQL",
        contenders=(POSTGRES_UPLOAD, POSTGRES_RAW),
        value=ratio(POSTGRES_UPLOAD, POSTGRES_RAW, "rows_per_s"),
        must=0.35,
        aim=0.6,
    ),
    Figure(
        name="upload-memory",
        title="growth of API and file worker during that upload",
        contenders=(SQLITE_UPLOAD,),
        value=measured(SQLITE_UPLOAD, "growth_mb"),
        must=60.0,
        aim=20.0,
        at_most=True,
        unit="MB",
    ),
    Figure(
        name="page-http",
        title="items page of 100 over HTTP at 5M items, p95: deepest ÷ first",
        contenders=(PAGES,),
        value=measured(PAGES, "page_ratio"),
        must=1.5,
        aim=1.1,
        at_most=True,
    ),
    Figure(
        name="job-busy",
        title="GET a job while it drains ÷ at rest, p95 (1 if within 20 ms)",
        contenders=(BUSY,),
        value=steadiness,
        must=3.0,
        aim=1.5,
        at_most=True,
    ),
    Figure(
        name="accept",
        title="POST a source reference, p99 to 202",
        contenders=(ACCEPT,),
        value=measured(ACCEPT, "p99_ms"),
        must=1_000.0,
        aim=50.0,
        at_most=True,
        unit="ms",
    ),
)
