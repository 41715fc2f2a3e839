"""A token is brought by one login at a time, and renewed before it ends or when it is refused."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.fault import Fault, FaultClass
from headgate.core.provider import CredentialPolicy, Placement
from headgate.net.credentials import CredentialLeak, Credentials
from headgate.net.login import LoginFailed
from headgate.net.tokens import LoginToken
from headgate.ports.gate import Cost, Route, Turn
from headgate.testing import FakeClock
from tests.kit.answers import Answer, Request, always, redirect
from tests.kit.gates import NarrowGates, OpenGates, OpenPermit
from tests.kit.http import Bench, bench
from tests.kit.login_service import OF_API, SECRET, TOKEN, LoginService
from tests.kit.provider import Provider, wait_until

LANES = 8


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("OTHER_KEY", "another")


class OneCredential(OpenGates):
    """Goes on with its only credential when that is benched, as the real gates do."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> OpenPermit:
        self.credentials = ["0"]
        return await super().enter(route, turn, cost, patience_s)


async def fetch(cli: Bench, provider: Provider, count: int = 1) -> list[int]:
    """The statuses of as many requests at once."""
    fetches = (cli.client("p").get(provider.url(f"{OF_API}/{n}")) for n in range(count))
    return [answer.status_code for answer in await asyncio.gather(*fetches)]


# ---- one login for all --------------------------------------------------------------------------


async def test_requests_that_need_a_token_at_once_share_one_login(provider: Provider):
    service = LoginService(provider)
    service.login_s = 0.05
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        assert await fetch(cli, provider, LANES) == [200] * LANES
    assert len(service.logins) == 1
    login, *pages = provider.seen
    assert login.request.target == "/login"
    assert all(page.arrived_s > login.arrived_s + service.login_s for page in pages)


async def test_requests_with_an_expired_token_at_once_share_one_login(provider: Provider):
    service, clock = LoginService(provider, expires_in=100), FakeClock()
    async with bench({"p": service.policy()}, gates=OpenGates("0"), clock=clock) as cli:
        await fetch(cli, provider)
        await clock.advance(101)
        service.revoke()
        assert await fetch(cli, provider, LANES) == [200] * LANES
    assert len(service.logins) == 2
    assert 401 not in [seen.status for seen in provider.seen]


async def test_no_place_at_the_gates_is_held_during_a_login(provider: Provider):
    service, gates = LoginService(provider), NarrowGates(1)
    gates.credentials = ["0"]
    async with bench({"p": service.policy()}, gates=gates) as cli:
        assert await fetch(cli, provider, LANES) == [200] * LANES
        service.revoke()
        assert await fetch(cli, provider, LANES) == [200] * LANES
    assert len(service.logins) == 2


async def test_a_login_is_a_light_request_without_a_credential(provider: Provider):
    service = LoginService(provider)
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        await fetch(cli, provider)
        login, page = cli.gates.permits
        assert [call.url for call in cli.calls] == [
            provider.url("/login"),
            provider.url(f"{OF_API}/0"),
        ]
    assert (login.route.transfer, page.route.transfer) == (False, True)
    assert login.told == ["answered 200", "release"]
    assert "authorization" not in service.logins[0].headers


async def test_a_login_goes_on_when_the_request_that_began_it_is_cancelled(provider: Provider):
    service = LoginService(provider)
    service.login_s = 0.05
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        first = asyncio.create_task(fetch(cli, provider))
        await asyncio.to_thread(wait_until, lambda: service.logins)
        second = asyncio.create_task(fetch(cli, provider))
        first.cancel()
        assert await second == [200]
        with pytest.raises(asyncio.CancelledError):
            await first
    assert len(service.logins) == 1


async def test_a_stack_that_closes_ends_its_login(provider: Provider):
    service = LoginService(provider)
    service.on_login = always(Answer(silent=True))
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        fetching = asyncio.create_task(fetch(cli, provider))
        await asyncio.to_thread(wait_until, lambda: service.logins)
    with pytest.raises(asyncio.CancelledError):
        await fetching


async def test_a_request_that_may_not_have_the_credential_does_not_log_in(provider: Provider):
    service = LoginService(provider)
    service.on_page = always(Answer(200))
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        await cli.client(for_user=True).get(provider.url(OF_API))
    assert service.logins == []


# ---- renewal before the end ---------------------------------------------------------------------


@pytest.mark.parametrize(("share", "due_s"), [(0.9, 90.0), (0.5, 50.0)])
async def test_a_token_is_renewed_at_a_share_of_its_life(
    provider: Provider, share: float, due_s: float
):
    service, clock = LoginService(provider, expires_in=100), FakeClock()
    providers = {"p": service.policy(refresh_at=share)}
    async with bench(providers, gates=OpenGates("0"), clock=clock) as cli:
        await fetch(cli, provider)
        await clock.advance(due_s - 0.1)
        await fetch(cli, provider)
        assert len(service.logins) == 1
        await clock.advance(0.1)
        await fetch(cli, provider)
    assert len(service.logins) == 2


