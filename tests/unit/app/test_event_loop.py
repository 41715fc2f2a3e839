"""A loop that ends before its main task is noticed before anything is torn down."""

import asyncio
import sys
from collections.abc import Callable
from typing import NoReturn

import pytest

from headgate.app.event_loop import run_async


class Told(BaseException):
    """Instead of the end of the process."""


def leave() -> NoReturn:
    sys.exit(7)


@pytest.mark.parametrize(
    "deed",
    [
        lambda loop: loop.stop(),
        lambda loop: loop.call_soon(loop.stop),
        lambda loop: loop.call_soon(leave),
        lambda loop: loop.create_task(asyncio.to_thread(leave)),
    ],
    ids=["stopped", "stopped later", "left by a callback", "left by a task"],
)
def test_the_end_of_the_loop_is_reported_while_all_tasks_still_run(
    deed: Callable[[asyncio.AbstractEventLoop], object],
):
    cancelled: list[bool] = []

    async def other() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main() -> None:
        task = asyncio.ensure_future(other())
        await asyncio.sleep(0)  # noqa: TID251  a turn of the loop
        deed(asyncio.get_running_loop())
        await task

    def told() -> NoReturn:
        assert not cancelled
        raise Told

    with pytest.raises(Told):
        run_async(main(), told)
    assert cancelled == [True]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)])
def test_an_exception_of_the_main_task_is_raised_unchanged(error: BaseException):
    async def main() -> None:
        raise error

    def told() -> NoReturn:
        raise AssertionError("the loop was not stopped")

    with pytest.raises(type(error)):
        run_async(main(), told)
