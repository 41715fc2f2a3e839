"""A credential goes to its own provider alone, and is seen nowhere else."""

import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.login import SecretOrigin, UserPassword
from headgate.core.provider import CredentialPolicy, InlineRetry, Placement, ProviderPolicy
from headgate.net.credentials import CredentialLeak, Credentials, CredentialWithheld
from headgate.net.response import BadStatus
from tests.kit.answers import Answer, Request, always, by_path, redirect
from tests.kit.gates import OpenGates
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider

SECRET = "s3cr3t:/+ value"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEY", SECRET)
    monkeypatch.setenv("OTHER_KEY", "another")


def policy(provider: Provider, *credentials: CredentialPolicy) -> ProviderPolicy:
    return ProviderPolicy(
        hosts=(f"127.0.0.1:{provider.port}",),
        credentials={str(number): one for number, one in enumerate(credentials)},
        retry=InlineRetry(retries=0),
    )


def leaks(cli: Bench, *texts: object) -> bool:
    return any("s3cr3t" in str(text) for text in (*cli.calls, *texts))


@pytest.mark.parametrize(
    ("credential", "header", "text"),
    [
        (CredentialPolicy(env="KEY"), "authorization", f"Bearer {SECRET}"),
        (
            CredentialPolicy(env="KEY", placement=Placement.BASIC),
            "authorization",
            "Basic czNjcjN0Oi8rIHZhbHVl",
        ),
        (
            CredentialPolicy(
                user=UserPassword("ada", SecretOrigin(env="KEY")), placement=Placement.BASIC
            ),
            "authorization",
            "Basic YWRhOnMzY3IzdDovKyB2YWx1ZQ==",
        ),
        (
            CredentialPolicy(user=UserPassword("ada"), placement=Placement.BASIC),
            "authorization",
            "Basic YWRhOg==",
        ),
        (
            CredentialPolicy(env="KEY", placement=Placement.HEADER, name="X-Api-Key"),
            "x-api-key",
            SECRET,
        ),
        (
            CredentialPolicy(
                env="KEY", placement=Placement.HEADER, name="Authorization", prefix="Token "
            ),
            "authorization",
            f"Token {SECRET}",
        ),
    ],
)
async def test_a_credential_is_in_its_header(
    provider: Provider, credential: CredentialPolicy, header: str, text: str
):
    async with bench({"p": policy(provider, credential)}, gates=OpenGates("0")) as cli:
        answer = await cli.client("p").get(provider.url(), headers={header: "mine"})
        assert not leaks(cli, repr(answer))
    assert provider.seen[0].request.headers[header] == text


async def test_a_credential_is_in_the_query(provider: Provider):
    credential = CredentialPolicy(env="KEY", placement=Placement.QUERY, name="api key")
    async with bench({"p": policy(provider, credential)}, gates=OpenGates("0")) as cli:
        answer = await cli.client("p").get(provider.url("/a"))
        await cli.client("p").get(provider.url("/a?b=c"))
        assert not leaks(cli, answer.url)
    value = "api%20key=s3cr3t%3A%2F%2B%20value"
    assert [seen.request.target for seen in provider.seen] == [f"/a?{value}", f"/a?b=c&{value}"]


async def test_a_value_may_be_kept_in_a_file(provider: Provider, tmp_path: Path):
    file = tmp_path / "key"
    file.write_text("from a file\n")
    credential = CredentialPolicy(file=str(file))
    async with bench({"p": policy(provider, credential)}, gates=OpenGates("0")) as cli:
        await cli.client("p").get(provider.url())
    assert provider.seen[0].request.headers["authorization"] == "Bearer from a file"


async def test_other_hosts_get_no_credential(provider: Provider):
    providers = {"p": policy(provider, CredentialPolicy(env="KEY"))}
    async with bench(providers, gates=OpenGates("0")) as cli:
        await cli.client("p").get(provider.url(host="localhost"))
    assert "authorization" not in provider.seen[0].request.headers


@pytest.mark.parametrize("placement", [Placement.BEARER, Placement.QUERY])
async def test_a_redirect_to_another_host_carries_no_credential(
    provider: Provider, placement: Placement
):
    name = "key" if placement is Placement.QUERY else ""
    ours = policy(provider, CredentialPolicy(env="KEY", placement=placement, name=name))
    # Even if that host is one of the provider's own.
    wide = ProviderPolicy(
        hosts=(*ours.hosts, f"localhost:{provider.port}"), credentials=ours.credentials
    )
    elsewhere = provider.url("/b", host="localhost")
    provider.script = by_path({"/a": always(redirect(elsewhere)), "/b": always(Answer(200))})
    async with bench({"p": wide}, gates=OpenGates("0")) as cli:
        await cli.client("p").get(provider.url("/a"), headers={"X-Mine": "s3cr3t"})
    first, second = (seen.request for seen in provider.seen)
    assert "s3cr3t" in f"{first.target}{dict(first.headers)}"
    assert "s3cr3t" not in f"{second.target}{dict(second.headers)}"


