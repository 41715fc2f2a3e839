"""Fair turns: of jobs at a worker's lanes, and of users at slots for one kind of work."""

from collections.abc import Collection, Iterable
from typing import TypeVar

import msgspec

Key = TypeVar("Key", int, str)


class Contender(msgspec.Struct, frozen=True):
    job_id: int
    owner: str
    priority: int = 0


class Turns:
    """Smooth weighted round robin, first over owners, then over an owner's jobs.

    A job's weight doubles with each step of priority; even the lowest gets its share.
    """

    STEPS = 10

    def __init__(self) -> None:
        self._owner_credit: dict[str, float] = {}
        self._job_credit: dict[int, float] = {}

    def next(self, contenders: Iterable[Contender]) -> Contender | None:
        by_owner: dict[str, list[Contender]] = {}
        for contender in contenders:
            by_owner.setdefault(contender.owner, []).append(contender)
        if not by_owner:
            return None
        owner = self._pick(self._owner_credit, dict.fromkeys(by_owner, 1.0))
        jobs = {job.job_id: job for job in by_owner[owner]}
        weights = {job.job_id: self._weight(job.priority) for job in jobs.values()}
        return jobs[self._pick(self._job_credit, weights)]

    @classmethod
    def _weight(cls, priority: int) -> float:
        return 2.0 ** min(max(priority, -cls.STEPS), cls.STEPS)

    @staticmethod
    def _pick(credit: dict[Key, float], weights: dict[Key, float]) -> Key:
        for gone in credit.keys() - weights.keys():
            del credit[gone]
        for key, weight in weights.items():
            credit[key] = credit.get(key, 0.0) + weight
        chosen = max(weights, key=lambda key: credit[key])
        credit[chosen] -= sum(weights.values())
        return chosen


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
