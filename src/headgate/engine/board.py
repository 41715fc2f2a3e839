"""What a worker process is doing right now, readable by its supervisor even after its death.

The board is shared memory: the worker writes a slot when a handler starts and wipes it when the
handler ends. It costs a fraction of a microsecond where a database write would cost milliseconds,
and kill -9 does not erase it.

The supervisor may look while the worker writes. So numbers are copied in whole (`pack_into` would
first fill their place with zeros), and the id of a slot, which says that it holds a flight, is
written after all else and wiped before.
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
_NOBODY = _ID.pack(0)


class RunningHandler(msgspec.Struct, frozen=True):
    """A handler that is running: which item, under which lease, since when, for how long."""

    item_id: int
    epoch: int
    started_s: float
    limit_s: float
    queued_s: float = 0.0
    """How long the item was leased before the handler started."""
    excused_s: float = 0.0
    """Time at gates, which does not count against the limit."""

    def is_late(self, now_s: float, grace_s: float) -> bool:
        """Whether it is past its limit and the grace after it."""
        return now_s - self.started_s > self.limit_s + self.excused_s + grace_s


class Tally(msgspec.Struct, frozen=True):
    """What a worker has got done. Times are on the monotonic clock of this boot."""

    settled: int
    first_claim_s: float
    last_commit_s: float
    ttl_s: float
    memory_mb: int
    """What the handlers in the process say they may use; 0 if they do not say."""
    claim_size: int
    """How many items the last claim asked for; 0 before the first."""


class FlightBoard:
    """Slots for running handlers, and a tally."""

    SLOTS = 65_536
    """Memory is only used up to the highest slot that was ever taken."""
    UNSEEN = -1
    """What a handler gets that finds no slot free: it runs, but its supervisor cannot see it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._memory = mmap.mmap(fd, self._size())
        self._free = list(range(self.SLOTS - 1, -1, -1))
        self._tally = Tally(0, 0.0, 0.0, 0.0, 0, 0)
        self._high = 0
        self.turned_here_s = 0.0
        """When the loop of this very process last came round, without a look at the memory."""

    @classmethod
    def create(cls) -> Self:
        """A new, empty board in a file that has no name, in memory where the system can do that."""
        # On a disk that runs full, touching a page of a file would kill the process.
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create("headgate-board")
        else:
            fd, path = tempfile.mkstemp(prefix="headgate-board-")
            os.unlink(path)  # noqa: PTH108  mkstemp speaks in paths and descriptors
        os.ftruncate(fd, cls._size())
        os.set_inheritable(fd, True)  # noqa: FBT003  the name of the call says what is set
        return cls(fd)

    @classmethod
    def _size(cls) -> int:
        return _SLOTS_AT + cls.SLOTS * _SLOT.size

    def start(
        self, item_id: int, epoch: int, now_s: float, limit_s: float, queued_s: float = 0.0
    ) -> int:
        """Note that a handler starts; returns the slot."""
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
        """Note that the handler in `slot` ended."""
        if slot == self.UNSEEN:
            return
        self._write(_SLOTS_AT + slot * _SLOT.size, _NOBODY)
        self._free.append(slot)

    def excuse(self, slot: int, seconds: float) -> None:
        """Note how long the handler in `slot` may have waited at gates beside its limit."""
        if slot != self.UNSEEN:
            at = _SLOTS_AT + (slot + 1) * _SLOT.size - _EXCUSED.size
            self._write(at, _EXCUSED.pack(seconds))

    def turned(self, now_s: float) -> None:
        """Note that the event loop of the process has come round."""
        self.turned_here_s = now_s
        self._write(_HEADER.size, _TURNED.pack(now_s))

    def turned_s(self) -> float:
        """When the event loop last came round; a loop that is blocked comes round no more."""
        return float(_TURNED.unpack_from(self._memory, _HEADER.size)[0])

    def claimed(self, now_s: float, size: int) -> None:
        """Note a claim that asked for `size` items, and when the first one was made."""
        first_s = self._tally.first_claim_s or now_s
        tally = msgspec.structs.replace(self._tally, first_claim_s=first_s, claim_size=size)
        if tally != self._tally:
            self._note(tally)

    def committed(self, items: int, now_s: float, ttl_s: float) -> None:
        """Note a commit of `items` results, and how long the worker may be silent by now."""
        settled = self._tally.settled + items
        change = {"settled": settled, "last_commit_s": now_s, "ttl_s": ttl_s}
        self._note(msgspec.structs.replace(self._tally, **change))

    def may_use(self, memory_mb: int) -> None:
        """Note that a handler may use this much memory."""
        if memory_mb > self._tally.memory_mb:
            self._note(msgspec.structs.replace(self._tally, memory_mb=memory_mb))

    def _note(self, tally: Tally) -> None:
        self._tally = tally
        self._write(0, _HEADER.pack(*msgspec.structs.astuple(tally)))

    def _write(self, at: int, value: bytes) -> None:
        self._memory[at : at + len(value)] = value

    def tally(self) -> Tally:
        """What the worker has got done, as last noted by whichever process works."""
        return Tally(*_HEADER.unpack_from(self._memory, 0))

    def running(self) -> list[RunningHandler]:
        """The handlers that are running, or were when the process died."""
        (high,) = _HIGH.unpack_from(self._memory, _HEADER.size + _TURNED.size)
        slots = _SLOT.iter_unpack(self._memory[_SLOTS_AT : _SLOTS_AT + high * _SLOT.size])
        return [RunningHandler(*slot) for slot in slots if slot[0]]

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
        os.close(self.fd)
