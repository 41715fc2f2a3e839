"""What a login sends and reads, and that its secrets and its token are seen nowhere else."""

import base64
import logging
from urllib.parse import parse_qs

import msgspec
import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.login import ClientPlace, Grant, LoginPolicy, SecretOrigin
from headgate.core.provider import CredentialPolicy, InlineRetry, Placement, ProviderPolicy
from headgate.core.redact_text import redacted
from headgate.net.failure import RequestRefused, WireFailure
from headgate.net.login import (
    IssuedToken,
    LoginFailed,
    LoginProblem,
    LoginReply,
    login_request,
    read_token,
)
from tests.kit.answers import Answer, always, redirect, refusal
from tests.kit.gates import OpenGates
from tests.kit.http import bench
from tests.kit.login_service import OF_API, SECRET, TOKEN, LoginService
from tests.kit.ports import free_port
from tests.kit.provider import Provider

URL = "https://api.example.org/login"
OAUTH = {"client_id": SecretOrigin(env="ID"), "client_secret": SecretOrigin(env="SECRET")}


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("ID", "our client")


# ---- the request --------------------------------------------------------------------------------


def test_client_credentials_are_sent_as_a_form():
    policy = LoginPolicy(url=URL, form={**OAUTH, "scope": "a b"}, grant=Grant.CLIENT_CREDENTIALS)
    fields = {"client_id": "our client", "client_secret": "ü&=", "scope": "a b"}
    request = login_request("p", policy, fields)
    assert parse_qs(request.body.decode()) == {
        "grant_type": ["client_credentials"],
        **{name: [value] for name, value in fields.items()},
    }
    assert dict(request.headers)["content-type"] == "application/x-www-form-urlencoded"


def test_client_credentials_may_be_in_a_header():
    policy = LoginPolicy(
        url=URL, form=OAUTH, grant=Grant.CLIENT_CREDENTIALS, client_place=ClientPlace.BASIC
    )
    request = login_request("p", policy, {"client_id": "a:b", "client_secret": "c d"})
    assert request.body == b"grant_type=client_credentials"
    basic = dict(request.headers)["authorization"].removeprefix("Basic ")
    assert base64.b64decode(basic) == b"a%3Ab:c+d"


def test_fields_may_be_sent_as_json():
    policy = LoginPolicy(url=URL, json={"user": "me", "password": SecretOrigin(env="SECRET")})
    request = login_request("p", policy, {"user": "me", "password": "ü"})
    assert msgspec.json.decode(request.body) == {"user": "me", "password": "ü"}
    assert dict(request.headers)["content-type"] == "application/json"


async def test_a_rotated_refresh_token_replaces_the_configured_one(provider: Provider):
    service = LoginService(provider, refresh_token="second")
    form = {"refresh_token": SecretOrigin(env="SECRET")}
    policy = service.policy(form=form, grant=Grant.REFRESH_TOKEN)
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        for _ in range(3):
            await cli.client("p").get(provider.url(OF_API))
            service.revoke()
    sent = [parse_qs(each.body.decode())["refresh_token"] for each in service.logins]
    assert sent == [[SECRET], ["second"], ["second"]]


async def test_the_header_of_a_token_is_that_of_its_credential(provider: Provider):
    service = LoginService(provider)
    service.on_page = always(Answer(200))
    credential = CredentialPolicy(
        login=service.login(), placement=Placement.HEADER, name="Authorization", prefix="token "
    )
    policy = msgspec.structs.replace(service.policy(), credentials={"0": credential})
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        await cli.client("p").get(provider.url(OF_API))
    assert provider.seen[-1].request.headers["authorization"] == f"token {TOKEN}-1"


# ---- the reply ----------------------------------------------------------------------------------


def read(body: object, *, status: int = 200, **login: object) -> IssuedToken:
    form = {"password": SecretOrigin(env="SECRET"), "pin": SecretOrigin(file="~/pin")}
    policy = msgspec.convert({"url": URL, "form": msgspec.to_builtins(form), **login}, LoginPolicy)
    return read_token(policy, LoginReply(status, msgspec.json.encode(body), 0.0))


def test_a_token_is_read_where_the_settings_say():
    reply = {"data": {"session": "abc", "life": 60}, "refresh_token": "r"}
    assert read(reply, token="data.session", expires_in="data.life") == ("abc", 60.0, "r")


@pytest.mark.parametrize("life", [None, 0, -1, "soon", [], {}, "nan", "inf", "1e999", 10**400])
def test_a_life_that_is_not_a_number_above_0_is_unknown(life: object):
    body = msgspec.json.encode({"access_token": "abc"})[:-1]
    value = str(life) if isinstance(life, int) else msgspec.json.encode(life).decode()
    reply = LoginReply(200, body + b',"expires_in":' + value.encode() + b"}", 0.0)
    policy = LoginPolicy(url=URL, form={"user": "me"})
    assert read_token(policy, reply).life_s is None


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, {"id": "abc", "user": 1}, "no text in the field `access_token`; .* has id, user"),
        (200, {"access_token": ""}, "no text in the field `access_token`"),
        (200, {"access_token": 7}, "no text in the field `access_token`"),
        (200, {"access_token": "a\nb"}, "not one line of plain text"),
        (302, {}, "answered 302; check `login.url`"),
        (404, {}, "answered 404; check `login.url`"),
        (401, {}, "401; check the environment variable SECRET, the file ~/pin"),
        (400, {"error": "invalid_grant"}, r"400 \(invalid_grant\); check the environment variable"),
        (400, {"error": ["x"], "error_description": "abc"}, "answered 400; check the environ"),
        (403, [], "answered 403; check the environment variable"),
    ],
)
def test_what_a_person_must_repair_is_permanent_and_says_what(
    status: int, body: object, words: str
):
    with pytest.raises(LoginProblem, match=words) as caught:
        read(body, status=status)
    assert caught.value.kind is FaultClass.PERMANENT
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body"), [(200, []), (200, "x"), (500, {}), (503, {}), (408, {})]
)
def test_what_may_pass_is_transient(status: int, body: object):
    with pytest.raises(LoginProblem) as caught:
        read(body, status=status)
    assert caught.value.kind is FaultClass.TRANSIENT


