"""Passwords that are guessed, many at the same time."""

from __future__ import annotations

import contextlib
import json
import threading

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

AT_ONCE = 300
ACCOUNTS = 20
PAUSE_S = 0.5
"""Between two rounds of guesses."""


def guesses(where: Where, signals: Signals) -> None:
    """A stranger guesses the passwords of twenty accounts, 300 guesses at once, again and again."""
    count = AT_ONCE // 100 if where.smoke else AT_ONCE
    while not signals.stop.is_set():
        threads = [threading.Thread(target=_guess, args=(where, n)) for n in range(count)]
        for thread in threads:
            thread.start()
        signals.begun.set()
        for thread in threads:
            thread.join()
        signals.stop.wait(PAUSE_S)


def _guess(where: Where, number: int) -> None:
    value = {"name": f"user-{number % ACCOUNTS}", "password": f"a guess, number {number}"}
    body = json.dumps(value).encode()
    kind, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
    head = where.head("POST /api/login", kind, length, known=False)
    with contextlib.suppress(OSError), where.connect() as connection:
        connection.sendall(head + body)
        answer_of(connection)


ATTACKS = (Attack("logins-guessed", "SM1", guesses, growth_mb=150.0),)
