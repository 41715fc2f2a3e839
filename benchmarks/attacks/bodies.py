"""Bodies that are larger than anything the server could use, or in tiny chunks, by a stranger."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from benchmarks.attacks.attack import Attack, Signals, Where

AT_ONCE = 10
WHOLE = 500_000_000
UNFINISHED = WHOLE - 1
PIECE = b"[" * 262_144
TINY_AT_ONCE = 20
TINY = b"1\r\nx\r\n" * 43_690
TINY_MOST = 10_000_000
WANTED = ("/api/login", "/api/users", "/api/jobs", "/api/dead-letters/replay", "/nothing")


def send(where: Where, path: str, size: int, stop: Callable[[], bool]) -> socket.socket:
    """Send as much of a body as the server takes; the connection stays open."""
    connection = where.connect()
    kind, length = "Content-Type: application/json", f"Content-Length: {WHOLE}"
    with contextlib.suppress(OSError):
        connection.sendall(where.head(f"POST {path}", kind, length, known=False))
        sent = 0
        while sent < size and not stop():
            sent += connection.send(PIECE[: size - sent])
    return connection


def finished(where: Where, signals: Signals) -> None:
    """Ten at once send whole bodies, one after the other."""

    def one(path: str) -> None:
        while not signals.stop.is_set():
            send(where, path, _size(where, WHOLE), signals.stop.is_set).close()
            signals.begun.set()

    _together(one)


def unfinished(where: Where, signals: Signals) -> None:
    """Ten at once send all but the last byte, and wait."""

    def one(path: str) -> None:
        while not signals.stop.is_set():
            connection = send(where, path, _size(where, UNFINISHED), signals.stop.is_set)
            signals.begun.set()
            signals.stop.wait(1.0)
            connection.close()

    _together(one)


def tiny_chunks(where: Where, signals: Signals) -> None:
    """Twenty at once send chunks of one byte."""

    def one(path: str) -> None:
        while not signals.stop.is_set():
            with contextlib.suppress(OSError), where.connect() as connection:
                head = where.head(f"POST {path}", "Transfer-Encoding: chunked", known=False)
                connection.sendall(head)
                sent = 0
                while sent < _size(where, TINY_MOST) and not signals.stop.is_set():
                    connection.sendall(TINY)
                    sent += len(TINY)
                    signals.begun.set()
            signals.begun.set()

    _together(one, TINY_AT_ONCE)


def _size(where: Where, size: int) -> int:
    return size // 1_000 if where.smoke else size


def _together(work: Callable[[str], None], count: int = AT_ONCE) -> None:
    paths = [WANTED[n % len(WANTED)] for n in range(count)]
    threads = [threading.Thread(target=work, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ATTACKS = (
    Attack("bodies-finished", "SH1", finished, growth_mb=80.0, growth_aim_mb=20.0),
    Attack("bodies-unfinished", "SH1", unfinished, growth_mb=80.0, growth_aim_mb=20.0),
    Attack("bodies-tiny-chunks", "SH1", tiny_chunks, growth_mb=80.0, growth_aim_mb=20.0),
)