async def test_a_redirect_within_the_host_keeps_the_credential(provider: Provider):
    provider.script = by_path({"/a": always(redirect("/b")), "/b": always(Answer(200))})
    providers = {"p": policy(provider, CredentialPolicy(env="KEY"))}
    async with bench(providers, gates=OpenGates("0")) as cli:
        await cli.client("p").get(provider.url("/a"))
    assert provider.seen[1].request.headers["authorization"] == f"Bearer {SECRET}"


async def test_a_redirect_that_repeats_the_credential_is_not_followed(provider: Provider):
    def echo(request: Request) -> Answer:
        return redirect(provider.url(request.target, host="localhost"))

    provider.script = echo
    credential = CredentialPolicy(env="KEY", placement=Placement.QUERY, name="key")
    async with bench({"p": policy(provider, credential)}, gates=OpenGates("0")) as cli:
        with pytest.raises(CredentialLeak) as caught:
            await cli.client("p").get(provider.url("/a"))
        assert not leaks(cli, caught.value)
    assert len(provider.seen) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_after_a_rejected_credential_the_next_one_is_used(provider: Provider, status: int):
    def choosy(request: Request) -> Answer:
        good = request.headers["authorization"] == "Bearer another"
        return Answer(200, body=b"hello") if good else Answer(status)

    provider.script = choosy
    pool = policy(provider, CredentialPolicy(env="KEY"), CredentialPolicy(env="OTHER_KEY"))
    async with bench({"p": pool}, gates=OpenGates("0", "1")) as cli:
        answer = await cli.client("p").get(provider.url())
        assert cli.gates.permits[0].told == [f"answered {status}", "bench", "release"]
        assert cli.gates.credentials == ["1"]
    assert answer.text == "hello"


async def test_without_another_credential_the_answer_is_permanent(provider: Provider):
    provider.script = always(Answer(401))
    providers = {"p": policy(provider, CredentialPolicy(env="KEY"))}
    async with bench(providers, gates=OpenGates("0")) as cli:
        answer = await cli.client("p").get(provider.url())
        with pytest.raises(BadStatus) as caught:
            answer.raise_for_status()
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT


async def test_an_answer_to_a_request_without_credential_benches_none(provider: Provider):
    provider.script = always(Answer(403))
    async with bench() as cli:
        await cli.client().get(provider.url())
        assert "bench" not in cli.gates.permits[0].told


@pytest.mark.parametrize(
    ("credential", "problem"),
    [
        (CredentialPolicy(env="NO_SUCH_KEY"), "the environment variable NO_SUCH_KEY is empty"),
        (CredentialPolicy(env="TWO_LINES"), "must hold one line"),
        (CredentialPolicy(file="/nowhere/key"), "cannot read the file /nowhere/key: No such file"),
        (CredentialPolicy(file="/bin/sh"), "is not a text file"),
        (
            CredentialPolicy(
                user=UserPassword("ada", SecretOrigin(env="NO_SUCH_KEY")),
                placement=Placement.BASIC,
            ),
            "the environment variable NO_SUCH_KEY is empty",
        ),
        (
            CredentialPolicy(
                user=UserPassword(SecretOrigin(env="NO_SUCH_KEY")), placement=Placement.BASIC
            ),
            "the environment variable NO_SUCH_KEY is empty",
        ),
        (
            CredentialPolicy(user=UserPassword("a:b"), placement=Placement.BASIC),
            "the user's name has a colon",
        ),
    ],
)
async def test_a_credential_that_cannot_be_read_is_a_permanent_fault(
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    credential: CredentialPolicy,
    problem: str,
):
    monkeypatch.setenv("TWO_LINES", "s3cr3t\nx: y")
    providers = {"p": policy(provider, credential)}
    async with bench(providers, gates=OpenGates("0")) as cli:
        with pytest.raises(AttemptOver, match=problem) as caught:
            await cli.client("p").get(provider.url())
        assert not leaks(cli, caught.value)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT
    assert provider.seen == []
    assert Credentials(providers).problems("p") == [str(caught.value)]


