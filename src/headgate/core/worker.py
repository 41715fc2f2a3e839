"""A running process and the identity that nobody else can have."""

from collections.abc import Sequence

import msgspec


class WorkerInfo(msgspec.Struct, frozen=True):
    """Who registers; host, boot id, pid and start time name one process for ever."""

    id: str
    session_id: str
    host: str
    boot_id: str
    pid: int
    started_ticks: int
    version: str
    ttl_s: float
    jobs: tuple[int, ...] = ()


class WorkerRow(msgspec.Struct, frozen=True):
    """What the store knows of a worker."""

    id: str
    session_id: str
    host: str
    boot_id: str
    pid: int
    started_ticks: int
    version: str
    ttl_s: float
    beat: int
    registered_at: int
    beat_at: int
    stopped_at: int | None
    leases: int
    draining: bool = False
    """It was asked to take nothing more, and to end."""
    claim_size: int = 0
    """How many items its claims ask for at present; 0 before the first."""


NAMED = 5
"""No more rows than this are named in one sentence."""


def crash_told(cause: str, keys: Sequence[str], ended: Sequence[str]) -> str:
    """One crash in words: why, which rows were running, and which of them are at fault for good.

    `keys` are the rows that run alone next, `ended` those that ended as ERROR.
    """
    running = [*ended, *keys]
    words = [f"a worker process crashed ({cause}) while it ran {_rows(running)}"]
    if ended:
        words.append(f"{_rows(ended)} ended as ERROR of class poison")
    if keys:
        words.append(f"{_rows(keys)} {'runs' if len(keys) == 1 else 'run'} alone next")
    return "; ".join(words)


def _rows(keys: Sequence[str]) -> str:
    named = ", ".join(key[:80] for key in keys[:NAMED])
    more = f" and {len(keys) - NAMED:,} more" if len(keys) > NAMED else ""
    return f"{'row' if len(keys) == 1 else 'rows'} {named}{more}"
