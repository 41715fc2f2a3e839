"""A mirror of 200,000 rows of 0.5 kB from one Datasette, 1,000 rows a page, durable.

Time is that of the whole command. dlt infers a schema and loads into an analytical database; we
keep the rows as they were received, with hashes and a proof. Both end with durable files.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import command, environment
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import FailedError, Round, UnavailableError, Values
from benchmarks.ratios import ratio
from benchmarks.scripts import ROOT, last_line, numbers, run_module, run_script
from tests.kit.datasette import DatasetteServer
from tests.kit.service import ServiceMissing

DLT = ROOT / "benchmarks" / "peers" / "dlt_copy.py"
PAGE, LANES, DELAY_S = 1_000, 8, 0.1
WORDS = ("river", "gate", "stone", "quiet", "harvest", "signal", "orbit", "copper", "ledger")
TABLE = "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, body TEXT, updated_at TEXT)"
QUERY = f"_shape=objects&_size={PAGE}&_nofacet=1&_nosuggest=1&_nocount=1"
SOURCE = """
name = "articles"
[client]
base_url = "{url}"
{limit}
[[resources]]
name = "articles"
primary_key = "id"
order = {{ key = "id", compare = "number", params = {{ _sort = "id" }} }}
[resources.endpoint]
path = "/articles.json"
data_selector = "rows"
params = {{ _shape = "objects", _size = {page}, _nofacet = 1, _nosuggest = 1, _nocount = 1 }}
paginator = {{ type = "keyset", key = "id", after_param = "id__gt", until_param = "id__lte" }}
incremental = {{ cursor_path = "updated_at", start_param = "updated_at__gte" }}
"""


def articles(count: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(7)
    for number in range(1, count + 1):
        words = " ".join(rng.choices(WORDS, k=70))
        stamp = f"2025-01-{1 + number % 27:02d}T00:00:00Z"
        yield {"id": number, "title": words[:40], "body": words, "updated_at": stamp}


@contextmanager
def datasette(bench: Bench, delay_s: float = 0.0) -> Iterator[DatasetteServer]:
    try:
        server = DatasetteServer(page_rows=PAGE, delay_s=delay_s)
    except ServiceMissing as error:
        raise UnavailableError(str(error)) from error
    server.execute(TABLE)
    server.insert("articles", articles(bench.sizes.mirrored))
    with server:
        yield server


@dataclass(frozen=True)
class PassEnd:
    """The summary of a pass, the seconds and the bytes written of its whole command."""

    totals: dict[str, Any]
    seconds: float
    written: int

    @property
    def rows_per_s(self) -> float:
        return float(self.totals["rows"]) / self.seconds


def extract(folder: Path, source: Path, *words: str) -> PassEnd:
    """Run `headgate extract` to the end of a proven pass."""
    line = [command.program(), "extract", str(source), *words, "--json", "--quiet"]
    line += ["--db", str(folder / "headgate.db")]
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(line, cwd=folder, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise FailedError(f"headgate ended with {process.returncode}: {err.read()[-300:]}")
        # The kernel counts blocks of 512 bytes, those of ended children included.
        return PassEnd(last_line(out.read(), "headgate"), seconds, usage.ru_oublock * 512)


def write_source(folder: Path, server: DatasetteServer, limit: str = "") -> Path:
    path = folder / "source.toml"
    path.write_text(SOURCE.format(url=server.url("/db"), page=PAGE, limit=limit))
    return path


def cold(delay_s: float) -> Callable[[Bench], Values]:
    """The first pass over a source whose limit is not known."""

    def run(bench: Bench) -> Values:
        with bench.scratch() as folder, datasette(bench, delay_s) as server:
            done = extract(folder, write_source(folder, server), "--workers", str(LANES))
        if done.totals["rows"] != bench.sizes.mirrored:
            raise FailedError(f"headgate extracted {done.totals['rows']} rows")
        return {"rows_per_s": done.rows_per_s, "seconds": done.seconds}

    return run


def remembered(lanes: int) -> Callable[[Bench], Values]:
    """A full pass with a pace that the pass before has learned."""

    def run(bench: Bench) -> Values:
        with bench.scratch() as folder, datasette(bench, DELAY_S) as server:
            source = write_source(folder, server)
            extract(folder, source, "--workers", "10")
            done = extract(folder, source, "--full", "--workers", str(lanes))
        return {"pages_per_s": float(done.totals["pages_per_s"])}

    return run


def again(bench: Bench) -> Values:
    """A second full pass after 0.1 % of the rows changed, and an incremental one after as many."""
    changed = max(bench.sizes.mirrored // 1_000, 1)
    step = bench.sizes.mirrored // changed
    with bench.scratch() as folder, datasette(bench) as server:
        source = write_source(folder, server)
        first = extract(folder, source)
        server.execute(f"UPDATE articles SET title = 'new' WHERE id % {step} = 0")
        second = extract(folder, source, "--full")
        stamp = "2025-06-01T00:00:00Z"
        server.execute(f"UPDATE articles SET updated_at = '{stamp}' WHERE id % {step} = 1")
        extract(folder, source)  # brings the watermark to the changed rows
        server.execute(f"UPDATE articles SET updated_at = '2025-07-01' WHERE id % {step} = 2")
        before = len(server.requests())
        third = extract(folder, source)
        requests = len(server.requests()) - before
    found = [second.totals["streams"][0]["changed"], third.totals["streams"][0]["changed"]]
    if found != [changed, changed]:
        raise FailedError(f"{found} rows changed, not {changed}")
    necessary = -(-2 * changed // PAGE)  # rows of the last stamp come again
    return {
        "speed": second.rows_per_s / first.rows_per_s,
        "written": second.written / first.written if first.written else 0.0,
        "extra_requests": float(requests - necessary),
    }


def bare(bench: Bench) -> Values:
    with bench.scratch() as folder, datasette(bench) as server:
        size = {"rows": bench.sizes.mirrored, "page": PAGE, "lanes": LANES}
        place = {"url": server.url(f"/db/articles.json?{QUERY}"), "database": folder / "bare.db"}
        return numbers(
            run_module("benchmarks.extracting.bare_copy", {**place, **size}), "rows_per_s"
        )


def dlt(parts: int, delay_s: float) -> Callable[[Bench], Values]:
    def run(bench: Bench) -> Values:
        python = environment.require()
        with bench.scratch() as folder, datasette(bench, delay_s) as server:
            size = {"rows": bench.sizes.mirrored, "page": PAGE, "parts": parts}
            place = {"url": server.url("/db"), "folder": folder}
            return numbers(run_script(python, DLT, {**place, **size}), "rows_per_s")

    return run


COLD = Contender("headgate, mirror of an unknown source", cold(0.0))
COLD_SLOW = Contender("headgate, mirror, 100 ms a page", cold(DELAY_S))
TEN_LANES = Contender("headgate, mirror, 10 lanes", remembered(10))
ONE_LANE = Contender("headgate, mirror, 1 lane", remembered(1))
AGAIN = Contender("headgate, mirror, second pass", again)
BARE = Contender("bare aiohttp and SQLite, 8 lanes", bare)
DLT_BEST = Contender("dlt, 8 ranges, into DuckDB", dlt(8, 0.0))
DLT_PLAIN = Contender("dlt as normally written, 100 ms a page", dlt(1, DELAY_S))


def of_second_pass(value: str) -> Callable[[Round], float]:
    return lambda done: done.values[AGAIN.name][value]


def compared(name: str, title: str, pair: tuple[Contender, Contender], goal: str) -> Figure:
    must, aim = map(float, goal.split())
    return Figure(name, title, pair, ratio(*pair, "rows_per_s"), must, aim)


FIGURES = (
    compared("extract-dlt", "mirror ÷ dlt at its best", (COLD, DLT_BEST), "2.5 4"),
    compared(
        "extract-dlt-plain",
        "mirror ÷ dlt as normally written, 100 ms a page",
        (COLD_SLOW, DLT_PLAIN),
        "5 8",
    ),
    compared("extract-raw", "mirror ÷ bare loop", (COLD, BARE), "0.5 0.8"),
    Figure(
        "extract-lanes",
        "pages of 10 lanes ÷ 1 lane, 100 ms a page",
        (TEN_LANES, ONE_LANE),
        ratio(TEN_LANES, ONE_LANE, "pages_per_s"),
        9.0,
        9.7,
    ),
    Figure(
        "extract-again",
        "rows/s of a second full pass ÷ the first, 0.1 % changed",
        (AGAIN,),
        of_second_pass("speed"),
        1.0,
        1.5,
    ),
    Figure(
        "extract-again-written",
        "bytes written by a second full pass ÷ the first",
        (AGAIN,),
        of_second_pass("written"),
        0.15,
        0.05,
        at_most=True,
    ),
    Figure(
        "extract-incremental",
        "requests of an incremental pass beyond the necessary ones",
        (AGAIN,),
        of_second_pass("extra_requests"),
        2,
        1,
        at_most=True,
    ),
)