async def test_the_life_may_be_configured_and_the_reply_comes_first(provider: Provider):
    service, clock = LoginService(provider), FakeClock()
    providers = {"p": service.policy(lifetime_s=10)}
    async with bench(providers, gates=OpenGates("0"), clock=clock) as cli:
        await fetch(cli, provider)
        await clock.advance(9)
        await fetch(cli, provider)
        assert len(service.logins) == 2
        service._reply["expires_in"] = "1000"
        await clock.advance(9)
        await fetch(cli, provider)
        await clock.advance(899)
        await fetch(cli, provider)
    assert len(service.logins) == 3


async def test_a_token_without_a_life_is_used_until_it_is_refused(provider: Provider):
    service, clock = LoginService(provider), FakeClock()
    async with bench({"p": service.policy()}, gates=OpenGates("0"), clock=clock) as cli:
        await fetch(cli, provider)
        await clock.advance(1e8)
        await fetch(cli, provider)
        assert len(service.logins) == 1
        service.revoke()
        assert await fetch(cli, provider) == [200]
    assert len(service.logins) == 2


async def test_a_valid_token_is_used_while_it_cannot_be_renewed(provider: Provider):
    service, clock = LoginService(provider, expires_in=100), FakeClock()
    async with bench({"p": service.policy()}, gates=OpenGates("0"), clock=clock) as cli:
        await fetch(cli, provider)
        service.on_login = always(Answer(503))
        await clock.advance(90)
        assert await fetch(cli, provider, LANES) == [200] * LANES
        assert len(service.logins) == 2
        await clock.advance(10)
        with pytest.raises(LoginFailed, match="answered 503"):
            await fetch(cli, provider)


async def test_a_token_that_ends_at_once_does_not_keep_a_request_from_being_sent(
    provider: Provider,
):
    service = LoginService(provider, expires_in=0.001)
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        assert await fetch(cli, provider) == [200]
    assert len(service.logins) == 1


# ---- refused tokens -----------------------------------------------------------------------------


async def test_a_401_in_the_middle_leads_to_one_login_for_all_lanes(provider: Provider):
    service = LoginService(provider)

    asked: list[Request] = []

    def revoked_once(request: Request) -> Answer:
        asked.append(request)
        if len(asked) == 2 * LANES:
            service.revoke()
        return service.page(request)

    service.on_page = revoked_once
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:

        async def lane() -> list[int]:
            return [status for _ in range(5) for status in await fetch(cli, provider)]

        statuses = await asyncio.gather(*(lane() for _ in range(LANES)))
    assert statuses == [[200] * 5] * LANES
    assert len(service.logins) == 2
    assert 401 in [seen.status for seen in provider.seen]


async def test_a_401_to_an_older_token_brings_no_login(provider: Provider):
    service = LoginService(provider)

    def slow_for_one(request: Request) -> Answer:
        answer = service.page(request)
        is_slow = request.path.endswith("/0") and answer.status == 401
        return answer._replace(delay_s=0.2 if is_slow else 0.0)

    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        await fetch(cli, provider)
        service.on_page = slow_for_one
        service.revoke()
        assert await fetch(cli, provider, 2) == [200, 200]
    assert len(service.logins) == 2
    asked = [seen.request for seen in provider.seen if seen.request.path.endswith("/0")][1:]
    assert [each.headers["authorization"] for each in asked] == [
        f"Bearer {TOKEN}-1",
        f"Bearer {TOKEN}-2",
    ]


async def test_a_token_that_is_refused_after_a_login_is_an_answer(provider: Provider):
    service, clock = LoginService(provider), FakeClock()
    service.on_page = always(Answer(401))
    async with bench({"p": service.policy()}, gates=OneCredential(), clock=clock) as cli:
        assert await fetch(cli, provider, LANES) == [401] * LANES
        assert "bench" in cli.gates.permits[-1].told
        assert len(service.logins) == 2, "the first token, and one more"
        assert await fetch(cli, provider) == [401]
        assert len(service.logins) == 2, "another login would not help"
        await clock.advance(LoginToken.REFUSED_S)
        assert await fetch(cli, provider) == [401]
    assert len(service.logins) == 3


async def test_a_path_that_always_answers_401_costs_each_request_one_login(provider: Provider):
    service = LoginService(provider)

    def strict_path(request: Request) -> Answer:
        return Answer(401 if request.path.endswith("/0") else 200)

    async with bench({"p": service.policy()}, gates=OneCredential()) as cli:
        service.on_page = strict_path
        for _ in range(3):
            assert sorted(await fetch(cli, provider, 2)) == [200, 401]
    assert len(service.logins) <= 4


