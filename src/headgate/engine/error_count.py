"""Counts the rows that fail in one run, in memory that the processes of the run share.

There are no locks, because a process that is frozen would keep them. Each process adds to its own
slot only. The byte of a row is written only by the process that has leased the row.
"""

import mmap
import os
import struct
from collections.abc import Collection
from typing import NamedTuple, Self

from headgate.core.failing import ErrorLimit
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.engine.board import shared_memory
from headgate.ports.launcher import ErrorCounting

_REACHED = struct.Struct("<q")
_SLOTS_USED = struct.Struct("<q")
_SLOT = struct.Struct("<qq")
_SLOTS_AT = _REACHED.size + _SLOTS_USED.size
UNTRIED, TRIED, FAILED = range(3)
"""The byte of a row: it was not run, its last attempt did not count as failed, or it did."""


class ErrorTotals(NamedTuple):
    failed: int
    tried: int


class ErrorCount:
    """Rows that failed and rows that were tried; `reached` stays True once they are too many.

    A row counts once, however often it is tried, and no longer if a later attempt succeeds.
    """

    SLOTS = 4_096
    """Processes of a run at the same time."""
    _ROWS_AT = _SLOTS_AT + SLOTS * _SLOT.size
    SUPERVISOR = 0
    """The slot of the supervisor, which settles the rows of workers that crashed."""

    def __init__(self, counting: ErrorCounting) -> None:
        self._fd = counting.fd
        self.limit = counting.limit
        self._rows = counting.rows
        self._at = _SLOTS_AT + counting.slot * _SLOT.size
        self._memory = mmap.mmap(counting.fd, self._ROWS_AT)
        # A slot is used again after its process has ended; what that one counted stays.
        self._mine = ErrorTotals(*_SLOT.unpack_from(self._memory, self._at))

    @classmethod
    def create(cls, limit: ErrorLimit, rows: int) -> Self:
        fd = shared_memory("headgate-errors", cls._ROWS_AT)
        created = cls(ErrorCounting(fd, cls.SUPERVISOR, limit, rows))
        created.share(frozenset())
        return created

    def share(self, used: Collection[int | None]) -> ErrorCounting:
        """What a new process needs to count with us; `used` has the slots of the other ones."""
        slot = next(slot for slot in range(1, self.SLOTS) if slot not in used)
        (known,) = _SLOTS_USED.unpack_from(self._memory, _REACHED.size)
        self._write(_REACHED.size, _SLOTS_USED.pack(max(known, slot + 1)))
        return ErrorCounting(self._fd, slot, self.limit, self._rows)

    @property
    def reached(self) -> bool:
        """True once the limit is reached: no process may begin another row."""
        return self._memory[0] != 0

    def totals(self) -> ErrorTotals:
        (used,) = _SLOTS_USED.unpack_from(self._memory, _REACHED.size)
        slots = _SLOT.iter_unpack(self._memory[_SLOTS_AT : _SLOTS_AT + used * _SLOT.size])
        failed, tried = zip(*slots, strict=True)
        return ErrorTotals(sum(failed), sum(tried))

    def add(self, settlement: Settlement) -> None:
        state = _state_after(settlement)
        before = (os.pread(self._fd, 1, self._ROWS_AT + settlement.item_id) or b"\0")[0]
        if state in {UNTRIED, before}:
            return
        os.pwrite(self._fd, bytes([state]), self._ROWS_AT + settlement.item_id)
        failed = self._mine.failed + (state == FAILED) - (before == FAILED)
        self._mine = ErrorTotals(failed, self._mine.tried + (before == UNTRIED))
        self._write(self._at, _SLOT.pack(*self._mine))
        if self.limit.reached(*self.totals(), self._rows):
            self._write(0, _REACHED.pack(1))

    def close(self) -> None:
        """Free the memory; only needed if the process goes on after the run."""
        self._memory.close()
        os.close(self._fd)

    def _write(self, at: int, value: bytes) -> None:
        self._memory[at : at + len(value)] = value


def _state_after(settlement: Settlement) -> int:
    """UNTRIED if the attempt says nothing, because the row was handed back or put off."""
    if settlement.status is ItemStatus.ERROR:
        return FAILED
    if settlement.status is not ItemStatus.PENDING:
        return TRIED
    if settlement.trace is not None:  # the handler's code raised
        return FAILED
    return UNTRIED if settlement.is_put_off else TRIED
