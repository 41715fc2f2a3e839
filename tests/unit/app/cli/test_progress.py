"""The progress lines of a running job."""

import io
import re
from types import SimpleNamespace
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from headgate.app.cli.live_bar import Redrawn, wrapped_lines
from headgate.app.cli.output import Output
from headgate.app.cli.progress import LIMIT_CHECK_S, LINE_S, TICK_S, Progress
from headgate.core.errors import StoreUnreachable
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.job import Counts
from headgate.core.status import JobState
from headgate.core.waiting import Situation
from headgate.engine.why import LimitedBy
from headgate.testing import FakeClock


class Reads:
    """Counters that change with time."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.asked = 0
        self.away = False
        self.paused = False
        self.resume_at: int | None = None

    async def counts(self, job_id: int) -> Counts:
        assert job_id == 7
        self.asked += 1
        if self.away:
            raise StoreUnreachable
        finished = int(self._clock.monotonic() * 10)
        return Counts(pending=1_000 - finished, done=finished - 2, not_found=1, error=1)

    async def job(self, job_id: int) -> Any:
        state = JobState.PAUSED if self.paused else JobState.RUNNING
        return SimpleNamespace(
            id=job_id, state=state, resume_at=self.resume_at, pause_reason="a budget is spent"
        )


def progress_over(screen: Output) -> tuple[Progress, Reads, FakeClock]:
    clock = FakeClock()
    reads: Any = Reads(clock)
    return Progress(screen, clock, reads, 7), reads, clock


async def test_without_a_terminal_a_line_is_printed_every_few_seconds(capsys):
    progress, reads, clock = progress_over(Output())
    async with progress:
        for _ in range(int(11 / TICK_S)):
            await clock.advance(TICK_S)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == int(11 / LINE_S)
    assert lines[-1] == "100 of 1,000 · done 98 · not found 1 · errors 1 · 10/s · about 90 s left"
    assert reads.asked <= 11 / TICK_S + 2


async def test_nothing_when_quiet(capsys):
    progress, reads, clock = progress_over(Output(quiet=True))
    async with progress:
        await clock.advance(20)
    assert capsys.readouterr().err == ""
    assert reads.asked == 0


async def test_an_unreachable_store_does_not_end_the_run(capsys):
    progress, reads, clock = progress_over(Output())
    reads.away = True
    async with progress:
        await clock.advance(1)
        reads.away = False
        await clock.advance(6)
    assert "of 1,000" in capsys.readouterr().err


async def test_reading_counts_rows(capsys):
    progress, _, clock = progress_over(Output())
    async with progress:
        progress.reading()
        for _ in range(int(6 / TICK_S)):
            await clock.advance(TICK_S)
        progress.working()
    assert "reading: 1,000 rows" in capsys.readouterr().err


async def test_a_note_is_printed_immediately(capsys):
    progress, _, _ = progress_over(Output())
    async with progress:
        progress.note("finishing 3 running items")
    assert capsys.readouterr().err == "finishing 3 running items\n"


async def test_a_pause_is_reported_with_the_command_that_ends_it(capsys):
    progress, reads, clock = progress_over(Output())
    reads.paused = True
    async with progress:
        await clock.advance(2)
        reads.paused = False
        await clock.advance(2)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "paused: a budget is spent; continue with: headgate jobs resume 7",
        "resumed",
    ]


async def test_a_pause_that_ends_by_itself_is_reported_with_its_end_and_reason(capsys):
    progress, reads, clock = progress_over(Output())
    reads.paused, reads.resume_at = True, clock.now() + 60_000_000
    async with progress:
        await clock.advance(2)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("paused until ")
    assert said.endswith(": a budget is spent")


async def test_the_progress_says_what_limits_the_speed(capsys):
    clock = FakeClock()
    reads: Any = Reads(clock)
    asked = []

    async def limit() -> LimitedBy:
        asked.append(clock.monotonic())
        wait = Wait(WaitKind.RATE, "wikidata: the learned rate, 4.9/s", gate="provider:wikidata")
        return LimitedBy(wait if len(asked) < 7 else None, Situation(clock.now()))

    async with Progress(Output(), clock, reads, 7, limit):
        for _ in range(int(2.2 * LINE_S / TICK_S)):
            await clock.advance(TICK_S)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" left · limited by wikidata: the learned rate, 4.9/s")
    assert second.endswith(" left")
    assert len(asked) == int(2.2 * LINE_S / LIMIT_CHECK_S) + 1


async def test_a_host_that_does_not_answer_is_named_at_once_and_counted_down(capsys):
    clock = FakeClock()
    reads: Any = Reads(clock)
    until_us = clock.now() + 35_000_000
    why = "127.0.0.1:18204 does not answer (connection refused)"
    wait = Wait(WaitKind.BREAKER, why, until_us, "host:127.0.0.1:18204", "next try")

    async def limit() -> LimitedBy:
        return LimitedBy(wait, Situation(clock.now()))

    async with Progress(Output(), clock, reads, 7, limit) as progress:
        await clock.advance(TICK_S)
        assert progress.words()[-1] == f"{why}; next try in 35 s"
        for _ in range(int(LINE_S / TICK_S)):
            await clock.advance(TICK_S)
    assert capsys.readouterr().err.splitlines()[0].endswith(f"{why}; next try in 30 s")


async def test_while_a_gate_is_closed_the_time_left_is_at_least_that(capsys):
    clock = FakeClock()
    reads: Any = Reads(clock)
    until_us = clock.now() + 300_000_000
    wait = Wait(WaitKind.REFUSED, "shop: the provider asked to wait", until_us, "provider:shop")

    async def limit() -> LimitedBy:
        return LimitedBy(wait, Situation(clock.now()))

    async with Progress(Output(), clock, reads, 7, limit):
        for _ in range(int(1.2 * LINE_S / TICK_S)):
            await clock.advance(TICK_S)
    assert " · over 6 min left · limited by shop" in capsys.readouterr().err


async def test_fewer_and_fewer_lines_while_nothing_changes(capsys):
    progress, _, clock = progress_over(Output())
    stuck = Counts(pending=10, done=5)

    async def count() -> Counts:
        return stuck

    async with progress:
        progress.only(count)
        await clock.advance(1_200)
        twenty_minutes = capsys.readouterr().err.splitlines()
        assert 5 <= len(twenty_minutes) <= 12
        stuck = Counts(pending=9, done=6)
        for _ in range(int((LINE_S + 1) / TICK_S)):
            await clock.advance(TICK_S)
    moved, *more = capsys.readouterr().err.splitlines()
    assert moved.startswith("6 of 15")
    assert len(more) <= 1


async def test_rows_that_fail_are_reported_once_for_each_kind(capsys):
    progress, _, _ = progress_over(Output())
    async with progress:
        progress.failing("1 row failed and waits for a retry: KeyError: 'a' (x.py:1)", "key")
        progress.failing(
            "9 rows failed and wait for a retry: KeyError: 'b' (x.py:1)", "key", "mend it"
        )
        progress.failing("9 rows failed and wait for a retry: OSError (x.py:2)", "os", "mend it")
        progress.failing("", "", "mend it")
        progress.failing("3 rows failed and wait for a retry: KeyError: 'c' (x.py:1)", "key")
    assert capsys.readouterr().err.splitlines() == [
        "1 row failed and waits for a retry: KeyError: 'a' (x.py:1)",
        "mend it",
        "9 rows failed and wait for a retry: OSError (x.py:2)",
    ]


async def test_a_bar_says_once_that_rows_wait_for_a_retry():
    clock = FakeClock()
    reads: Any = Reads(clock)
    until_us = clock.now() + 60_000_000
    why = "9 rows failed and wait for a retry"
    waits = [
        Wait(WaitKind.RETRY, why, until_us, next="the next is due"),
        Wait(WaitKind.BREAKER, "shop.example does not answer", until_us, next="next try"),
    ]

    async def limit() -> LimitedBy:
        return LimitedBy(waits[0], Situation(clock.now()))

    async with Progress(Output(), clock, reads, 7, limit) as progress:
        progress.failing(f"{why}: KeyError (x.py:1)", "key")
        await clock.advance(2 * LIMIT_CHECK_S)
        said = f"{why}: KeyError (x.py:1); the next is due in 58 s"
        assert progress.troubles() == ("", said)
        del waits[0]
        await clock.advance(2 * LIMIT_CHECK_S)
        assert progress.troubles()[0].startswith("shop.example does not answer")
        progress.failing("", "")
        assert progress.troubles()[1] == ""


class Terminal:
    """As much of a terminal as a bar needs: it wraps again what it shows when it gets narrower."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines = [""]
        self.row = 0

    def resize(self, width: int) -> None:
        self.width = width
        wrapped = [
            [line[start : start + width] for start in range(0, max(len(line), 1), width)]
            for line in self.lines
        ]
        self.row = sum(len(each) for each in wrapped[: self.row + 1]) - 1
        self.lines = [part for each in wrapped for part in each]

    def feed(self, text: str) -> None:
        column = len(self.lines[self.row])
        for token in re.findall(r"\x1b\[\??(\d*)([A-Za-z])|([^\x1b])", text):
            number, code, char = token
            if code == "A":
                self.row = max(self.row - int(number or 1), 0)
            elif code == "K":
                self.lines[self.row] = ""
            elif char == "\r":
                column = 0
            elif char == "\n":
                self.row += 1
                column = 0
                if self.row == len(self.lines):
                    self.lines.append("")
            elif char:
                line = self.lines[self.row].ljust(column)
                self.lines[self.row] = line[:column] + char + line[column + 1 :]
                column += 1


def test_a_narrower_window_leaves_no_torn_line():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60, color_system=None)
    terminal = Terminal(60)
    redrawn = Redrawn(console)
    live = Live(console=console, auto_refresh=False)
    live.start()
    for width in (60, 60, 25, 25, 40, 13):
        if width != console.width:
            console.width = width
            terminal.resize(width)
        bar = Text("#" * width + "\n" + "done", no_wrap=True)
        redrawn.prepare(bar)
        live.update(bar, refresh=True)
        terminal.feed(out.getvalue())
        out.seek(0)
        out.truncate()
        assert [line for line in terminal.lines if line] == ["#" * width, "done"]
    live.stop()
    assert wrapped_lines([80, 10, 0], 30) == 2
