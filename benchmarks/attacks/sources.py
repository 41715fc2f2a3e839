"""Sources that send a byte now and then, and never end."""

from __future__ import annotations

import contextlib
import json
import threading

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of
from tests.kit.endless_servers import TrickleServer

COUNT = 10
EVERY_S = 0.5
SETTINGS = {"PLACES__ALLOW_PRIVATE": "true"}


def http(where: Where, signals: Signals) -> None:
    """Jobs over ten slow sources; each that has failed is asked for again."""
    _keep_asking(where, signals, "/api/jobs", "http")


def ftp_previews(where: Where, signals: Signals) -> None:
    """Previews of ten slow sources over FTP, again and again."""
    _keep_asking(where, signals, "/api/preview", "ftp")


def _keep_asking(where: Where, signals: Signals, path: str, scheme: str) -> None:
    with TrickleServer(scheme, every_s=EVERY_S) as server:
        body = json.dumps({"handler": "bench.noop", "source": server.file_url}).encode()
        kind, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
        head = where.head(f"POST {path}", kind, length, "Connection: close")

        def ask() -> None:
            while not signals.stop.is_set():
                with contextlib.suppress(OSError), where.connect() as connection:
                    connection.sendall(head + body)
                    signals.begun.set()
                    answer_of(connection)
                signals.stop.wait(EVERY_S)

        count = 2 if where.smoke else COUNT
        threads = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        signals.stop.wait()
        for thread in threads:
            thread.join(1.0)


ATTACKS = (
    Attack("sources-slow", "SH4", http, SETTINGS),
    Attack("sources-ftp", "SM9", ftp_previews, SETTINGS),
)
