"""Answers of web servers, as they are and as they should not be."""

import asyncio
import gzip
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.settings import PlaceSettings
from tests.kit.certificates import make_certificate
from tests.kit.tcp_server import TcpServer, head_of, http_reply, repeating, replying

SETTINGS = PlaceSettings(allow_private=True, read_s=5.0, connect_s=5.0)
BODY = b"a,b\n1,2\n" * 1_000
TAGGED = {"ETag": '"v1"'}


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[TcpServer, list[str]]]:
    """A server that gives these answers in turn, and the last one from then on."""
    heads: list[str] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await head_of(reader))
        writer.write(answers[min(len(heads), len(answers)) - 1])

    with TcpServer(handler) as server:
        yield server, heads


def fetch(url: str, target: Path, **settings: object):
    changed = msgspec.structs.replace(SETTINGS, **settings)
    return open_place(url, changed).fetch(url, target)


def broken_try(server: TcpServer, target: Path) -> None:
    with pytest.raises(SourceUnreachable, match="ended after 4,000 of 8,000 bytes"):
        fetch(server.url("/a.csv"), target)
    assert not target.exists()


CUT = http_reply("200 OK", {**TAGGED, "Content-Length": str(len(BODY))}, BODY[:4_000])


def test_a_body_that_ends_early_is_not_taken_for_whole(tmp_path: Path):
    rest = http_reply(
        "206 Partial Content", {**TAGGED, "Content-Range": "bytes 4000-7999/8000"}, BODY[4_000:]
    )
    with answering(CUT, rest, http_reply("200 OK", TAGGED, BODY)) as (server, heads):
        broken_try(server, tmp_path / "copy")
        fetched = fetch(server.url("/a.csv"), tmp_path / "copy")
    assert fetched.resumed_at == 4_000
    assert (tmp_path / "copy").read_bytes() == BODY
    assert "Range: bytes=4000-\r\n" in heads[1]
    assert 'If-Range: "v1"\r\n' in heads[1]


@pytest.mark.parametrize(
    "wrong",
    [
        http_reply(
            "206 Partial Content", {**TAGGED, "Content-Range": "bytes 5000-7999/8000"}, BODY[5_000:]
        ),
        http_reply(
            "206 Partial Content",
            {"ETag": '"v2"', "Content-Range": "bytes 4000-7999/8000"},
            BODY[4_000:],
        ),
        http_reply("416 Range Not Satisfiable", {"Content-Range": "bytes */8000"}),
    ],
    ids=["another place", "another version", "no such place"],
)
def test_a_part_that_does_not_fit_is_asked_for_whole(tmp_path: Path, wrong: bytes):
    with answering(CUT, wrong, http_reply("200 OK", TAGGED, BODY)) as (server, _):
        broken_try(server, tmp_path / "copy")
        fetched = fetch(server.url("/a.csv"), tmp_path / "copy")
    assert fetched.resumed_at == 0
    assert (tmp_path / "copy").read_bytes() == BODY


def test_a_server_without_parts_starts_over(tmp_path: Path):
    with answering(CUT, http_reply("200 OK", {"ETag": '"v2"'}, BODY[::-1])) as (server, _):
        broken_try(server, tmp_path / "copy")
        assert fetch(server.url("/a.csv"), tmp_path / "copy").resumed_at == 0
    assert (tmp_path / "copy").read_bytes() == BODY[::-1]


