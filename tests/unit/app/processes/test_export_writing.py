"""A file worker keeps its claim on an export while it works, and not much longer."""

import pytest

from headgate.app.processes.export_writing import HOLD_S, RENEW_S, renewed_claim
from headgate.core.errors import StoreUnreachable
from headgate.testing import FakeClock


async def test_an_export_is_locked_again_before_its_lock_expires():
    clock, times = FakeClock(), []

    async def hold() -> None:
        times.append(clock.monotonic())

    async with renewed_claim(hold, clock):
        await clock.advance(4 * HOLD_S)
    gaps = [after - before for before, after in zip([0.0, *times], times, strict=False)]
    assert max(gaps) <= HOLD_S / 2
    assert times[-1] >= 4 * HOLD_S - RENEW_S


@pytest.mark.parametrize("error", [StoreUnreachable("it restarts"), OSError(), ValueError()])
async def test_a_store_that_is_unreachable_for_a_while_ends_no_export(error: Exception):
    clock, tries = FakeClock(), []

    async def hold() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise error

    async with renewed_claim(hold, clock):
        await clock.advance(2 * RENEW_S)
    assert len(tries) == 2


@pytest.mark.parametrize("failure", [None, ValueError("no such column")])
async def test_the_lock_of_a_finished_or_failed_export_is_released(failure: Exception | None):
    clock, tries = FakeClock(), []

    async def hold() -> None:
        tries.append(1)

    async def work() -> None:
        async with renewed_claim(hold, clock):
            if failure is not None:
                raise failure

    if failure is None:
        await work()
    else:
        with pytest.raises(ValueError, match="no such column"):
            await work()
    await clock.advance(HOLD_S)
    assert tries == []
