"""robots.txt by RFC 9309: asked for first, obeyed, and never a reason to lose an attempt."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.call import CallKind
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.outcome import Skipped
from headgate.core.provider import CredentialPolicy, InlineRetry, ProviderPolicy
from headgate.net.cache import HttpCache
from headgate.net.failure import AddressRefused
from headgate.net.policy import NetPolicy
from headgate.net.robots import (
    Robots,
    RobotsBarred,
    RobotsNever,
    RobotsRules,
    RobotsUnknown,
    RobotsUnreached,
)
from headgate.ports.gate import Cost, Feedback, HostTrouble, Route, Turn
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.kit.answers import Answer, Script, always, by_path, in_turn, redirect, refusal
from tests.kit.gates import OpenGates, OpenPermit
from tests.kit.http import ALICE, Bench, Heard, bench, no_trouble
from tests.kit.provider import Provider, wait_until

OBEDIENT = {"shop": ProviderPolicy(robots=True, retry=InlineRetry(retries=0), timeout_s=0.5)}
HELLO = always(Answer(200, body=b"hello"))
CLOSED = Fault(FaultClass.THROTTLED, "the gate is closed", 40.0, "shop")


class ClosedGates(OpenGates):
    """Lets no request out."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> OpenPermit:
        self.patience_s.append(patience_s)
        raise AttemptOver(CLOSED)


def saying(*lines: str) -> Script:
    """A host with this robots.txt."""
    text = "\n".join(lines).encode()
    return by_path({"/robots.txt": always(Answer(200, body=text))}, otherwise=HELLO)


def asked(provider: Provider) -> list[str]:
    return [seen.request.target for seen in provider.seen]


async def get(cli: Bench, url: str) -> str:
    return (await cli.client("shop").get(url)).text


async def barred(cli: Bench, url: str) -> RobotsBarred:
    with pytest.raises(RobotsBarred) as caught:
        await get(cli, url)
    return caught.value


async def unknown(cli: Bench, url: str) -> Fault:
    with pytest.raises(RobotsUnknown) as caught:
        await get(cli, url)
    fault = caught.value.ending
    assert isinstance(fault, Fault)
    assert fault.kind is FaultClass.THROTTLED  # which costs no attempt
    return fault


async def test_an_allowed_path_is_requested(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /private")
    async with bench(OBEDIENT) as cli:
        assert await get(cli, provider.url("/public")) == "hello"
        light = [permit.route.transfer for permit in cli.gates.permits]
    assert asked(provider) == ["/robots.txt", "/public"]
    assert light == [False, True]
    assert [call.kind for call in cli.calls] == [CallKind.FETCHED] * 2


async def test_a_forbidden_path_is_skipped_and_not_requested(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /private")
    async with bench(OBEDIENT) as cli:
        error = await barred(cli, provider.url("/private/1?q=2"))
        with pytest.raises(RobotsBarred):
            async with cli.client("shop").stream("GET", provider.url("/private/2")):
                pass
    host = f"127.0.0.1:{provider.port}"
    assert error.ending == Skipped(f"robots.txt of {host} does not allow this path")
    assert asked(provider) == ["/robots.txt"]
    _, call, _ = cli.calls
    assert (call.kind, call.status, call.bytes, call.host) == (CallKind.BARRED, 0, 0, host)
    assert call.cause == str(error)


async def test_robots_txt_is_read_only_if_configured(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /")
    async with bench({"shop": ProviderPolicy()}) as cli:
        assert await get(cli, provider.url("/private")) == "hello"
    assert asked(provider) == ["/private"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/a", True), ("/a/b", False), ("/a/b/c", True), ("/a/b/c.pdf", False), ("/a/b/d", False)],
)
async def test_the_longest_rule_counts(provider: Provider, path: str, allowed: bool):
    provider.script = saying(
        "User-agent: *", "Disallow: /a/b", "Allow: /a/b/c", "Disallow: /*.pdf$"
    )
    async with bench(OBEDIENT) as cli:
        if allowed:
            assert await get(cli, provider.url(path)) == "hello"
        else:
            await barred(cli, provider.url(path))


@pytest.mark.parametrize(
    ("user_agent", "ours"),
    [
        ("", "/for-headgate"),
        ("Acme/2.0 (unlike headgate)", "/for-acme"),
        ("acme", "/for-acme"),
    ],
)
async def test_the_group_under_our_name_is_ours(provider: Provider, user_agent: str, ours: str):
    provider.script = saying(
        "User-agent: *\nDisallow: /",
        "User-agent: headgate\nDisallow: /for-headgate",
        "User-agent: ACME\nDisallow: /for-acme",
    )
    async with bench(OBEDIENT, policy=NetPolicy(user_agent=user_agent)) as cli:
        assert await get(cli, provider.url("/else")) == "hello"
        await barred(cli, provider.url(ours))


async def test_a_handler_that_names_itself_is_known_by_that_name(provider: Provider):
    provider.script = saying("User-agent: other", "Disallow: /")
    async with bench(OBEDIENT) as cli:
        client = cli.client("shop")
        with pytest.raises(RobotsBarred):
            await client.get(provider.url(), headers={"User-Agent": "other/1"})


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410])
async def test_a_host_without_one_allows_everything(provider: Provider, status: int):
    nothing = always(Answer(status, body=b"User-agent: *\nDisallow: /"))
    provider.script = by_path({"/robots.txt": nothing}, otherwise=HELLO)
    async with bench(OBEDIENT) as cli:
        assert await get(cli, provider.url("/a")) == "hello"
        assert await get(cli, provider.url("/b")) == "hello"
    assert asked(provider) == ["/robots.txt", "/a", "/b"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(500), "robots.txt answered 500"),
        (Answer(503), "robots.txt answered 503"),
        (refusal(), "asked to slow down (429)"),
        (Answer(silent=True), "took longer than 0.5 s"),
        (Answer(hang_up=True), "closed the connection"),
        (Answer(200, body=b"User-agent", cut_at=4), "ended before the answer was complete"),
    ],
)
async def test_a_host_without_a_readable_robots_txt_gets_no_requests(
    provider: Provider, answer: Answer, why: str
):
    provider.script = by_path({"/robots.txt": in_turn(answer, Answer(404))}, otherwise=HELLO)
    clock = FakeClock()
    async with bench(OBEDIENT, clock=clock) as cli:
        fault = await unknown(cli, provider.url("/a"))
        assert fault.retry_after_s == 60.0
        assert fault.gate == f"127.0.0.1:{provider.port}"
        assert why in fault.reason
        await clock.advance(59)
        assert (await unknown(cli, provider.url("/a"))).retry_after_s == 1.0
        assert asked(provider) == ["/robots.txt"]
        await clock.advance(1)
        assert await get(cli, provider.url("/a")) == "hello"
    assert asked(provider) == ["/robots.txt", "/robots.txt", "/a"]


