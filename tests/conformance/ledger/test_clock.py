"""On SQLite no server has the time: processes whose clocks differ must still agree on it."""

import pytest

from headgate.ports.limits import Proposal
from headgate.stores.sqlite import SqliteStore

HOUR_US = 3_600_000_000
SKEW_US = 30_000_000


class Wall:
    """A clock that moves when it is told to."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
async def skewed(tmp_path):
    """Two processes on one file, one of them half a minute ahead."""
    ahead, behind = Wall(HOUR_US + SKEW_US), Wall(HOUR_US)
    async with (
        SqliteStore(tmp_path / "store.db", ahead) as fast,
        SqliteStore(tmp_path / "store.db", behind) as slow,
    ):
        yield fast.limits, slow.limits, (ahead, behind)


async def test_a_reader_of_a_state_is_not_behind_its_time(skewed):
    fast, slow, _ = skewed
    written = (await fast.exchange([Proposal("a", 0, "closed")], [])).now_s
    assert (await slow.exchange([], ["a"])).now_s >= written
    assert (await slow.exchange([Proposal("a", 1, "open")], [])).now_s > written


async def test_a_process_that_was_behind_sees_time_at_normal_speed(skewed):
    fast, slow, walls = skewed
    await fast.exchange([Proposal("a", 0, "closed")], [])
    before = (await slow.exchange([], ["a"])).now_s
    for wall in walls:
        wall.now += 5_000_000
    passed = (await slow.exchange([], ["a"])).now_s - before
    assert passed == pytest.approx(5.0, abs=0.001)


async def test_ledger_time_does_not_go_back_with_the_wall_clock(skewed):
    fast, _, (ahead, _) = skewed
    written = (await fast.exchange([Proposal("a", 0, "closed")], [])).now_s
    ahead.now -= HOUR_US
    assert (await fast.exchange([], ["a"])).now_s >= written
