"""How long a client waits."""

from headgate.client.transport import ClientTimeouts


def test_waits_grow_and_are_bounded():
    timeouts = ClientTimeouts(first_s=1.0, longest_s=5.0)
    assert [timeouts.before(number) for number in (2, 3, 4, 5, 6)] == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_server_that_asks_for_more_gets_it_within_bounds():
    timeouts = ClientTimeouts(first_s=1.0, longest_s=30.0)
    assert timeouts.before(2, 7.0) == 7.0
    assert timeouts.before(4, 2.0) == 4.0
    assert timeouts.before(2, 3_600.0) == 30.0


def test_looks_become_rarer():
    timeouts = ClientTimeouts(poll_s=1.0, longest_poll_s=3.0)
    assert [timeouts.polls(looks) for looks in (0, 1, 2, 3, 1_000)] == [1.0, 1.5, 2.25, 3.0, 3.0]
