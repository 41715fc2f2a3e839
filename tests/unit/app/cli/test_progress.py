"""What is shown while a job runs."""

from types import SimpleNamespace
from typing import Any

from headgate.app.cli.progress import LINE_S, TICK_S, WONDER_S, Progress
from headgate.app.cli.screen import Screen
from headgate.core.errors import StoreUnreachable
from headgate.core.job import Counts
from headgate.core.status import JobState
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


def progress_over(screen: Screen) -> tuple[Progress, Reads, FakeClock]:
    clock = FakeClock()
    reads: Any = Reads(clock)
    return Progress(screen, clock, reads, 7), reads, clock


async def test_a_line_every_few_seconds_where_no_terminal_is(capsys):
    progress, reads, clock = progress_over(Screen())
    async with progress:
        for _ in range(int(11 / TICK_S)):
            await clock.advance(TICK_S)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == int(11 / LINE_S)
    assert lines[-1] == "100 of 1,000 · done 98 · not found 1 · errors 1 · 10/s · about 90 s left"
    assert reads.asked <= 11 / TICK_S + 2


async def test_nothing_when_quiet(capsys):
    progress, reads, clock = progress_over(Screen(quiet=True))
    async with progress:
        await clock.advance(20)
    assert capsys.readouterr().err == ""
    assert reads.asked == 0


async def test_a_store_that_is_away_does_not_end_the_run(capsys):
    progress, reads, clock = progress_over(Screen())
    reads.away = True
    async with progress:
        await clock.advance(1)
        reads.away = False
        await clock.advance(6)
    assert "of 1,000" in capsys.readouterr().err


async def test_reading_counts_rows(capsys):
    progress, _, clock = progress_over(Screen())
    async with progress:
        progress.reading()
        for _ in range(int(6 / TICK_S)):
            await clock.advance(TICK_S)
        progress.working()
    assert "reading: 1,000 rows" in capsys.readouterr().err


async def test_a_note_is_said_at_once(capsys):
    progress, _, _ = progress_over(Screen())
    async with progress:
        progress.note("finishing 3 running items")
    assert capsys.readouterr().err == "finishing 3 running items\n"


async def test_a_pause_is_told_with_the_command_that_ends_it(capsys):
    progress, reads, clock = progress_over(Screen())
    reads.paused = True
    async with progress:
        await clock.advance(2)
        reads.paused = False
        await clock.advance(2)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "paused: a budget is spent; go on with: headgate jobs resume 7",
        "going on",
    ]


async def test_a_pause_that_ends_by_itself_is_told_with_its_end_and_reason(capsys):
    progress, reads, clock = progress_over(Screen())
    reads.paused, reads.resume_at = True, clock.now() + 60_000_000
    async with progress:
        await clock.advance(2)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("paused until ")
    assert said.endswith(": a budget is spent")


async def test_what_limits_the_speed_is_said_with_it(capsys):
    clock = FakeClock()
    reads: Any = Reads(clock)
    asked = []

    async def cause() -> str:
        asked.append(clock.monotonic())
        return "limited by wikidata: the learned rate, 4.9/s" if len(asked) < 4 else ""

    async with Progress(Screen(), clock, reads, 7, cause):
        for _ in range(int(2.2 * LINE_S / TICK_S)):
            await clock.advance(TICK_S)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" left · limited by wikidata: the learned rate, 4.9/s")
    assert second.endswith(" left")
    assert len(asked) == int(2.2 * LINE_S / WONDER_S)
