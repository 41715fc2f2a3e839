"""What is written on the wire: one request, and never the beginning of another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.net.connections import head_of, split_url
from headgate.ports.wire import WireRequest

LINE = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


def lines_of(request: WireRequest, target: str = "/") -> list[bytes]:
    head = head_of(request, "example.org", target)
    assert head.endswith(b"\r\n\r\n")
    return head[:-4].split(b"\r\n")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://example.org/a/b?c=/d", ("https://example.org", "/a/b?c=/d")),
        ("http://[::1]:8080/", ("http://[::1]:8080", "/")),
        ("http://a/b?c#d/e", ("http://a", "/b?c")),
        ("http://example.org", ("http://example.org", "/")),
    ],
)
def test_a_url_is_a_host_and_what_it_is_asked_for(url: str, parts: tuple[str, str]):
    assert split_url(url) == parts


def test_a_request_without_a_body_says_nothing_of_one():
    request = WireRequest("GET", "", (("accept", "*/*"), ("x-a", "ü")))
    assert lines_of(request, "/a?b") == [
        b"GET /a?b HTTP/1.1",
        b"host: example.org",
        b"accept: */*",
        "x-a: ü".encode(),
    ]


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [("POST", b"body", b"4"), ("POST", None, b"0"), ("DELETE", None, b"0"), ("GET", b"b", b"1")],
)
def test_a_length_is_told(method: str, body: bytes | None, length: bytes):
    assert lines_of(WireRequest(method, "", (), body))[-1] == b"content-length: " + length


def test_nobody_else_says_where_a_request_ends():
    headers = (("content-length", "2"), ("transfer-encoding", "chunked"), ("x-a", "1"))
    told = lines_of(WireRequest("POST", "", headers, b"body"))[2:]
    assert told == [b"x-a: 1", b"content-length: 4"]


def test_a_host_may_be_asked_for_by_another_name():
    request = WireRequest("GET", "", (("x-a", "1"), ("host", "elsewhere")))
    assert lines_of(request)[1:] == [b"host: elsewhere", b"x-a: 1"]


@given(LINE, LINE, LINE)
def test_no_part_begins_a_line_of_its_own(target: str, name: str, value: str):
    request = WireRequest("GET", "", ((f"x{name}", value),))
    if set(target + name + value) & set("\r\n\0"):
        with pytest.raises(ValueError, match="contains a line break"):
            head_of(request, "example.org", target)
    else:
        assert len(lines_of(request, target)) == 3
