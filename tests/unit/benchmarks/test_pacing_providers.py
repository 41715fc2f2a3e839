"""Simulated providers and the clients before them."""

from dataclasses import replace
from functools import partial

import pytest

from benchmarks.pacing.catalogue import IN_SAMPLE, named
from benchmarks.pacing.draws import SEED, draw
from benchmarks.pacing.limits import Decision, FixedWindow, TokenBucket
from benchmarks.pacing.log import Log
from benchmarks.pacing.manners import FIELDS, RETRY_AFTER, SILENT, Fields, Legacy
from benchmarks.pacing.reading import Told, retry_after, told
from benchmarks.pacing.rules import BACKOFF, BOTOCORE, ORACLE, REFERENCE
from benchmarks.pacing.rules.oracle import OracleRefusedError, check_oracle
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Demand, Scenario
from benchmarks.pacing.simulation import simulate

REFUSED = Decision(accepted=False, wait_s=2.3, remaining=0, reset_s=2.3)
FLOOD = Scenario("flood", partial(TokenBucket, 5, 5), seconds=20.0, ban_after=10)


class Recording(Rule):
    """Keeps what it was told."""

    def __init__(self):
        self.replies = []
        self.most = 0

    def on_send(self, now, in_flight):
        self.most = max(self.most, in_flight)

    def on_reply(self, reply):
        self.replies.append(reply)


@pytest.mark.parametrize("scenario", IN_SAMPLE, ids=lambda each: each.name)
def test_the_oracle_is_not_refused(scenario):
    outcome = simulate(replace(scenario, seconds=60.0), ORACLE.make(), 1)
    check_oracle(outcome.log, outcome.bans, scenario.name)
    assert outcome.log.answered


def test_an_oracle_that_is_refused_is_an_error():
    with pytest.raises(OracleRefusedError, match="somewhere"):
        check_oracle(Log(sent=[0.0] * 100, refused=[1.0]), 0, "somewhere")
    with pytest.raises(OracleRefusedError, match="somewhere"):
        check_oracle(Log(sent=[0.0] * 100), 1, "somewhere")


def test_what_was_on_its_way_when_the_limit_fell_is_not_held_against_the_oracle():
    check_oracle(Log(sent=[0.0] * 100, refused=[10.1]), 0, "somewhere", [10.0])
    for at in (9.9, 10.9):
        with pytest.raises(OracleRefusedError, match="somewhere"):
            check_oracle(Log(sent=[0.0] * 100, refused=[at]), 0, "somewhere", [10.0])


def test_the_same_seed_gives_the_same_run():
    once, again = (simulate(replace(FLOOD), BACKOFF.make(), 3) for _ in range(2))
    other = simulate(FLOOD, BACKOFF.make(), 4)
    assert once == again
    assert once.log.sent != other.log.sent


def test_everything_sent_is_answered_refused_or_still_on_its_way():
    rule = Recording()
    log = simulate(FLOOD, rule, 1).log
    came_back = len(log.answered) + len(log.refused) + len(log.failed)
    assert len(rule.replies) == came_back
    assert 0 <= len(log.sent) - came_back <= FLOOD.workers
    assert rule.most <= FLOOD.workers


def test_too_many_refusals_bring_a_ban_of_half_a_minute():
    banned = simulate(replace(FLOOD, seconds=29.0), BACKOFF.make(), 1)
    patient = simulate(replace(FLOOD, seconds=29.0, ban_after=None), BACKOFF.make(), 1)
    assert (banned.bans, patient.bans) == (1, 0)
    assert not [time for time in banned.log.answered if time > 5]
    assert [time for time in patient.log.answered if time > 5]


def test_a_provider_without_slots_to_spare_makes_requests_wait():
    roomy = Scenario("roomy", None, seconds=20.0)
    narrow = replace(roomy, slots=2)
    assert mean_latency(narrow) > 4 * mean_latency(roomy)


def mean_latency(scenario):
    latencies = simulate(scenario, BACKOFF.make(), 1).log.latencies
    return sum(latencies) / len(latencies)


def test_in_a_pause_nothing_is_sent():
    roomy = partial(TokenBucket, 90, 90)
    idle = replace(FLOOD, limit=roomy, seconds=19.0, demand=Demand(works_s=2, rests_s=3))
    sent = simulate(idle, BACKOFF.make(), 1).log.sent
    assert {int(time % 5) for time in sent} == {0, 1}
    assert {int(time // 5) for time in sent} == {0, 1, 2, 3}


def test_manners_are_real_headers():
    window = FixedWindow(50, 10)
    assert SILENT.refused(window, REFUSED) == {}
    assert RETRY_AFTER.refused(window, REFUSED) == {"retry-after": "3"}
    headers = FIELDS.refused(window, REFUSED)
    assert headers["ratelimit-policy"] == '"default";q=50;w=10'
    assert headers["ratelimit"] == '"default";r=0;t=3'
    assert told(headers) == Told(50.0, 10.0, 0, 3.0)
    assert retry_after(headers) == 3.0


def test_a_quota_that_is_not_a_whole_number_is_told_as_a_decimal():
    headers = FIELDS.accepted(TokenBucket(22.68472, 5), REFUSED)
    assert headers["ratelimit-policy"] == '"default";q=22.685;w=1'


def test_headers_can_lie_and_can_leave_out_the_window():
    window = FixedWindow(600, 60)
    high = told(Fields(exaggeration=4).refused(window, REFUSED))
    assert (high.quota, high.remaining) == (2400, 1)
    bare = Legacy(with_reset=False).refused(window, REFUSED)
    assert bare == {"x-ratelimit-limit": "600", "x-ratelimit-remaining": "0"}


def test_a_draw_is_the_same_everywhere():
    assert [each.name for each in draw(777, 4)] == [
        "fw 881/60s none ban20",
        "conc 22 none ban10",
        "tb 174.1/s b17 none",
        "fw 6508/60s none 5xx",
    ]


@pytest.mark.parametrize(
    ("contender", "answered", "refused"),
    [(BOTOCORE, 14226, 131), (REFERENCE, 14353, 39)],
    ids=["botocore", "reference"],
)
def test_rules_do_what_they_did_in_the_study(contender, answered, refused):
    """A bucket that falls to a quarter and comes back: the study's own counts."""
    [scenario] = named("drop/4 none")
    log = simulate(scenario, contender.make(), 1).log
    assert len(log.answered) == pytest.approx(answered, rel=0.01)
    assert len(log.refused) == pytest.approx(refused, abs=2)


def test_each_provider_of_a_draw_has_luck_of_its_own():
    first, second = (simulate(FLOOD, BACKOFF.make(), SEED + n).log for n in range(2))
    assert first.latencies != second.latencies
