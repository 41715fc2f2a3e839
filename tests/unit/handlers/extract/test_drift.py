"""Rows that come and go while a listing is read: what is called proven has lost nothing."""

import random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from headgate.handlers.extract import verdict
from headgate.testing_http import Asked, FakeHttp, Reply
from tests.kit.passes import MemoryPass, source_of

KEYS = 10**6


class ChangingTable:
    """Rows that change before each request, and what existed throughout."""

    def __init__(self, seed: int, changes: int, rows: int = 300) -> None:
        self._rng = random.Random(seed)
        self._changes = changes
        self.keys = sorted(self._rng.sample(range(KEYS), rows))
        self.always = set(self.keys)

    def __call__(self, asked: Asked) -> Reply:
        for _ in range(self._rng.randrange(self._changes + 1)):
            self._change()
        given = dict(parse_qsl(urlsplit(asked.url).query))
        begin, limit = int(given["offset"]), int(given["limit"])
        page = [{"id": key} for key in self.keys[begin : begin + limit]]
        return Reply(json=page, headers={"X-Total": str(len(self.keys))})

    def _change(self) -> None:
        if self.keys and self._rng.random() < 0.5:
            self.always.discard(self.keys.pop(self._rng.randrange(len(self.keys))))
            return
        key = self._rng.randrange(KEYS)
        if key not in self.keys:
            self.keys.append(key)
            self.keys.sort()


def lost_in(seed: int, changes: int, overlap: int, compare: str) -> tuple[str, set[str]]:
    table = ChangingTable(seed, changes)
    paginator = {"type": "offset", "limit": 13, "total_header": "X-Total"}
    resource: dict[str, Any] = {
        "overlap": overlap,
        "endpoint": {"paginator": paginator},
        "order": {"key": "id", "compare": compare},
    }
    done = MemoryPass(source_of(resource), FakeHttp(table), seed=seed).run()
    assert done.errors == {}
    return done.proof("things"), {str(key) for key in table.always} - done.ids("things")


@pytest.mark.parametrize("compare", ["number", "equal"])
@pytest.mark.parametrize(("changes", "overlap"), [(1, 1), (1, 3), (2, 3), (5, 3)])
def test_a_proven_pass_has_lost_no_row(changes, overlap, compare):
    runs = [lost_in(seed, changes, overlap, compare) for seed in range(15)]
    assert [lost for proof, lost in runs if proof != "unproven" and lost] == []
    assert any(proof == "covered" for proof, _ in runs) or changes == 5


@pytest.mark.soak
@pytest.mark.parametrize("compare", ["number", "equal"])
@pytest.mark.parametrize(("changes", "overlap"), [(1, 1), (1, 3), (2, 3), (5, 3)])
def test_four_hundred_proven_passes_have_lost_no_row(changes, overlap, compare):
    runs = [lost_in(seed, changes, overlap, compare) for seed in range(400)]
    assert [lost for proof, lost in runs if proof != "unproven" and lost] == []


def test_repairs_make_passes_proven_that_had_gaps():
    proofs = [lost_in(seed, 1, 3, "number")[0] for seed in range(15)]
    assert proofs.count("covered") >= 10


def test_without_repairs_rows_are_lost_and_the_pass_says_so(monkeypatch):
    """Else the other tests would prove nothing."""
    monkeypatch.setattr(verdict, "MOST_ROUNDS", 0)
    runs = [lost_in(seed, 1, 1, "number") for seed in range(10)]
    assert sum(len(lost) for _, lost in runs) > 10
    assert {proof for proof, lost in runs if lost} == {"unproven"}
