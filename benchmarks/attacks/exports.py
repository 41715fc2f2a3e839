"""Exports, as many as one user can ask for."""

from __future__ import annotations

import http.client
import json

from benchmarks.attacks.attack import ANSWER_S, Attack, Signals, Where

ROWS = 2_000
FIRST = 300
PAUSE_S = 0.05


def many(where: Where, signals: Signals) -> None:
    """Ask for 300 exports of a job, and then for more whenever there is room."""
    job = _job(where)
    path = f"/api/jobs/{job}/export?format=xlsx"
    for _ in range(3 if where.smoke else FIRST):
        _ask(where, path)
    signals.begun.set()
    while not signals.stop.wait(PAUSE_S):
        _ask(where, path)


def _job(where: Where) -> str:
    items = [{"id": number} for number in range(10 if where.smoke else ROWS)]
    body = json.dumps({"handler": "bench.noop", "items": items}).encode()
    made: str = json.loads(_ask(where, "/api/jobs", body))["jobId"]
    return made


def _ask(where: Where, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection(where.host, where.port, timeout=ANSWER_S)
    headers = {"Authorization": f"Bearer {where.token}"}
    try:
        connection.request("POST", path, body, {**headers, "Content-Type": "application/json"})
        return connection.getresponse().read()
    finally:
        connection.close()


ATTACKS = (Attack("exports-many", "SL5", many),)
