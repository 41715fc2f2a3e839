"""Handlers that take several items at once.

A pack that fails for an unknown or permanent reason is halved until the failing row is alone.
Network faults and time-outs are not the fault of a row, so the whole pack is retried. Only the last
outcome of each row is settled: a repeated run in a smaller pack costs a good row no attempt.
"""

import asyncio
from collections.abc import Sequence
from typing import TypeGuard

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.outcome import Outcome
from headgate.core.words import counted
from headgate.engine.handler_timer import HandlerTimer
from headgate.engine.job_runtime import JobRuntime, JobRuntimes
from headgate.engine.result import outcome_of
from headgate.engine.runner import EndedRun, Runner, digest_in, ending_of, with_digest
from headgate.ports.clock import Clock

Outcomes = list[Outcome | Fault]


class PackRunner:
    def __init__(self, runner: Runner, runtimes: JobRuntimes, clock: Clock) -> None:
        self._runner = runner
        self._runtimes = runtimes
        self._clock = clock

    async def run(
        self, pack: Sequence[ClaimedItem], claimed_s: float, timer: HandlerTimer
    ) -> list[EndedRun]:
        """Run a pack and settle each of its items; the timer stops while it waits at a gate."""
        work = self._runtimes.work_of(pack[0].job_id)
        known = await self._known(work, pack, claimed_s)
        rest = [claimed for claimed in pack if claimed.id not in known]
        started_s = self._clock.monotonic()
        outcomes = await self._outcomes(work, rest, timer) if rest else []
        for claimed, outcome in zip(rest, outcomes, strict=True):
            ended = self._runner.ended(claimed, outcome, claimed_s, started_s)
            known[claimed.id] = with_digest(ended, digest_in(work, claimed, None))
        return [known[claimed.id] for claimed in pack]

    async def _known(
        self, work: JobRuntime, pack: Sequence[ClaimedItem], claimed_s: float
    ) -> dict[int, EndedRun]:
        """The items of a pack whose earlier results are reused."""
        if work.reuse_s is None:
            return {}
        found = await asyncio.gather(*(self._runner.recalled(each, claimed_s) for each in pack))
        return {each.settlement.item_id: each for each in found if each}

    async def _outcomes(
        self, work: JobRuntime, pack: Sequence[ClaimedItem], timer: HandlerTimer
    ) -> Outcomes:
        try:
            return await self._call(work, pack, timer)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  a handler may raise anything
            if isinstance(error, PackError):
                await self._runtimes.warn(work.job.id, error.advice(work.handler.name))
            ending = error.fault if isinstance(error, PackError) else ending_of(error)
            if len(pack) == 1 or _affects_whole_pack(error, ending):
                return [ending] * len(pack)
        # Outside the block: otherwise each failure would name the failures of larger packs as its
        # context.
        half = len(pack) // 2
        return [
            *await self._outcomes(work, pack[:half], timer),
            *await self._outcomes(work, pack[half:], timer),
        ]

    async def _call(
        self, work: JobRuntime, pack: Sequence[ClaimedItem], timer: HandlerTimer
    ) -> Outcomes:
        items = self._runner.items(work, pack)
        context = self._runtimes.context(work, pack[0], timer)
        returned = await self._runner.call(work, items, context, timer)
        if not _is_list(returned) or len(returned) != len(pack):
            raise PackError(returned, len(pack))
        return [outcome_of(each) for each in returned]


def _is_list(returned: object) -> TypeGuard[Sequence[object]]:
    return isinstance(returned, Sequence) and not isinstance(returned, str | bytes)


def _affects_whole_pack(error: BaseException, ending: Outcome | Fault) -> bool:
    """True for network faults, and if the result is not a list: smaller packs fail too."""
    if isinstance(error, PackError):
        return not error.is_list
    if isinstance(error, AttemptOver):
        return isinstance(ending, Fault) and ending.kind is not FaultClass.PERMANENT
    return isinstance(error, ConnectionError | TimeoutError)


class PackError(ValueError):
    """The handler did not return one outcome for each item of the pack."""

    def __init__(self, returned: object, expected: int) -> None:
        self.is_list = _is_list(returned)
        found = f"{type(returned).__name__}, not a list"
        if _is_list(returned):
            found = counted(len(returned), "result")
        self._text = f"was given a pack of {counted(expected, 'row')} and returned {found}"
        super().__init__(self._text)

    @property
    def fault(self) -> Fault:
        """The fault of an item that was alone in its pack, or of all items without a list."""
        kind = FaultClass.TRANSIENT if self.is_list else FaultClass.INVALID_RESULT
        return Fault(
            kind, f"the handler {self._text}: return a list with one result for each row, in order"
        )

    def advice(self, handler: str) -> str:
        text = f"handler {handler} {self._text}; it must return a list with one result for each"
        text += " row, in the same order"
        if not self.is_list:
            return f"{text}. Its rows end as ERROR"
        return (
            f"{text}. Until then its packs are halved and run again, which repeats their requests"
        )