async def test_an_optional_credential_is_done_without(provider: Provider):
    providers = {"p": policy(provider, CredentialPolicy(env="NO_SUCH_KEY", optional=True))}
    async with bench(providers, gates=OpenGates("0")) as cli:
        assert (await cli.client("p").get(provider.url())).text == "hello"
    assert "authorization" not in provider.seen[0].request.headers
    assert Credentials(providers).problems("p") == []


async def test_an_undeclared_credential_is_a_permanent_fault(provider: Provider):
    providers = {"p": policy(provider, CredentialPolicy(env="KEY"))}
    async with bench(providers, gates=OpenGates("unknown")) as cli:
        with pytest.raises(AttemptOver, match="do not declare this credential"):
            await cli.client("p").get(provider.url())


@pytest.mark.parametrize("answer", [Answer(hang_up=True), Answer(500), Answer(429), Answer(401)])
async def test_no_error_and_no_log_shows_a_credential(
    provider: Provider, answer: Answer, caplog: pytest.LogCaptureFixture
):
    provider.script = always(answer)
    credential = CredentialPolicy(env="KEY", placement=Placement.QUERY, name="key")
    providers = {"p": policy(provider, credential)}
    with caplog.at_level(logging.DEBUG):
        async with bench(providers, gates=OpenGates("0")) as cli:
            with pytest.raises(AttemptOver) as caught:
                (await cli.client("p").get(provider.url())).raise_for_status()
            over = caught.value
            assert not leaks(cli, over, repr(over), over.ending, over.__cause__)
            assert not leaks(cli, repr(cli.stack.deps.credentials.of("p", "0")))
    assert "s3cr3t" in provider.seen[0].request.target
    assert "s3cr3t" not in caplog.text


# ---- requests that users describe ---------------------------------------------------------------


def for_users(provider: Provider, **words: Any) -> ProviderPolicy:
    return msgspec.structs.replace(policy(provider, CredentialPolicy(env="KEY")), **words)


async def test_a_request_of_a_user_is_sent_without_the_credential(provider: Provider):
    async with bench({"p": for_users(provider)}, gates=OpenGates("0")) as cli:
        for method in ("GET", "POST", "DELETE"):
            await cli.client(for_user=True).request(method, provider.url("/x"))
        await cli.client("other", for_user=True).get(provider.url("/x"))
        await cli.client().get(provider.url("/x"))
    sent = ["authorization" in seen.request.headers for seen in provider.seen]
    assert sent == [False, False, False, False, True], "the operator's own request has it"


async def test_a_user_who_names_the_provider_gets_the_reason(provider: Provider):
    async with bench({"p": for_users(provider)}, gates=OpenGates("0")) as cli:
        with pytest.raises(CredentialWithheld, match="operator's own handlers"):
            await cli.client("p", for_user=True).get(provider.url("/x"))
    assert provider.seen == []


async def test_an_optional_credential_is_left_out_of_requests_of_users(provider: Provider):
    credential = CredentialPolicy(env="KEY", optional=True)
    async with bench({"p": policy(provider, credential)}, gates=OpenGates("0")) as cli:
        await cli.client("p", for_user=True).get(provider.url("/x"))
    assert "authorization" not in provider.seen[0].request.headers


async def test_credentials_for_users_have_methods_and_paths(provider: Provider):
    open_to_users = for_users(provider, for_users=True, user_paths=("/v1",))
    async with bench({"p": open_to_users}, gates=OpenGates("0")) as cli:
        await cli.client("p", for_user=True).get(provider.url("/v1/find?q=a"))
        await cli.client(for_user=True).get(provider.url("/v1/../admin"))
        await cli.client(for_user=True).delete(provider.url("/v1/find"))
        with pytest.raises(CredentialWithheld, match="DELETE"):
            await cli.client("p", for_user=True).delete(provider.url("/v1/find"))
        with pytest.raises(CredentialWithheld, match="/v1"):
            await cli.client("p", for_user=True).get(provider.url("/v1/../admin"))
    sent = ["authorization" in seen.request.headers for seen in provider.seen]
    assert sent == [True, False, False]


async def test_a_redirect_to_another_path_is_sent_without_the_credential(provider: Provider):
    provider.script = by_path({"/v1/a": always(redirect("/admin")), "/admin": always(Answer(200))})
    open_to_users = for_users(provider, for_users=True, user_paths=("/v1",))
    async with bench({"p": open_to_users}, gates=OpenGates("0")) as cli:
        mine = {"X-Mine": "kept"}
        await cli.client(for_user=True).get(provider.url("/v1/a"), headers=mine)
    first, second = (seen.request.headers for seen in provider.seen)
    assert "authorization" in first
    assert "authorization" not in second
    assert second["x-mine"] == "kept"
