"""Every error of ours has a status, and no answer contains a secret."""

import errno
import inspect
import json

import pytest
from fastapi import FastAPI
from starlette.types import Message

from headgate.app.api.problems import TITLES, answer, documented, install, public_detail, status_of
from headgate.core import errors
from headgate.core.errors import BadSetting, HeadgateError

OURS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, HeadgateError)
]


@pytest.mark.parametrize("kind", OURS)
def test_an_error_of_ours_is_not_a_defect(kind: type[HeadgateError]):
    if kind in {HeadgateError, errors.StaleIngest}:  # never shown to a client
        return
    assert status_of(kind("why")) in TITLES
    assert status_of(kind("why")) != 500


def test_a_usage_error_says_what_to_do():
    assert status_of(BadSetting("x")) == 422


def test_secrets_in_details_are_masked():
    body = json.loads(answer(422, "cannot open https://u:hunter2@h/?token=s3same").body)
    assert body["status"] == 422
    assert "hunter2" not in body["detail"]
    assert "s3same" not in body["detail"]


@pytest.mark.parametrize("status", documented(409, 413, 415, 507))
def test_every_documented_status_has_a_title(status: int):
    assert TITLES[status]


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EMFILE, 503), (errno.EIO, 500)],
)
async def test_a_missing_resource_of_the_machine_is_not_reported_as_a_defect(
    number: int, status: int
):
    app = FastAPI()
    install(app)
    sent: list[Message] = []

    @app.get("/")
    async def fail() -> None:
        raise OSError(number, "no")

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    asked = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    await app(asked, receive, send)
    assert sent[0]["status"] == json.loads(sent[1]["body"])["status"] == status


@pytest.mark.parametrize("kind", [kind for kind in OURS if issubclass(kind, errors.StoreError)])
def test_an_answer_does_not_contain_the_path_of_the_store(kind: type[HeadgateError]):
    assert "/srv" not in public_detail(kind("no space left for /srv/headgate.db"))


def test_a_wrong_request_gets_the_reason():
    error = BadSetting("server.watch: write it as HANDLER=PLACE")
    assert public_detail(error).startswith("server.watch")