async def test_a_host_that_takes_no_connection_fails_as_the_request_itself_would(
    provider: Provider,
):
    clock = FakeClock()
    provider.stop()
    async with bench(OBEDIENT, clock=clock) as cli:
        for _ in range(3):
            with pytest.raises(RobotsUnreached, match="no connection") as caught:
                await get(cli, provider.url())
            assert isinstance(caught.value.ending, Fault)
            assert caught.value.ending.kind is FaultClass.TRANSIENT  # it ends after a few tries
        assert len(cli.calls) == 1  # rows that come at the same time share one try
        provider.start()
        await clock.advance(RobotsRules.UNREACHED_S)
        assert await get(cli, provider.url()) == "hello"
        provider.stop()
        await clock.advance(RobotsRules.LIFE_S)
        cli.stack.robots = Robots(clock, cli.stack.deps.crawl_delays, BreakerPolicy())
        with pytest.raises(RobotsUnreached) as caught:
            await get(cli, provider.url())
        assert isinstance(caught.value.ending, Fault)
        assert caught.value.ending.kind is FaultClass.THROTTLED  # it has answered before


async def test_rows_do_not_wait_forever_for_rules_that_cannot_be_read(provider: Provider):
    provider.script = by_path({"/robots.txt": always(Answer(500))}, otherwise=HELLO)
    clock, policy = FakeClock(), BreakerPolicy(give_up_s=1_000.0)
    async with bench(OBEDIENT, clock=clock, breakers=policy) as cli:
        waited = 0.0
        while waited < 1_000.0:
            wait_s = (await unknown(cli, provider.url("/a"))).retry_after_s
            assert wait_s is not None
            await clock.advance(wait_s)
            waited += wait_s
        assert waited == 1_000.0
        with pytest.raises(RobotsNever, match="answered 500") as caught:
            await get(cli, provider.url("/a"))
        assert isinstance(caught.value.ending, Fault)
        assert caught.value.ending.kind is FaultClass.STALLED


def test_the_wait_doubles_up_to_an_hour_and_starts_over():
    rules = RobotsRules()

    def wait_s(retry_after_s: float | None = None) -> float:
        rules.miss(Fault(FaultClass.TRANSIENT, "it failed", retry_after_s), 1_000.0)
        return rules.until_s - 1_000.0

    assert [wait_s() for _ in range(8)] == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    rules.learn("", 1_000.0)
    assert wait_s() == 60
    assert wait_s(retry_after_s=7_200.0) == 7_200
    assert wait_s() == 240


