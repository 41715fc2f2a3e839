"""Previews of files that are nothing but line ends."""

from __future__ import annotations

import contextlib
import threading

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

AT_ONCE = 4
SIZE = 20_000_000
PAUSE_S = 0.5
"""Between two previews of a thread: the question is what a preview costs, not what 80 MB a second
over loopback cost."""
BOUNDARY = "line-ends"


def line_ends(where: Where, signals: Signals) -> None:
    """Four previews at once, each of 20 MB of line ends, again and again."""
    disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    body = f"--{BOUNDARY}\r\n{disposition}\r\n\r\nid,name\n".encode()
    body += b"\n" * (SIZE // 1_000 if where.smoke else SIZE)
    body += f"\r\n--{BOUNDARY}--\r\n".encode()
    kind = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    head = where.head("POST /api/preview", kind, f"Content-Length: {len(body)}")

    def one() -> None:
        while not signals.stop.is_set():
            with where.connect() as connection:
                with contextlib.suppress(OSError):  # it may be refused before its end
                    connection.sendall(head + body)
                signals.begun.set()
                answer_of(connection)
            signals.stop.wait(PAUSE_S)

    threads = [threading.Thread(target=one) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ATTACKS = (Attack("previews-line-ends", "SM11", line_ends),)
