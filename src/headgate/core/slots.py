"""Limits how much of one kind of work runs at the same time, and shares the slots among users."""

from collections.abc import Collection, Iterable

import msgspec


class Waiting(msgspec.Struct, frozen=True):
    id: int
    user: str


class Slots:
    """Slots for one kind of work: `total` in all, and `per_user` for one user.

    A free slot goes to the user who has the fewest in use. Among equals it goes to the user who got
    a slot longest ago, so that users who wait get turns independent of the length of their queues.
    """

    def __init__(self, total: int, per_user: int) -> None:
        self._total = total
        self._per_user = per_user
        self._in_use: dict[str, int] = {}
        self._last_turn: dict[str, int] = {}
        self._turns = 0

    def next(self, users: Collection[str]) -> str | None:
        """The next user to get a slot; None if no slot is free for any of them."""
        known = self._in_use.keys() | users
        self._last_turn = {user: at for user, at in self._last_turn.items() if user in known}
        if sum(self._in_use.values()) >= self._total:
            return None
        allowed = [user for user in users if self._used_by(user) < self._per_user]
        return min(allowed, key=self._rank, default=None)

    def take(self, user: str) -> None:
        self._turns += 1
        self._last_turn[user] = self._turns
        self._in_use[user] = self._used_by(user) + 1

    def give_back(self, user: str) -> None:
        self._in_use[user] -= 1
        if not self._in_use[user]:
            del self._in_use[user]

    def _used_by(self, user: str) -> int:
        return self._in_use.get(user, 0)

    def _rank(self, user: str) -> tuple[int, int]:
        return self._used_by(user), self._last_turn.get(user, 0)


def by_user(waiting: Iterable[Waiting]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {}
    for each in waiting:
        lines.setdefault(each.user, []).append(each.id)
    return lines
