"""A worker process and its unique id."""

from collections.abc import Sequence

import msgspec


class WorkerInfo(msgspec.Struct, frozen=True):
    """A worker to register; host, boot id, pid and start time identify one process uniquely."""

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
    """The worker was asked to take no further items, and to end."""
    claim_size: int = 0
    """Number of items its claims ask for at present; 0 before the first."""


NAMED = 5
"""Most rows that are named in one sentence."""


def crash_text(cause: str, keys: Sequence[str], ended: Sequence[str]) -> str:
    """A crash in words: why, which rows were running, and which of them caused it for certain.

    `keys` are the rows that run alone next, `ended` the rows that ended as ERROR.
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