async def test_an_unreadable_robots_txt_is_reported_as_trouble_of_the_host(provider: Provider):
    provider.script = by_path({"/robots.txt": in_turn(Answer(500), Answer(404))}, otherwise=HELLO)
    clock, heard = FakeClock(), Heard()
    async with bench(OBEDIENT, clock=clock) as cli:
        cli.stack.robots = Robots(clock, cli.stack.deps.crawl_delays, BreakerPolicy(), heard)
        await unknown(cli, provider.url())
        await clock.advance(60)
        await get(cli, provider.url())
    host = f"127.0.0.1:{provider.port}"
    trouble = HostTrouble(60.0, "answered 500 for robots.txt")
    assert heard.news == [(host, trouble, ALICE.job_id), host]


async def test_twenty_requests_ask_a_failing_server_once(provider: Provider):
    provider.script = by_path({"/robots.txt": always(refusal("600", status=503))}, otherwise=HELLO)
    async with bench(OBEDIENT, clock=FakeClock()) as cli:
        cli.gates.judge = lambda status, headers: Feedback(status == 503, 600.0, "shop")
        faults = await asyncio.gather(*(unknown(cli, provider.url(f"/{n}")) for n in range(20)))
    assert asked(provider) == ["/robots.txt"]
    assert {(fault.retry_after_s, fault.gate) for fault in faults} == {(600.0, "shop")}


async def test_a_gate_that_is_closed_refuses_all_at_once(provider: Provider):
    async with bench(OBEDIENT, gates=ClosedGates(), clock=FakeClock()) as cli:
        first, *others = await asyncio.gather(
            *(get(cli, provider.url(f"/{n}")) for n in range(20)), return_exceptions=True
        )
        assert len(cli.gates.patience_s) == 1
    assert isinstance(first, AttemptOver)
    assert first.ending == CLOSED
    for other in others:
        assert isinstance(other, RobotsUnknown)
        assert isinstance(other.ending, Fault)
        assert (other.ending.retry_after_s, other.ending.gate) == (40.0, "shop")
    assert provider.connections == 0