@pytest.mark.parametrize("tags", [{}, {"ETag": 'W/"v1"'}])
def test_nothing_is_added_where_the_bytes_may_differ(tmp_path: Path, tags: dict[str, str]):
    cut = http_reply("200 OK", {**tags, "Content-Length": str(len(BODY))}, BODY[:4_000])
    with answering(cut, http_reply("200 OK", tags, BODY)) as (server, heads):
        broken_try(server, tmp_path / "copy")
        assert fetch(server.url("/a.csv"), tmp_path / "copy").resumed_at == 0
    assert "Range:" not in heads[1]


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na,b\n\r\n100\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n",
        b"HTTP/1.1 2",
        b"",
        http_reply("200 OK", {"Content-Encoding": "gzip"}, gzip.compress(BODY)[:-20]),
        http_reply("200 OK", {"Content-Encoding": "gzip"}, b"not packed at all"),
    ],
    ids=["chunks", "header", "end of headers", "status", "nothing", "packed", "damaged"],
)
def test_no_answer_that_breaks_off_becomes_a_file(tmp_path: Path, reply: bytes):
    with answering(reply) as (server, _), pytest.raises(SourceUnreachable):
        fetch(server.url("/a.csv"), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_an_answer_without_length_ends_with_its_connection(tmp_path: Path):
    with answering(http_reply("200 OK", {"Content-Length": ""}, BODY)) as (server, _):
        fetched = fetch(server.url("/a.csv"), tmp_path / "copy")
    assert (fetched.found.size, fetched.size) == (None, len(BODY))


def test_what_came_packed_is_unpacked(tmp_path: Path):
    with answering(http_reply("200 OK", {"Content-Encoding": "gzip"}, gzip.compress(BODY))) as (
        server,
        _,
    ):
        fetch(server.url("/a.csv"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == BODY


def test_a_decompression_bomb_is_stopped_at_the_limit(tmp_path: Path):
    bomb = gzip.compress(b"0" * 50_000_000)
    with (
        answering(http_reply("200 OK", {"Content-Encoding": "gzip"}, bomb)) as (server, _),
        pytest.raises(BadSource, match="larger than the 1,000,000 bytes"),
    ):
        fetch(server.url("/a.csv"), tmp_path / "copy", max_bytes=1_000_000)
    assert [*tmp_path.iterdir()] == []


def test_an_endless_answer_ends_at_the_limit(tmp_path: Path):
    endless = repeating(b"0" * 65_536, first=b"HTTP/1.1 200 OK\r\n\r\n")
    with TcpServer(endless) as server, pytest.raises(BadSource, match="larger than"):
        fetch(server.url("/a.csv"), tmp_path / "copy", max_bytes=1_000_000)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        ("404 Not Found", BadSource, "does not exist"),
        ("410 Gone", BadSource, "does not exist"),
        ("401 Unauthorized", BadSource, "the server answered 401"),
        ("403 Forbidden", BadSource, "the server answered 403"),
        ("206 Partial Content", BadSource, "answered 206"),
        ("204 No Content", BadSource, "answered 204, which is not a file"),
        ("304 Not Modified", BadSource, "answered 304"),
        ("429 Too Many Requests", SourceUnreachable, "cannot be read now"),
        ("500 Oops", SourceUnreachable, "cannot be read now"),
        ("503 Later", SourceUnreachable, "cannot be read now"),
    ],
)
def test_what_a_status_means(status: str, kind: type[BadSource], words: str):
    with (
        answering(http_reply(status)) as (server, _),
        pytest.raises(BadSource, match=words) as caught,
    ):
        open_place(server.url(), SETTINGS).stat(server.url("/a.csv?token=s3cret"))
    assert type(caught.value) is kind
    assert "s3cret" not in str(caught.value)


def test_redirects_are_followed_and_name_the_file(tmp_path: Path):
    with answering(
        http_reply("302 Found", {"Location": "/in/b.csv"}),
        http_reply("307 Temporary Redirect", {"Location": "c%20d.csv?x=1"}),
        http_reply("200 OK", {}, BODY),
    ) as (server, heads):
        found = open_place(server.url(), SETTINGS).stat(server.url("/a.csv"))
    assert found.name == "c d.csv"
    assert found.url == server.url("/a.csv")
    assert heads[2].startswith("GET /in/c%20d.csv?x=1 HTTP/1.1\r\n")


def test_redirects_come_to_an_end():
    with (
        answering(http_reply("301 Moved Permanently", {"Location": "/again"})) as (server, heads),
        pytest.raises(BadSource, match="redirects more than 5 times"),
    ):
        open_place(server.url(), SETTINGS).stat(server.url("/a.csv"))
    assert len(heads) == 6


def test_a_password_goes_to_its_own_server_alone():
    with answering(http_reply("200 OK", {}, b"x")) as (other, seen):
        moved = http_reply("302 Found", {"Location": other.url("/b", host="localhost")})
        with answering(http_reply("302 Found", {"Location": "/moved"}), moved) as (server, heads):
            url = server.url("/a.csv").replace("http://", "http://me:p%40ss@")
            open_place(url, SETTINGS).stat(url)
    assert ["Authorization: Basic bWU6cEBzcw==" in head for head in heads] == [True, True]
    assert "Authorization" not in seen[0]


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="orders.csv"', "orders.csv"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe.csv", "Grüße.csv"),
        ("attachment", "a.csv"),
    ],
)
def test_a_server_may_name_its_file(header: str, name: str):
    with answering(http_reply("200 OK", {"Content-Disposition": header}, b"x")) as (server, _):
        assert open_place(server.url(), SETTINGS).stat(server.url("/a.csv")).name == name


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return make_certificate(tmp_path)


@contextmanager
def secured(certificate: Path, reply: bytes) -> Iterator[TcpServer]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    with TcpServer(replying(reply), context) as server:
        yield server


def test_a_certificate_must_be_trusted(certificate: Path, tmp_path: Path):
    with secured(certificate, http_reply("200 OK", {}, BODY)) as server:
        url = server.url("/a.csv", scheme="https", host="localhost")
        with pytest.raises(BadSource, match=r"certificate of .* is not trusted"):
            fetch(url, tmp_path / "copy")
        fetch(url, tmp_path / "copy", ca_file=str(certificate))
    assert (tmp_path / "copy").read_bytes() == BODY


def test_no_redirect_leaves_https(certificate: Path, tmp_path: Path):
    with secured(
        certificate, http_reply("302 Found", {"Location": "http://localhost/x"})
    ) as server:
        url = server.url("/a.csv", scheme="https", host="localhost")
        with pytest.raises(BadSource, match="redirects from https to http"):
            fetch(url, tmp_path / "copy", ca_file=str(certificate))


@pytest.mark.parametrize(
    "url", ["http://", "https://me:s3cret@/x", "http://ho st/x", "http://h:x/"]
)
def test_an_invalid_url_is_rejected(url: str):
    with pytest.raises(BadSource, match="is not a URL to fetch") as caught:
        open_place(url, SETTINGS).stat(url)
    assert "s3cret" not in str(caught.value)
