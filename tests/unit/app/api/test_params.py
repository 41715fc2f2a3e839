"""Ids, statuses and host names, as clients write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.app.api.middleware import SecurityHeaders, host_name
from headgate.app.api.params import LARGEST, number_in, statuses_in
from headgate.app.api.problems import ProblemResponse
from headgate.app.server_policy import ServerPolicy
from headgate.core.status import ItemStatus


@given(st.integers(1, LARGEST))
def test_an_id_is_read_as_its_number(number: int):
    assert number_in(str(number)) == number


@given(st.text(max_size=30))
def test_nothing_else_is_an_id(text: str):
    number = number_in(text) if text else None
    assert number is None or str(number) == text


@pytest.mark.parametrize("text", ["0", "01", "-1", "1.0", " 1", "1_0", "²", "\u0661", str(2**63)])
def test_near_misses_are_not_ids(text: str):
    assert number_in(text) is None


def test_statuses_are_named_in_any_case():
    assert statuses_in(" pending,,ERROR ") == {ItemStatus.PENDING, ItemStatus.ERROR}
    assert statuses_in(None) == statuses_in("") == frozenset()
    with pytest.raises(ProblemResponse, match="unknown status 'LOST'"):
        statuses_in("LOST")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:80", "localhost"),
        ("Example.ORG", "example.org"),
        ("[::1]:8470", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
    ],
)
def test_a_host_header_names_a_host(header: str, name: str):
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("gate.example:80", 200),
        ("GATE.example", 200),
        ("10.1.2.3", 200),
        ("evil.example", 421),
        ("gate.example.evil", 421),
        ("127.0.0.1.evil.example", 421),
    ],
)
async def test_only_known_names_are_answered(host: str, status: int):
    answered: list[int] = []

    async def app(_scope: object, _receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])  # type: ignore[arg-type]

    shell = SecurityHeaders(app, ServerPolicy(hosts=("gate.example",)))  # type: ignore[arg-type]
    scope = {"type": "http", "path": "/", "headers": [(b"host", host.encode())]}
    await shell(scope, None, send)  # type: ignore[arg-type]
    assert answered == [status]