async def test_robots_txt_is_requested_once_a_day(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /a")
    clock = FakeClock()
    async with bench(OBEDIENT, clock=clock) as cli:
        await barred(cli, provider.url("/a"))
        await clock.advance(86_399)
        await barred(cli, provider.url("/a"))
        assert len(provider.seen) == 1
        provider.script = saying("User-agent: *", "Disallow: /b")
        await clock.advance(1)
        assert await get(cli, provider.url("/a")) == "hello"
    assert asked(provider) == ["/robots.txt", "/robots.txt", "/a"]


async def test_known_rules_stay_while_the_server_fails(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /a")
    clock = FakeClock()
    async with bench(OBEDIENT, clock=clock) as cli:
        await barred(cli, provider.url("/a"))
        provider.script = by_path({"/robots.txt": always(Answer(500))}, otherwise=HELLO)
        await clock.advance(86_400)
        await barred(cli, provider.url("/a"))
        assert await get(cli, provider.url("/b")) == "hello"
    assert asked(provider) == ["/robots.txt", "/robots.txt", "/b"]


async def test_twenty_requests_share_one_robots_txt(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /private")
    async with bench(OBEDIENT) as cli:
        await asyncio.gather(*(get(cli, provider.url(f"/{n}")) for n in range(20)))
    assert len(asked(provider)) == 21
    assert asked(provider).count("/robots.txt") == 1


async def test_another_request_reads_robots_txt_when_the_first_is_cancelled(provider: Provider):
    script = in_turn(Answer(silent=True), Answer(404))
    provider.script = by_path({"/robots.txt": script}, otherwise=HELLO)
    patient = {"shop": ProviderPolicy(robots=True)}
    async with bench(patient) as cli:
        first = asyncio.ensure_future(get(cli, provider.url("/a")))
        await asyncio.to_thread(wait_until, provider.under_way)
        second = asyncio.ensure_future(get(cli, provider.url("/b")))
        await FakeClock().advance(1)
        assert not second.done()
        first.cancel()
        assert await second == "hello"
    assert asked(provider) == ["/robots.txt", "/robots.txt", "/b"]


async def test_robots_txt_is_requested_without_a_credential(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    policy = ProviderPolicy(
        robots=True,
        hosts=(f"127.0.0.1:{provider.port}",),
        credentials={"main": CredentialPolicy(env="SHOP_KEY")},
    )
    async with bench({"shop": policy}, gates=OpenGates("main")) as cli:
        await get(cli, provider.url("/a"))
    rules, page = (seen.request for seen in provider.seen)
    assert page.headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(rules)
    assert rules.headers["user-agent"] == page.headers["user-agent"]


async def test_the_address_check_applies_to_robots_txt_too(provider: Provider):
    async with bench(OBEDIENT) as cli:
        with pytest.raises(AddressRefused):
            await cli.client("shop", guarded=True).get(provider.url())
    assert provider.connections == 0


async def test_a_guarded_client_does_not_get_rules_from_private_addresses(provider: Provider):
    provider.script = saying("User-agent: *", "Disallow: /a")
    async with bench(OBEDIENT) as cli:
        await barred(cli, provider.url("/a"))
        with pytest.raises(AddressRefused):
            await cli.client("shop", guarded=True).get(provider.url("/a"))


@pytest.mark.parametrize("away", [False, True])
async def test_it_may_be_kept_elsewhere(provider: Provider, away: bool):
    elsewhere = provider.url("/rules", host="localhost") if away else "/rules"
    provider.script = by_path(
        {
            "/robots.txt": always(redirect(elsewhere)),
            "/rules": always(Answer(200, body=b"User-agent: *\nDisallow: /")),
        },
        otherwise=HELLO,
    )
    async with bench(OBEDIENT) as cli:
        await barred(cli, provider.url("/a"))
    assert asked(provider) == ["/robots.txt", "/rules"]


@pytest.mark.parametrize(("redirects", "found"), [(5, True), (6, False)])
async def test_five_redirects_are_followed(provider: Provider, redirects: int, found: bool):
    rules = Answer(200, body=b"User-agent: *\nDisallow: /")
    script = in_turn(*(redirect("/robots.txt") for _ in range(redirects)), rules)
    provider.script = by_path({"/robots.txt": script}, otherwise=HELLO)
    async with bench(OBEDIENT) as cli:
        if found:
            await barred(cli, provider.url("/a"))
        else:
            assert await get(cli, provider.url("/a")) == "hello"


async def test_a_redirect_to_nowhere_is_not_a_robots_txt(provider: Provider):
    provider.script = by_path({"/robots.txt": always(redirect("gopher://a/"))}, otherwise=HELLO)
    async with bench(OBEDIENT) as cli:
        assert await get(cli, provider.url("/a")) == "hello"


async def test_where_a_request_is_led_is_judged_as_well(provider: Provider):
    rules = always(Answer(200, body=b"User-agent: *\nDisallow: /private"))
    provider.script = by_path({"/robots.txt": rules, "/a": always(redirect("/private"))})
    async with bench(OBEDIENT) as cli:
        await barred(cli, provider.url("/a"))
    assert asked(provider) == ["/robots.txt", "/a"]


async def test_only_the_beginning_of_a_long_one_is_read_up_to_a_whole_line(provider: Provider):
    head, half = b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n#", b"\nDisallow: /"
    filler = b"#" * (Robots.BYTES - len(head) - len(half))
    body = head + filler + half + b"late\n" + b"#" * 1_000_000
    provider.script = by_path({"/robots.txt": always(Answer(200, body=body))}, otherwise=HELLO)
    async with bench(OBEDIENT) as cli:
        await barred(cli, provider.url("/a"))
        assert await get(cli, provider.url("/late")) == "hello"
    assert cli.calls[0].bytes < len(body)


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[HttpCache]:
    clock = FakeClock()
    async with HttpCache(
        tmp_path, LocalBlobs(tmp_path / "blobs", clock), clock, warn=no_trouble
    ) as cache:
        yield cache


async def test_another_process_finds_it_in_the_cache(provider: Provider, cache: HttpCache):
    fresh = Answer(200, [("Cache-Control", "max-age=60")], b"User-agent: *\nDisallow: /")
    provider.script = always(fresh)
    for _ in range(2):
        async with bench(OBEDIENT, cache=cache) as cli:
            await barred(cli, provider.url("/a"))
    assert asked(provider) == ["/robots.txt"]
    assert [call.kind for call in cli.calls] == [CallKind.CACHED, CallKind.BARRED]


async def test_no_more_is_remembered_than_there_is_room_for(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Robots, "MOST", 1)
    async with bench(OBEDIENT) as cli:
        await get(cli, provider.url("/a"))
        await get(cli, provider.url("/b", host="localhost"))
        await get(cli, provider.url("/c"))
    assert asked(provider) == ["/robots.txt", "/a", "/robots.txt", "/b", "/robots.txt", "/c"]
