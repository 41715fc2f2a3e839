"""Requests against a server that misbehaves in every way."""

import json
from collections.abc import Iterator

import pytest

import headgate.client
from headgate.client import ApiError, Client, NewJob, Refused, TooMuch, Unavailable
from headgate.client.transport import ClientTimeouts
from headgate.core.errors import UsageError
from tests.kit.answers import Answer, Request, always, in_turn, redirect, refusal
from tests.kit.provider import Provider, wait_until

SECRET = "hg_very-secret"
JOBS = Answer(200, body=b'{"items": [], "next": null}')
BUSY = Answer(503, [("Retry-After", "3")], b'{"detail": "not now"}')


class Rests:
    """Waits that take no time, and are remembered."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def sent(provider: Provider, count: int = 1) -> list[Request]:
    """The requests that came; their number is checked."""
    wait_until(lambda: len(provider.seen) >= count)
    assert len(provider.seen) == count
    return [seen.request for seen in provider.seen]


@pytest.fixture
def rests() -> Rests:
    return Rests()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(always(JOBS)) as provider:
        yield provider


@pytest.fixture
def client(provider: Provider, rests: Rests) -> Client:
    timeouts = ClientTimeouts(tries=3, first_s=1.0, sleep=rests)
    return Client(provider.url().rstrip("/"), SECRET, timeouts=timeouts)


async def test_the_token_is_sent_and_never_shown(client: Client, provider: Provider):
    async with client:
        await client.jobs.page()
    assert sent(provider)[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in repr(client)
    assert SECRET not in repr(vars(client))


async def test_the_token_may_stand_in_the_environment(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_other\n")
    async with Client(provider.url()) as client:
        await client.jobs.page()
    assert sent(provider)[0].headers["authorization"] == "Bearer hg_other"


async def test_a_request_to_a_busy_server_is_repeated_after_retry_after(
    client: Client, provider: Provider, rests: Rests
):
    provider.script = in_turn(BUSY, refusal(), JOBS)
    async with client:
        assert (await client.jobs.page()).items == []
    assert rests.taken == [3.0, 2.0]


async def test_patience_ends(client: Client, provider: Provider, rests: Rests):
    provider.script = always(BUSY)
    async with client:
        with pytest.raises(Unavailable, match="not now"):
            await client.jobs.page()
    sent(provider, 3)
    provider.script = always(refusal("1"))
    async with client:
        with pytest.raises(TooMuch):
            await client.jobs.page()


async def test_a_request_that_changes_something_is_sent_once(client: Client, provider: Provider):
    provider.script = always(BUSY)
    async with client:
        with pytest.raises(Unavailable):
            await client.jobs.cancel("3")
    sent(provider)


async def test_a_new_job_is_sent_again_under_the_same_key(
    client: Client, provider: Provider, tmp_path
):
    file = tmp_path / "rows \N{SNOWMAN}\n.csv"
    file.write_bytes(b"sku\nA-1\n")
    provider.script = in_turn(BUSY, Answer(202, body=b'{"jobId": "7"}'))
    async with client:
        assert await client.submit.files(NewJob("price", key=("a", "b")), file) == "7"
    first, second = sent(provider, 2)
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    for request in (first, second):
        assert b"sku\nA-1\n" in request.body
        assert 'filename="rows \N{SNOWMAN}_.csv"'.encode() in request.body
        assert b'name="key"\r\n\r\na,b' in request.body.replace(
            b"Content-Type: text/plain; charset=utf-8\r\n", b""
        )


async def test_a_job_of_items_says_only_what_was_given(client: Client, provider: Provider):
    provider.script = always(Answer(202, body=b'{"jobId": "7"}'))
    async with client:
        await client.submit.items(NewJob("price", on_bad_row="skip"), [{"sku": 1}], once="mine")
    (request,) = sent(provider)
    assert json.loads(request.body) == {
        "handler": "price",
        "onBadRow": "skip",
        "items": [{"sku": 1}],
    }
    assert request.headers["idempotency-key"] == "mine"


async def test_no_answer_is_an_error_that_says_where(provider: Provider, rests: Rests):
    provider.script = always(Answer(hang_up=True))
    timeouts = ClientTimeouts(tries=2, sleep=rests)
    async with Client(provider.url(), SECRET, timeouts=timeouts) as client:
        with pytest.raises(Unavailable, match=f"127.0.0.1:{provider.port} does not answer"):
            await client.jobs.page()
    assert len(rests.taken) == 1


async def test_an_answer_that_breaks_off_is_not_an_answer(client: Client, provider: Provider):
    provider.script = always(JOBS._replace(cut_at=5))
    async with client:
        with pytest.raises(Unavailable, match="broke within the response"):
            await client.jobs.page()


@pytest.mark.parametrize("body", [b"<html>", b'{"items": 7}', b""])
async def test_something_else_at_that_address_is_distinguished(
    client: Client, provider: Provider, body: bytes
):
    provider.script = always(Answer(200, body=body))
    async with client:
        with pytest.raises(ApiError, match="is not a Headgate server"):
            await client.jobs.page()


async def test_the_token_follows_no_redirect(client: Client, provider: Provider):
    with Provider() as other:
        provider.script = always(redirect(other.url("/api/jobs?token=x")))
        async with client:
            with pytest.raises(ApiError, match="use that address") as refused:
                await client.jobs.page()
        assert other.seen == []
        assert "token=x" not in str(refused.value)


async def test_ids_cannot_leave_their_place(client: Client, provider: Provider):
    provider.script = always(Answer(404, body=b'{"detail": "no"}'))
    async with client:
        with pytest.raises(Refused):
            await client.jobs.get("../users?x=1#y")
    assert sent(provider)[0].target == "/api/jobs/..%2Fusers%3Fx=1%23y"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host", "is not the address of a server"),
        ("", "is not the address of a server"),
        ("http://", "is not the address of a server"),
        ("http://me:secret@host", "may not contain a token"),
        ("http://host?token=x", "may not contain a token"),
    ],
)
def test_an_address_that_is_none_is_refused(url: str, said: str):
    with pytest.raises(UsageError, match=said) as refused:
        Client(url)
    assert "secret" not in str(refused.value)


async def test_a_client_must_be_opened():
    with pytest.raises(UsageError, match="async with"):
        await Client("127.0.0.1:1", "").jobs.page()


async def test_health_is_returned_even_if_the_server_is_not_healthy(
    client: Client, provider: Provider
):
    body = (
        b'{"status": "stalled", "version": "1", "store": true, "workers": 0,'
        b' "claimable": true, "moving": false}'
    )
    provider.script = always(Answer(503, body=body))
    async with client:
        health = await client.health()
    assert (health.ok, health.status) == (False, "stalled")
    sent(provider)


async def test_pages_are_walked_to_the_end(client: Client, provider: Provider):
    def page(number: int, following: str | None) -> Answer:
        event = {"id": str(number), "kind": "asked", "message": "x"}
        return Answer(200, body=json.dumps({"items": [event], "next": following}).encode())

    empty = Answer(200, body=b'{"items": [], "next": "c"}')
    provider.script = in_turn(page(3, "a"), page(2, "b"), empty, page(1, None))
    async with client:
        assert [event.id async for event in client.events.log("7")] == ["3", "2", "1"]
    targets = [request.target for request in sent(provider, 4)]
    assert [target.partition("after=")[2] for target in targets] == ["", "a", "b", "c"]


async def test_a_stream_that_breaks_resumes_where_it_was(
    client: Client, provider: Provider, rests: Rests
):
    def stream(*numbers: int) -> Answer:
        text = "".join(
            f'id: {n}\r\nevent: event\r\ndata: {{"id": "{n}", "kind": "k", "message": "m"}}\r\n\r\n'
            for n in numbers
        )
        body = f'event: hello\nid: {numbers[0] - 1}\ndata: {{}}\n\n{text}data: {{"cut'.encode()
        return Answer(200, [("Content-Type", "text/event-stream")], body)

    provider.script = in_turn(stream(4, 5), Answer(hang_up=True), stream(6))
    heard: list[str] = []
    async with client:
        async for news in client.events.stream("7", "3"):
            heard += [news.id] if hasattr(news, "id") else ["hello"]
            if "6" in heard:
                break
    assert heard == ["hello", "4", "5", "hello", "6"]
    wait_until(lambda: len(provider.seen) >= 3)
    asked = [seen.request.headers.get("last-event-id") for seen in provider.seen]
    assert asked[0] == "3"
    assert set(asked[1:]) == {"5"}
    assert rests.taken


async def test_a_stream_that_is_refused_ends(client: Client, provider: Provider):
    provider.script = always(Answer(404, body=b'{"detail": "there is no job 7"}'))
    async with client:
        with pytest.raises(Refused, match="there is no job 7"):
            async for _ in client.events.stream("7"):
                pass


def test_what_is_exported_is_there_and_sorted():
    assert sorted(headgate.client.__all__) == headgate.client.__all__
    assert all(hasattr(headgate.client, name) for name in headgate.client.__all__)
