"""Jobs whose config or items are as large as one request allows."""

from __future__ import annotations

import contextlib
import itertools

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

CONFIG = 20_000_000
LARGEST = 65_000
"""Bytes of a config; 65,536 are allowed."""
MANY = 200
"""Jobs that exist before others are timed."""
ITEMS = 15_000_000
PAUSE_S = 0.2


def configs(where: Where, signals: Signals) -> None:
    """Jobs with a config of 20 MB, one after the other."""
    text = b"[" + b"[]," * (_size(where, CONFIG) // 3) + b"[]]"
    body = b'{"handler":"bench.noop","items":[{"id":1}],"config":{"a":' + text + b"}}"
    _again_and_again(where, signals, body)


def many_configs(where: Where, signals: Signals) -> None:
    """Hundreds of jobs with almost the largest config that is allowed, then more of them."""
    text = b'"' + b"x" * _size(where, LARGEST) + b'"'
    body = b'{"handler":"bench.noop","items":[{"id":1}],"config":{"a":' + text + b"}}"
    request = _request(where, body)
    for count in itertools.count():
        if count >= MANY or where.smoke:
            signals.begun.set()
            signals.stop.wait(PAUSE_S)
        if signals.stop.is_set():
            return
        with where.connect() as connection:
            connection.sendall(request)
            status = answer_of(connection)
        assert status == 202, status


def items(where: Where, signals: Signals) -> None:
    """Requests with far more items than are allowed in one."""
    text = b"{}," * (_size(where, ITEMS) // 3)
    _again_and_again(where, signals, b'{"handler":"bench.noop","items":[' + text + b"{}]}")


def _again_and_again(where: Where, signals: Signals, body: bytes) -> None:
    while not signals.stop.is_set():
        with where.connect() as connection:
            with contextlib.suppress(OSError):  # it may be refused before its end
                connection.sendall(_request(where, body))
            answer_of(connection)
        signals.begun.set()
        signals.stop.wait(PAUSE_S)


def _request(where: Where, body: bytes) -> bytes:
    kind, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
    return where.head("POST /api/jobs", kind, length) + body


def _size(where: Where, size: int) -> int:
    return size // 1_000 if where.smoke else size


ATTACKS = (
    Attack("jobs-config", "SH2", configs),
    Attack("jobs-many-configs", "SH2", many_configs),
    Attack("jobs-items", "SH2", items),
)
