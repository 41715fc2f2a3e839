"""A loop of the server that ends is started again, and one that is silent is named."""

import asyncio

import pytest

from headgate.app.loops import ALLOWED_S, LoopEnded, Loops, Sign
from headgate.core.retry import LONGEST_REST_AFTER_WORK_S, LONGEST_REST_S, restart_delay_s
from headgate.testing import FakeClock


class Failing:
    """A loop that gives a sign of life and then ends as it is told to."""

    def __init__(self, *endings: BaseException | None) -> None:
        self._endings = [*endings]
        self.begun = 0

    async def __call__(self, sign: Sign) -> None:
        self.begun += 1
        sign()
        if self._endings:
            ending = self._endings.pop(0)
            if ending is not None:
                raise ending
            return
        await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (None, "it returned"),
        (RuntimeError("password=hunter2"), "RuntimeError: password=***"),
        (BrokenPipeError(), "BrokenPipeError"),
        (asyncio.CancelledError(), "it was cancelled"),
        (
            LoopEnded("its process ended (killed by SIGKILL)"),
            "its process ended (killed by SIGKILL)",
        ),
    ],
)
async def test_a_loop_is_restarted_after_any_kind_of_end(ending: BaseException | None, told: str):
    clock = FakeClock()
    loops = Loops(clock)
    work = Failing(ending)
    loops.start("readings", work)
    await clock.advance(0.1)
    (state,) = loops.states()
    assert (state.running, state.restarts, state.last_error) == (False, 1, told)
    await clock.advance(LONGEST_REST_AFTER_WORK_S)
    assert (work.begun, state.running, state.restarts) == (2, True, 1)
    await loops.stop()


async def test_loops_stop_even_if_a_loop_fails_while_it_is_stopped():
    begun = asyncio.Event()
    begins = 0

    async def failing_at_the_end(_sign: Sign) -> None:
        nonlocal begins
        begins += 1
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            raise RuntimeError("cannot schedule new futures after shutdown") from None

    clock = FakeClock()
    loops = Loops(clock)
    loops.start("readings", failing_at_the_end)
    await begun.wait()
    async with asyncio.timeout(60):
        await loops.stop()
    assert begins == 1


async def test_a_loop_without_a_heartbeat_is_named():
    clock = FakeClock()
    loops = Loops(clock)

    async def stuck(_sign: Sign) -> None:
        await asyncio.get_running_loop().create_future()

    loops.start("readings", stuck)
    loops.watch("file worker: files", 2 * ALLOWED_S)
    assert loops.silent() == []
    await clock.advance(ALLOWED_S + 1)
    assert loops.silent() == ["readings"]
    await clock.advance(ALLOWED_S)
    assert loops.silent() == ["readings", "file worker: files"]
    loops.note_sign("file worker: files")
    assert loops.silent() == ["readings"]
    loops.note_sign("unknown")  # from another release, say
    await loops.stop()


async def test_heartbeats_are_passed_on():
    passed: list[str] = []
    loops = Loops(FakeClock(), passed.append)
    loops.watch("files")
    loops.note_sign("files")
    assert passed == ["files"]


def test_a_loop_that_fails_immediately_waits_longer_before_its_restart():
    rests = [restart_delay_s(failures, worked=False) for failures in range(1, 40)]
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (0.5, LONGEST_REST_S)
    assert restart_delay_s(20, worked=True) == LONGEST_REST_AFTER_WORK_S
