"""Passwords that are guessed, many at the same time."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

AT_ONCE = 300
ADDRESSES = 400
ACCOUNTS = 20
PAUSE_S = 0.5
"""Between two rounds of guesses."""


def guesses(where: Where, signals: Signals) -> None:
    """A stranger guesses the passwords of twenty accounts, 300 guesses at once, again and again."""
    _rounds(where, signals, AT_ONCE, lambda n: _guess(where, f"user-{n % ACCOUNTS}", n))


def forged(where: Where, signals: Signals) -> None:
    """The same from 400 addresses, each for an account of its own: no count stops them."""
    _rounds(where, signals, ADDRESSES, lambda n: _guess(where, f"user-{n}", n, _address(n)))


def _address(number: int) -> str:
    return f"X-Forwarded-For: 198.18.{number // 250}.{number % 250 + 1}"


def _rounds(where: Where, signals: Signals, at_once: int, guess: Callable[[int], None]) -> None:
    count = at_once // 100 if where.smoke else at_once
    while not signals.stop.is_set():
        threads = [threading.Thread(target=guess, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        signals.begun.set()
        for thread in threads:
            thread.join()
        signals.stop.wait(PAUSE_S)


def _guess(where: Where, name: str, number: int, *more: str) -> None:
    value = {"name": name, "password": f"a guess, number {number}"}
    body = json.dumps(value).encode()
    kind, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
    head = where.head("POST /api/login", kind, length, *more, known=False)
    with contextlib.suppress(OSError), where.connect() as connection:
        connection.sendall(head + body)
        answer_of(connection)


ATTACKS = (
    Attack("logins-guessed", "SM1", guesses, growth_mb=150.0),
    Attack("logins-forged", "SM1", forged, growth_mb=150.0, logs_in=True),
)