async def test_a_refused_token_makes_room_for_the_next_credential(provider: Provider):
    service = LoginService(provider)

    def choosy(request: Request) -> Answer:
        good = request.headers["authorization"] == "Bearer another"
        return Answer(200 if good else 401)

    service.on_page = choosy
    pool = service.policy(CredentialPolicy(env="OTHER_KEY"))
    async with bench({"p": pool}, gates=OpenGates("0", "1")) as cli:
        assert await fetch(cli, provider) == [200]
        assert cli.gates.credentials == ["1"]
    assert len(service.logins) == 2


async def test_a_403_never_leads_to_a_login(provider: Provider):
    service = LoginService(provider)
    service.on_page = always(Answer(403))
    async with bench({"p": service.policy()}, gates=OneCredential()) as cli:
        assert await fetch(cli, provider, LANES) == [403] * LANES
        assert "bench" in cli.gates.permits[-1].told
    assert len(service.logins) == 1


async def test_a_request_with_a_body_is_sent_again_too(provider: Provider):
    service = LoginService(provider)
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        await fetch(cli, provider)
        service.revoke()
        answer = await cli.client("p").post(provider.url(OF_API), json={"a": 1})
        assert answer.status_code == 200
    assert provider.seen[-1].request.body == b'{"a":1}'


async def test_each_401_is_recorded_as_a_call(provider: Provider):
    service = LoginService(provider)
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        await fetch(cli, provider)
        service.revoke()
        await fetch(cli, provider)
        assert [call.status for call in cli.calls] == [200, 200, 401, 200, 200]


# ---- logins that fail ---------------------------------------------------------------------------


async def test_a_refused_login_is_not_tried_again_at_once(provider: Provider):
    service, clock = LoginService(provider), FakeClock()
    service.on_login = always(Answer(401))
    async with bench({"p": service.policy()}, gates=OpenGates("0"), clock=clock) as cli:
        for _ in range(3):
            with pytest.raises(LoginFailed):
                await fetch(cli, provider)
        assert len(service.logins) == 1
        service.on_login = None
        await clock.advance(LoginToken.REFUSED_S)
        assert await fetch(cli, provider) == [200]
    assert len(service.logins) == 2


async def test_a_refused_login_makes_room_for_the_next_credential(provider: Provider):
    service = LoginService(provider)
    service.on_login = always(Answer(400))
    service.on_page = always(Answer(200))
    pool = service.policy(CredentialPolicy(env="OTHER_KEY"))
    async with bench({"p": pool}, gates=OpenGates("0", "1")) as cli:
        assert await fetch(cli, provider) == [200]
        assert cli.gates.permits[0].told == ["withdraw", "release", "bench"]
    assert provider.seen[-1].request.headers["authorization"] == "Bearer another"


async def test_a_missing_secret_is_a_permanent_fault_that_names_it(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SECRET")
    providers = {"p": LoginService(provider).policy()}
    problem = "`password` of its login: the environment variable SECRET is empty or not set"
    async with bench(providers, gates=OpenGates("0")) as cli:
        with pytest.raises(Exception, match=problem) as caught:
            await fetch(cli, provider)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT
    assert provider.seen == []
    assert Credentials(providers).problems("p") == [str(caught.value)]


async def test_an_optional_login_without_its_secret_is_done_without(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SECRET")
    service = LoginService(provider)
    service.on_page = always(Answer(200))
    policy = service.policy()
    policy.credentials["0"] = CredentialPolicy(login=service.login(), optional=True)  # type: ignore[index]
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        assert await fetch(cli, provider, 2) == [200, 200]
    assert service.logins == []
    assert Credentials({"p": policy}).problems("p") == []


async def test_a_redirect_that_repeats_a_token_is_not_followed(provider: Provider):
    service = LoginService(provider)
    service.on_page = lambda request: redirect(provider.url(request.target, host="localhost"))
    policy = service.policy()
    policy.credentials["0"] = CredentialPolicy(  # type: ignore[index]
        login=service.login(), placement=Placement.QUERY, name="t"
    )
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        with pytest.raises(CredentialLeak):
            await fetch(cli, provider)


# ---- any order of events ------------------------------------------------------------------------

EVENTS = st.lists(
    st.sampled_from(["fetch", "fetch many", "revoke", "end", "wait"]), min_size=1, max_size=12
)


@settings(max_examples=40, deadline=None)
@given(EVENTS)
def test_there_are_as_many_logins_as_tokens_that_ended(events: list[str]):
    asyncio.run(_follow(events))


async def _follow(events: list[str]) -> None:
    clock, expected, has_token = FakeClock(), 0, False
    with Provider() as provider:
        service = LoginService(provider, expires_in=100)
        async with bench({"p": service.policy()}, gates=OpenGates("0"), clock=clock) as cli:
            for event in events:
                match event:
                    case "revoke":
                        service.revoke()
                        has_token = False
                    case "end":
                        await clock.advance(90)
                        has_token = False
                    case "wait":
                        await clock.advance(0.1)
                    case _:
                        expected += not has_token
                        has_token = True
                        count = 1 if event == "fetch" else LANES
                        assert await fetch(cli, provider, count) == [200] * count
                assert len(service.logins) == expected
