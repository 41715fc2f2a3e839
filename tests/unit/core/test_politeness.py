"""How a job has treated a provider."""

from headgate.core.call import Call, CallKind
from headgate.core.politeness import Conduct, Politeness

START_US = 1_800_000_000_000_000


def call(at_s: float, kind: CallKind = CallKind.FETCHED, **fields: object) -> Call:
    values = {
        "verb": "GET",
        "provider": "wikidata",
        "host": "www.wikidata.org",
        "status": 200,
        "bytes": 100,
        "ran_ms": 20.0,
        "waited_ms": 0.0,
        "cause": "",
        **fields,
    }
    return Call(at_us=START_US + int(at_s * 1e6), kind=kind, **values)


def account(*calls: Call) -> Conduct:
    politeness = Politeness()
    for each in calls:
        politeness.add(each)
    (conduct,) = politeness.conducts()
    return conduct


def test_what_reached_the_network_is_counted_and_what_the_cache_answered_is_not():
    conduct = account(
        call(0),
        call(1, CallKind.REVALIDATED),
        call(2, CallKind.REFUSED, status=429),
        call(3, CallKind.FAILED, status=0),
        call(4, CallKind.CACHED),
        call(5, CallKind.SHARED),
    )
    assert (conduct.requests, conduct.refused, conduct.failed) == (4, 1, 1)
    assert (conduct.confirmed, conduct.spared) == (1, 2)
    assert conduct.refused_share == 0.25
    assert conduct.bytes == 400


def test_a_call_that_a_breaker_stopped_was_not_a_request():
    conduct = account(call(0), call(1, CallKind.FAILED, status=0, ran_ms=0.0))
    assert (conduct.requests, conduct.failed) == (1, 1)


def test_what_robots_txt_does_not_allow_was_not_a_request():
    conduct = account(call(0), call(1, CallKind.BARRED, status=0, ran_ms=0.0, bytes=0))
    assert (conduct.requests, conduct.failed, conduct.barred) == (1, 0, 1)


def test_the_peaks_are_the_busiest_second_and_the_busiest_sixty_on_end():
    calls = [call(0.1), call(0.9), call(1.5), call(59.9), call(60.5), call(60.6), call(60.7)]
    conduct = account(*calls)
    assert conduct.peak_per_s == 3
    assert conduct.peak_per_min == 5
    assert conduct.first_us == START_US + 100_000


def test_seconds_in_which_several_stood_still_count_once():
    cause = "retry-after: 429 asked for 10 s"
    conduct = account(
        call(12, waited_ms=10_000.0, cause=cause),
        call(13, waited_ms=10_000.0, cause=cause),
        call(20, waited_ms=3_000.0, cause="rate: 5/s"),
        call(40, waited_ms=2_000.0, cause="crawl-delay: robots.txt asks for 2 s"),
    )
    assert conduct.honouring_s == 13
    assert conduct.waited_s == 25.0


def test_hosts_without_a_provider_have_accounts_of_their_own():
    politeness = Politeness()
    politeness.add(call(0))
    politeness.add(call(0, provider="", host="a.example"))
    politeness.add(call(1, provider="", host="a.example"))
    assert [conduct.name for conduct in politeness.conducts()] == ["a.example", "wikidata"]


def test_a_job_without_requests_has_an_empty_politeness_report():
    assert Politeness().conducts() == []


def test_only_the_cache_was_asked():
    conduct = account(call(0, CallKind.CACHED))
    assert (conduct.requests, conduct.peak_per_s, conduct.refused_share) == (0, 0, 0.0)
