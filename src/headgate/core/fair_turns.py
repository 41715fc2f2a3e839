"""Turns of jobs: owners share equally, their jobs share by priority, and every job gets a turn."""

from collections.abc import Iterable
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
