"""The flight board: shared memory that shows a supervisor what its worker process is running.

The worker writes a slot when a handler starts and wipes it when the handler ends. That costs a
fraction of a microsecond where a database write would cost milliseconds, and kill -9 does not erase
it.

The supervisor may read while the worker writes. So numbers are copied in whole (`pack_into` would
first fill their place with zeros). The id of a slot marks it as used: it is written last and wiped
first.
"""

import mmap
import os
import struct
import tempfile
from typing import Self

import msgspec

_HEADER = struct.Struct("<qdddqq")
_TURNED = struct.Struct("<d")
_HIGH = struct.Struct("<q")
_SLOTS_AT = _HEADER.size + _TURNED.size + _HIGH.size
_SLOT = struct.Struct("<qqdddd")
_FLIGHT = struct.Struct("<qdddd")
_EXCUSED = struct.Struct("<d")
_ID = struct.Struct("<q")
_EMPTY = _ID.pack(0)


def shared_memory(name: str, size: int) -> int:
    """A new file without a name that child processes can inherit, in memory where possible."""
    # If the disk runs full, touching a page of a file on it would kill the process.
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        fd, path = tempfile.mkstemp(prefix=f"{name}-")
        os.unlink(path)  # noqa: PTH108  mkstemp returns a path and a descriptor
    os.ftruncate(fd, size)
    os.set_inheritable(fd, True)  # noqa: FBT003  the name of the call says what is set
    return fd


class RunningHandler(msgspec.Struct, frozen=True):
    """A handler that is running. Times are on the monotonic clock of this boot."""

    item_id: int
    epoch: int
    started_s: float
    limit_s: float
    queued_s: float = 0.0
    """Seconds that the item was leased before the handler started."""
    excused_s: float = 0.0
    """Seconds at gates, which do not count against the limit."""

    def is_late(self, now_s: float, grace_s: float) -> bool:
        return now_s - self.started_s > self.limit_s + self.excused_s + grace_s


class Tally(msgspec.Struct, frozen=True):
    """Progress of a worker. Times are on the monotonic clock of this boot."""

    settled: int
    first_claim_s: float
    last_commit_s: float
    ttl_s: float
    memory_mb: int
    """The highest memory need that a handler in the process declares; 0 if none declares one."""
    claim_size: int
    """Items that the last claim asked for; 0 before the first."""


class FlightBoard:
    SLOTS = 65_536
    """Memory is only used up to the highest slot that was ever taken."""
    UNSEEN = -1
    """The slot of a handler that found none free: it runs, but the supervisor cannot see it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._memory = mmap.mmap(fd, self._size())
        self._free = list(range(self.SLOTS - 1, -1, -1))
        self._tally = Tally(0, 0.0, 0.0, 0.0, 0, 0)
        self._high = 0
        self.turned_here_s = 0.0
        """When the event loop of this process last turned, without a read of the shared memory."""

    @classmethod
    def create(cls) -> Self:
        return cls(shared_memory("headgate-board", cls._size()))

    @classmethod
    def _size(cls) -> int:
        return _SLOTS_AT + cls.SLOTS * _SLOT.size

    def start(
        self, item_id: int, epoch: int, now_s: float, limit_s: float, queued_s: float = 0.0
    ) -> int:
        if not self._free:
            return self.UNSEEN
        slot = self._free.pop()
        if slot >= self._high:
            self._high = slot + 1
            self._write(_HEADER.size + _TURNED.size, _HIGH.pack(self._high))
        at = _SLOTS_AT + slot * _SLOT.size
        self._write(at + _ID.size, _FLIGHT.pack(epoch, now_s, limit_s, queued_s, 0.0))
        self._write(at, _ID.pack(item_id))
        return slot

    def end(self, slot: int) -> None:
        if slot == self.UNSEEN:
            return
        self._write(_SLOTS_AT + slot * _SLOT.size, _EMPTY)
        self._free.append(slot)

    def extend_limit(self, slot: int, seconds: float) -> None:
        """Record how many seconds at gates are added to the time limit of the handler in `slot`."""
        if slot != self.UNSEEN:
            at = _SLOTS_AT + (slot + 1) * _SLOT.size - _EXCUSED.size
            self._write(at, _EXCUSED.pack(seconds))

    def turned(self, now_s: float) -> None:
        self.turned_here_s = now_s
        self._write(_HEADER.size, _TURNED.pack(now_s))

    def turned_s(self) -> float:
        """When the event loop last turned. The time of a blocked loop stays the same."""
        return float(_TURNED.unpack_from(self._memory, _HEADER.size)[0])

    def claimed(self, now_s: float, size: int) -> None:
        """Record a claim that asked for `size` items, and the time of the first claim."""
        first_s = self._tally.first_claim_s or now_s
        tally = msgspec.structs.replace(self._tally, first_claim_s=first_s, claim_size=size)
        if tally != self._tally:
            self._note(tally)

    def committed(self, items: int, now_s: float, ttl_s: float) -> None:
        """Record a commit of `items` results, and the lease that the worker has by now."""
        settled = self._tally.settled + items
        change = {"settled": settled, "last_commit_s": now_s, "ttl_s": ttl_s}
        self._note(msgspec.structs.replace(self._tally, **change))

    def may_use(self, memory_mb: int) -> None:
        if memory_mb > self._tally.memory_mb:
            self._note(msgspec.structs.replace(self._tally, memory_mb=memory_mb))

    def _note(self, tally: Tally) -> None:
        self._tally = tally
        self._write(0, _HEADER.pack(*msgspec.structs.astuple(tally)))

    def _write(self, at: int, value: bytes) -> None:
        self._memory[at : at + len(value)] = value

    def tally(self) -> Tally:
        return Tally(*_HEADER.unpack_from(self._memory, 0))

    def running(self) -> list[RunningHandler]:
        """The handlers that are running, or were running when the process died."""
        (high,) = _HIGH.unpack_from(self._memory, _HEADER.size + _TURNED.size)
        slots = _SLOT.iter_unpack(self._memory[_SLOTS_AT : _SLOTS_AT + high * _SLOT.size])
        return [RunningHandler(*slot) for slot in slots if slot[0]]

    def close(self) -> None:
        self._memory.close()
        os.close(self.fd)
