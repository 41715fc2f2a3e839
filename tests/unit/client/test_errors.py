"""Problems of a server are errors of the core's tree."""

import json

import pytest

from headgate.client import errors
from headgate.client.errors import error_of
from headgate.core import errors as core


def problem(detail: str, **more: object) -> bytes:
    return json.dumps({"type": "about:blank", "title": "No", "detail": detail, **more}).encode()


@pytest.mark.parametrize(
    ("status", "kind", "known_as"),
    [
        (400, errors.Refused, core.UsageError),
        (401, errors.NotAllowed, core.UsageError),
        (403, errors.NotAllowed, core.UsageError),
        (404, errors.NotFound, core.UsageError),
        (409, errors.Conflict, core.IllegalMove),
        (413, errors.Refused, core.UsageError),
        (422, errors.Refused, core.UsageError),
        (429, errors.TooMuch, core.CapReached),
        (500, errors.ApiError, core.HeadgateError),
        (502, errors.Unavailable, core.StoreUnreachable),
        (503, errors.Unavailable, core.StoreUnreachable),
        (507, errors.ServerFull, core.StoreFull),
    ],
)
def test_each_status_has_its_error(status: int, kind: type, known_as: type):
    error = error_of(status, problem("do this instead"))
    assert type(error) is kind
    assert isinstance(error, known_as)
    assert (error.status, error.detail, str(error)) == (status, *2 * ["do this instead"])


@pytest.mark.parametrize(
    ("absent", "known_as"),
    [
        (errors.JobNotFound, core.UnknownJob),
        (errors.ItemNotFound, core.UnknownItem),
        (errors.ExportNotFound, core.UnknownExport),
        (errors.UserNotFound, core.UnknownUser),
    ],
)
def test_a_not_found_error_names_the_kind(absent: type[errors.NotFound], known_as: type):
    error = error_of(404, problem("there is no 7"), absent)
    assert isinstance(error, known_as)
    assert isinstance(error, errors.NotFound)


def test_fields_that_are_wrong_are_kept():
    fields = [{"field": "key", "problem": "too long"}]
    assert error_of(422, problem("key: too long", errors=fields)).errors == fields
    assert error_of(422, problem("no", errors=None)).errors == ()


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"detail": 7}', b"\xff\xfe", b"{}"])
def test_an_answer_that_is_not_a_problem_still_says_something(body: bytes):
    assert str(error_of(502, body)) == "the server answered with status 502"