async def test_a_login_host_that_does_not_answer_is_transient(provider: Provider):
    service, nowhere = LoginService(provider), f"127.0.0.1:{free_port()}"
    login = service.login(url=f"http://{nowhere}/login")
    policy = ProviderPolicy(
        hosts=(f"127.0.0.1:{provider.port}", nowhere),
        credentials={"0": CredentialPolicy(login=login)},
        retry=InlineRetry(retries=0),
    )
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        with pytest.raises(WireFailure, match="connection refused") as caught:
            await cli.client("p").get(provider.url(OF_API))
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.TRANSIENT
    assert provider.seen == []


async def test_a_login_that_fails_once_is_repeated_within_the_attempt(provider: Provider):
    service = LoginService(provider)

    def cut_once(_: object) -> Answer:
        service.on_login = None
        return Answer(hang_up=True)

    service.on_login = cut_once
    policy = msgspec.structs.replace(service.policy(), retry=InlineRetry(retries=1, base_s=0.0))
    async with bench({"p": policy}, gates=OpenGates("0")) as cli:
        assert (await cli.client("p").get(provider.url(OF_API))).status_code == 200
    assert len(service.logins) == 2


async def test_a_login_that_is_asked_to_slow_down_costs_no_attempt(provider: Provider):
    service = LoginService(provider)
    service.on_login = always(refusal("100"))
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        with pytest.raises(RequestRefused) as caught:
            await cli.client("p").get(provider.url(OF_API))
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.THROTTLED


async def test_a_redirect_of_a_login_is_not_followed(provider: Provider):
    service = LoginService(provider)
    service.on_login = always(redirect(provider.url("/elsewhere", host="localhost"), 307))
    async with bench({"p": service.policy()}, gates=OpenGates("0")) as cli:
        with pytest.raises(LoginFailed, match="answered 307"):
            await cli.client("p").get(provider.url(OF_API))
    assert len(provider.seen) == 1


# ---- secrecy ------------------------------------------------------------------------------------

ECHO = f'{{"error": "{SECRET}", "error_description": "{SECRET} {TOKEN}"}}'.encode()


@pytest.mark.parametrize("placement", [Placement.BEARER, Placement.QUERY])
@pytest.mark.parametrize(
    ("login", "page"),
    [
        (None, Answer(401)),
        (None, Answer(500)),
        (None, Answer(hang_up=True)),
        (None, Answer(429)),
        (Answer(200, body=b'{"token": "%s"}' % TOKEN.encode()), Answer()),
        (Answer(200, body=TOKEN.encode()), Answer()),
        (Answer(401, body=ECHO), Answer()),
        (Answer(503, body=ECHO), Answer()),
        (Answer(hang_up=True), Answer()),
        (Answer(200, body=b"x" * 1_000_001), Answer()),
    ],
)
async def test_no_error_log_or_call_shows_a_secret_or_a_token(
    provider: Provider,
    caplog: pytest.LogCaptureFixture,
    placement: Placement,
    login: Answer | None,
    page: Answer,
):
    service = LoginService(provider)
    service.on_login = always(login) if login else None
    service.on_page = always(page)
    name = "key" if placement is Placement.QUERY else ""
    credential = CredentialPolicy(login=service.login(), placement=placement, name=name)
    policy = msgspec.structs.replace(service.policy(), credentials={"0": credential})
    with caplog.at_level(logging.DEBUG):
        async with bench({"p": policy}, gates=OpenGates("0")) as cli:
            with pytest.raises(AttemptOver) as caught:
                (await cli.client("p").get(provider.url(OF_API))).raise_for_status()
            over = caught.value
            shown = f"{cli.calls} {over} {over!r} {over.ending} {over.__cause__!r}"
            shown += f"{[permit.told for permit in cli.gates.permits]}{caplog.text}"
    assert SECRET in service.logins[0].body.decode()
    assert SECRET not in shown
    assert TOKEN not in shown


def test_what_holds_a_secret_does_not_show_it():
    policy = LoginPolicy(url=URL, form={"password": SecretOrigin(env="SECRET")})
    request = login_request("p", policy, {"password": SECRET})
    reply = LoginReply(200, b'{"access_token": "%s"}' % TOKEN.encode(), 0.0)
    shown = f"{request!r} {request} {reply!r} {reply} {read_token(policy, reply)!r}"
    assert SECRET not in shown
    assert TOKEN not in shown


@pytest.mark.parametrize(
    "text",
    [
        f'{{"access_token": "{TOKEN}-1", "expires_in": 3600}}',
        f"Authorization: token {TOKEN}-1",
        f"Authorization: Bearer {TOKEN}-1",
        f"POST /login user=me&password={SECRET}",
        f"refresh_token={TOKEN}-1",
    ],
)
def test_the_redactor_hides_what_a_handler_might_print(text: str):
    assert TOKEN not in redacted(text)
    assert SECRET not in redacted(text)
