"""Runs one item: begin, call under the lease, classify, decide, settle.

Catches everything that a handler raises, because a handler is foreign code.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random
from typing import Any

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass, JobHalted, fault_of_exception
from headgate.core.identity import result_digest
from headgate.core.item import ClaimedItem, Item
from headgate.core.mirror import ATTACHABLE, Attachment
from headgate.core.outcome import Done, Outcome
from headgate.core.retry import RetryPolicy, after_crash, decide
from headgate.core.settlement import Settlement, hand_back, settle
from headgate.core.status import ItemStatus
from headgate.engine.attaching import attachment_of, brings_more
from headgate.engine.handler_timer import HandlerTimer
from headgate.engine.job_runtime import JobRuntime, JobRuntimes
from headgate.engine.policy import WorkerPolicy
from headgate.engine.process import Forks, end_if_forked
from headgate.engine.result import encode_result, outcome_of, result_columns, stored_text, traced
from headgate.ports.clock import Clock
from headgate.ports.items import ReusedResult

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
MICROSECONDS = 1_000_000
Called = tuple[object, BaseException | None]
"""What a plain function returned, and what it raised."""


class EndedRun(msgspec.Struct, frozen=True):
    """One settled item, with the result whose names become columns."""

    settlement: Settlement
    columns: Mapping[str, Any] | None
    attachment: Attachment | None = None


class Runner:
    """Turns leased items into settlements. Raises nothing except cancellation."""

    def __init__(
        self,
        runtimes: JobRuntimes,
        retry: RetryPolicy,
        policy: WorkerPolicy,
        clock: Clock,
        rng: Random,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._runtimes = runtimes
        self._retry = retry
        self._policy = policy
        self._clock = clock
        self._rng = rng
        self._threads = threads
        self.left_behind: set[Future[Called]] = set()
        """Plain handlers that were abandoned and still run: a thread cannot be stopped."""

    async def run(self, claimed: ClaimedItem, claimed_s: float, timer: HandlerTimer) -> EndedRun:
        """Run one item from lease to settlement; the timer stops while it waits at a gate."""
        work = self._runtimes.work_of(claimed.job_id)
        started_s = timer.started_s
        normalized: str | None = None
        digest: str | None = None
        try:
            item, normalized = self._item(work, claimed)
            digest = digest_in(work, claimed, normalized)
            if digest and (known := await self._known(work, digest)):
                return self._reused(claimed, known, claimed_s, started_s)
            context = self._runtimes.context(work, claimed, timer)
            returned = await self.call(work, item, context, timer)
        except asyncio.CancelledError:
            raise
        except JobHalted as halted:
            await self._runtimes.halt(claimed.job_id, str(halted))
            return self._handed_back(claimed, str(halted), started_s)
        except MemoryError as error:
            ended = self.crashed(claimed, f"memory limit: {error or 'MemoryError'}", started_s)
            return with_trace(ended, traced(error))
        except BaseException as error:  # noqa: BLE001  a handler may raise anything, even SystemExit
            outcome = ending_of(error)
        else:
            outcome = outcome_of(returned)
        return with_digest(self.ended(claimed, outcome, claimed_s, started_s, normalized), digest)

    async def recalled(self, claimed: ClaimedItem, claimed_s: float) -> EndedRun | None:
        """The settlement of an item whose result is known already; None if it must be run."""
        work = self._runtimes.work_of(claimed.job_id)
        digest = digest_in(work, claimed, None)
        known = await self._known(work, digest) if digest else None
        if known is None:
            return None
        return self._reused(claimed, known, claimed_s, self._clock.monotonic())

    async def _known(self, work: JobRuntime, digest: str) -> ReusedResult | None:
        if work.reuse_s is None:
            return None
        return await self._runtimes.reuse.find(work.job.owner, digest, work.reuse_s)

    def _reused(
        self, claimed: ClaimedItem, known: ReusedResult, claimed_s: float, started_s: float
    ) -> EndedRun:
        ended = self.ended(claimed, Done(_decode(known.result)), claimed_s, started_s)
        settlement = msgspec.structs.replace(ended.settlement, outcome=REUSED)
        return msgspec.structs.replace(ended, settlement=settlement)

    async def call(
        self, work: JobRuntime, subject: object, context: object, timer: HandlerTimer
    ) -> object:
        """Call the handler: awaited here, or in a thread if it is a plain function."""
        home = Forks.count
        try:
            if work.handler.is_async:
                return await work.handler.call(subject, context)  # type: ignore[misc]
            timer.await_thread()
            thread = self._threads.submit(_call_plain, work, subject, context, timer)
            return await self._outcome_of(thread)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Our own task was not cancelled: something inside the handler was, and raised the
            # error.
            raise HandlerCancelled("the handler raised CancelledError") from error
        finally:
            end_if_forked(home)

    async def _outcome_of(self, thread: Future[Called]) -> object:
        try:
            returned, raised = await asyncio.wrap_future(thread)
        except asyncio.CancelledError:
            if not thread.done():
                self.left_behind.add(thread)
                thread.add_done_callback(self.left_behind.discard)
            raise
        if raised is not None:
            raise raised
        return returned

    def ended(
        self,
        claimed: ClaimedItem,
        outcome: Outcome | Fault,
        claimed_s: float,
        started_s: float,
        normalized: str | None = None,
    ) -> EndedRun:
        work = self._runtimes.work_of(claimed.job_id)
        text, problem = stored_text(outcome, self._policy.result_bytes)
        attachment, trouble = None, None
        if problem is None and (work.mirror is not None or brings_more(outcome)):
            attachment, trouble = attachment_of(claimed, outcome, work, self._policy.page_bytes)
        if trouble is not None:
            text = None
        final = problem or trouble or outcome
        strategies = len(work.handler.strategies)
        verdict = decide(claimed, final, self._retry, strategies, self._rng)
        waited_us = int((started_s - claimed_s) * MICROSECONDS)
        ran_us = int((self._clock.monotonic() - started_s) * MICROSECONDS)
        if verdict.status is ItemStatus.PENDING:
            text = None  # the result of the next attempt counts
        settlement = settle(claimed, verdict, text, normalized, waited_us, ran_us)
        calls = self._runtimes.take_calls(claimed.id)
        if isinstance(final, Fault) and (final.gate or final.trace):
            settlement = msgspec.structs.replace(settlement, gate=final.gate, trace=final.trace)
        if calls:
            noted = _encode(calls).decode()
            settlement = msgspec.structs.replace(settlement, calls=noted)
        columns = result_columns(final) if text else None
        if attachment is not None and settlement.status not in ATTACHABLE:
            attachment = None
        return EndedRun(settlement, columns, attachment)

    def _handed_back(self, claimed: ClaimedItem, reason: str, started_s: float) -> EndedRun:
        ran_us = int((self._clock.monotonic() - started_s) * MICROSECONDS)
        settlement = hand_back(claimed, reason, ran_us=ran_us)
        if calls := self._runtimes.take_calls(claimed.id):
            settlement = msgspec.structs.replace(settlement, calls=_encode(calls).decode())
        return EndedRun(settlement, None)

    def crashed(self, claimed: ClaimedItem, cause: str, started_s: float) -> EndedRun:
        """Settle an attempt that nearly ended its process: the item must run alone from now on."""
        verdict = after_crash(claimed, cause, self._retry)
        ran_us = int((self._clock.monotonic() - started_s) * MICROSECONDS)
        return EndedRun(settle(claimed, verdict, ran_us=ran_us), None)

    def items(self, work: JobRuntime, pack: Sequence[ClaimedItem]) -> list[Item]:
        """The items of a pack as its handler sees them."""
        return [self._item(work, claimed)[0] for claimed in pack]

    def _item(self, work: JobRuntime, claimed: ClaimedItem) -> tuple[Item, str | None]:
        """The item as the handler sees it, and its normalized form if that is new."""
        data = _decode(claimed.input)
        if claimed.normalized is not None:
            return Item(claimed.id, claimed.key, data, _decode(claimed.normalized)), None
        if work.handler.normalize is None:
            return Item(claimed.id, claimed.key, data), None
        normalized = work.handler.normalize(data)
        text, problem = encode_result(normalized, self._policy.result_bytes)
        if problem is not None:
            raise ValueError(f"normalize: {problem.reason}")
        return Item(claimed.id, claimed.key, data, normalized), text


REUSED = "reused"
"""The outcome of an attempt whose item got its result from another item."""


def digest_in(work: JobRuntime, claimed: ClaimedItem, normalized: str | None) -> str | None:
    """The digest that identifies the result of an item; None if the handler has no version."""
    handler = work.handler
    if not handler.version:
        return None
    data = normalized or claimed.normalized or claimed.input
    return result_digest(handler.name, handler.version, data)


def with_digest(ended: EndedRun, digest: str | None) -> EndedRun:
    """Add the digest that lets other items reuse the result."""
    if digest is None or ended.settlement.status is not ItemStatus.DONE:
        return ended
    settlement = msgspec.structs.replace(ended.settlement, digest=digest)
    return msgspec.structs.replace(ended, settlement=settlement)


def with_trace(ended: EndedRun, trace: str | None) -> EndedRun:
    return EndedRun(msgspec.structs.replace(ended.settlement, trace=trace), ended.columns)


class HandlerCancelled(Exception):
    """A cancellation that came from within the handler."""


def _call_plain(work: JobRuntime, subject: object, context: object, timer: HandlerTimer) -> Called:
    """Return what a plain function returned or raised; a future cannot carry every error."""
    timer.has_thread()
    home = Forks.count
    try:
        return work.handler.call(subject, context), None
    except BaseException as error:  # noqa: BLE001  a handler may raise anything
        return None, error
    finally:
        end_if_forked(home)


def ending_of(error: BaseException) -> Outcome | Fault:
    """The outcome or fault that an exception of a handler means."""
    if isinstance(error, AttemptOver):
        return error.ending
    trace = traced(error)
    if isinstance(error, SystemExit):
        reason = f"the handler called sys.exit({error.code!r})"
        return Fault(FaultClass.PERMANENT, reason, trace=trace)
    return msgspec.structs.replace(fault_of_exception(error), trace=trace)
