"""Uploads of thousands of files that all have the same name."""

from __future__ import annotations

import contextlib
import threading

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

PARTS = 4_000
AT_ONCE = 6
BOUNDARY = "many-parts"


def same_name(where: Where, signals: Signals) -> None:
    """Six uploads at once, each of 4,000 files `a.csv`."""
    disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    body = f"--{BOUNDARY}\r\n{disposition}\r\n\r\n1\r\n".encode() * (
        PARTS // 100 if where.smoke else PARTS
    )
    body += f"--{BOUNDARY}--\r\n".encode()
    kind = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    head = where.head("POST /api/jobs", kind, f"Content-Length: {len(body)}")

    def one() -> None:
        while not signals.stop.is_set():
            with where.connect() as connection:
                with contextlib.suppress(OSError):  # it may be refused before its end
                    connection.sendall(head + body)
                signals.begun.set()
                answer_of(connection)

    threads = [threading.Thread(target=one) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ATTACKS = (Attack("parts-one-name", "SM2", same_name),)
