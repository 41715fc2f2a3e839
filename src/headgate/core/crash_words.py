"""What the record of a job says about worker processes that crashed."""

from collections.abc import Sequence

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
