"""What goes wrong at a place is said in words, without secrets, and in time."""

import asyncio
import gzip
import signal
import socket
import threading
from pathlib import Path

import msgspec
import pytest

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.opening import DRIVERS, open_place
from headgate.transfer.places.settings import PlaceSettings
from tests.kit import service
from tests.kit.endless_servers import TrickleServer
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.place_sites import QUICK, PlaceSite, over_ftp, over_http, over_sftp
from tests.kit.ports import LOOPBACK, free_port
from tests.kit.sftp import SftpServer
from tests.kit.tcp_server import TcpServer, repeating

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 80_000


@pytest.fixture(params=DRIVERS)
def scheme(request, monkeypatch) -> str:
    if request.param == "s3":
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return request.param


def at_port(scheme: str, port: int, **settings: object):
    """A place that answers at a port, whatever does so, and a URL in it."""
    if scheme == "s3":
        settings |= {"s3_endpoint": f"http://{LOOPBACK}:{port}", "s3_anonymous": True}
        settings["s3_buckets"] = ("*",)
        url = "s3://a-bucket/a.csv"
    else:
        url = f"{scheme}://me:s3cret@{LOOPBACK}:{port}/a.csv"
    return open_place(url, msgspec.structs.replace(QUICK, **settings)), url


def test_a_port_without_a_listener_is_unreachable(scheme: str):
    place, url = at_port(scheme, free_port())
    with pytest.raises(SourceUnreachable, match="cannot be read") as caught:
        place.stat(url)
    assert "s3cret" not in str(caught.value)


def test_an_unknown_host_name_is_unreachable(scheme: str, monkeypatch):
    def unknown(*_args, **_more):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    place, url = at_port(scheme, 9)
    with pytest.raises(SourceUnreachable):
        place.stat(url)


def test_a_server_that_says_nothing(scheme: str):
    with TcpServer(lambda reader, _: reader.read()) as server:
        place, url = at_port(scheme, server.port, read_s=0.2)
        with pytest.raises(SourceUnreachable, match="in time") as caught:
            place.stat(url)
    assert "s3cret" not in str(caught.value)


def test_a_server_that_hangs_up(scheme: str):
    with TcpServer(lambda reader, _: reader.read(10)) as server:
        place, url = at_port(scheme, server.port, read_s=1.0)
        with pytest.raises(SourceUnreachable):
            place.stat(url)


def test_a_server_that_talks_rubbish(scheme: str):
    rubbish = b"\x00\xff<html>\r\n" * 2_000

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(rubbish)

    with TcpServer(talk) as server:
        place, url = at_port(scheme, server.port, read_s=1.0)
        with pytest.raises(SourceUnreachable):
            place.stat(url)


def test_a_server_that_never_completes_its_answer(scheme: str):
    starts = {"http": b"HTTP/1.1 200 OK\r\n", "s3": b"HTTP/1.1 200 OK\r\n"}
    starts["https"] = b"\x16\x03\x03\x40\x00"  # the head of a long record of TLS

    drip = repeating(b"x", 0.02, first=starts.get(scheme, b""), after_request=False)
    with TcpServer(drip) as server:
        place, url = at_port(scheme, server.port, look_s=0.4)
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s|in time"):
            place.stat(url)


@pytest.mark.parametrize(
    ("kind", "site_of"),
    [(FtpServer, over_ftp), (SftpServer, over_sftp), (FileServer, over_http)],
    ids=["ftp", "sftp", "http"],
)
def test_a_server_that_dies_in_the_middle_loses_nothing(kind, site_of, tmp_path: Path):
    service.need(kind.program)
    with kind() as server:
        site: PlaceSite = site_of(server)
        site.put("a.bin", LARGE)

        def kill(size: int, total: int | None) -> None:
            if server.pid is not None:
                server.stop(signal.SIGKILL)

        with pytest.raises(SourceUnreachable):
            site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=kill)
        assert not (tmp_path / "copy").exists()
        server.start()
        fetched = site.place.fetch(site.url("a.bin"), tmp_path / "copy")
    assert fetched.resumed_at > 0
    assert (tmp_path / "copy").read_bytes() == LARGE


@pytest.mark.parametrize("site", ["ftp", "ftps", "sftp", "s3", "http"], indirect=True)
def test_a_copy_that_takes_too_long_continues_next_time(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    place = site.with_settings(fetch_s=1.0)
    never, once = threading.Event(), []

    def dawdle(size: int, total: int | None) -> None:
        if not once:
            once.append(never.wait(1.2))

    with pytest.raises(SourceUnreachable, match=r"took longer than 1 s"):
        place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=dawdle)
    fetched = site.place.fetch(site.url("a.bin"), tmp_path / "copy")
    # On a busy machine the time may be over before the first piece.
    assert bool(fetched.resumed_at) == bool(once)
    assert (tmp_path / "copy").read_bytes() == LARGE


@pytest.mark.parametrize("site", ["ftp", "sftp", "s3", "http"], indirect=True)
def test_wrong_credentials_are_said_to_be_wrong(site: PlaceSite, monkeypatch, tmp_path: Path):
    site.put("a.csv", b"x")
    place, url = site.place, site.url("a.csv")
    match site.kind:
        case "ftp":
            url = site.url("a.csv", password="n0t-this")
        case "sftp":
            url = site.url("a.csv", password="n0t-this")
        case "s3":
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "n0t-this")
        case "http":
            assert isinstance(site.server, FileServer)
            (site.server.files / "closed" / "a.csv").write_bytes(b"x")
            url = site.server.url("closed/a.csv", credentials="me:n0t-this")
    with pytest.raises(BadSource, match="may not be read") as caught:
        place.fetch(url, tmp_path / "copy")
    assert not isinstance(caught.value, SourceUnreachable), "another try will not help"
    assert "n0t-this" not in str(caught.value)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("site", ["ftp", "sftp", "s3", "http"], indirect=True)
def test_no_error_drags_secrets_along(site: PlaceSite):
    url = site.url("missing.csv") + ("?token=t0ken" if site.kind == "http" else "")
    with pytest.raises(BadSource) as caught:
        site.place.stat(url)
    assert "t0ken" not in str(caught.value)
    assert caught.value.__suppress_context__, "the words of the library are not shown"


@pytest.mark.parametrize("site", ["s3"], indirect=True)
def test_a_bucket_that_is_not_named_is_not_opened(site: PlaceSite):
    site.put("a.csv", b"x")
    for named in (("another-bucket",), PlaceSettings().s3_buckets):
        place = site.with_settings(s3_buckets=named)
        with pytest.raises(BadSource, match=r"the bucket a-bucket is not allowed"):
            place.stat(site.url("a.csv"))


@pytest.mark.parametrize("site", ["sftp"], indirect=True)
def test_a_host_key_must_be_known(site: PlaceSite, tmp_path: Path):
    assert isinstance(site.server, SftpServer)
    site.put("a.csv", b"x")
    nobody = tmp_path / "known_hosts"
    nobody.write_text("")
    unknown = site.with_settings(sftp_known_hosts=str(nobody), sftp_fingerprints=())
    with pytest.raises(BadSource, match=r"host key of .* is not known") as caught:
        unknown.stat(site.url("a.csv"))
    assert site.server.fingerprint() in str(caught.value)
    trusted = site.with_settings(sftp_known_hosts=str(nobody))
    assert trusted.stat(site.url("a.csv")).size == 1
    known = site.with_settings(sftp_fingerprints=())
    assert known.stat(site.url("a.csv")).size == 1
    other = (site.server.folder / "stranger.pub").read_text().split()
    nobody.write_text(f"[{LOOPBACK}]:{site.server.port} {other[0]} {other[1]}\n")
    with pytest.raises(BadSource, match="does not match the known one"):
        trusted.stat(site.url("a.csv"))


@pytest.mark.parametrize("site", ["sftp"], indirect=True)
def test_an_unknown_key_cannot_log_in(site: PlaceSite):
    assert isinstance(site.server, SftpServer)
    place = site.with_settings(sftp_key_file=str(site.server.other_key))
    with pytest.raises(BadSource, match="did not accept the login"):
        place.stat(site.url("a.csv"))


@pytest.mark.parametrize("scheme", ["http", "ftp"])
def test_a_server_that_sends_too_slowly_is_abandoned(scheme: str, tmp_path: Path):
    """SH4: a source at a byte a second held a place for hours."""
    with TrickleServer(scheme) as server:
        settings = msgspec.structs.replace(QUICK, min_bytes_per_s=10_000, slow_s=0.4)
        place = open_place(server.file_url, settings)
        with pytest.raises(SourceUnreachable, match="less than 10,000 bytes a second") as caught:
            place.fetch(server.file_url, tmp_path / "copy")
    assert "upload the file instead" in str(caught.value)


def test_answers_that_never_make_a_block_are_abandoned_too(tmp_path: Path):
    """A packed answer may continue forever without a byte of the file in it."""
    empty = b"\x00\x00\x00\xff\xff"  # a stored block of no bytes
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10]
    with TcpServer(repeating(empty, 0.02, first=head)) as server:
        place, url = at_port("http", server.port, min_bytes_per_s=1e6, slow_s=0.4)
        with pytest.raises(SourceUnreachable, match="bytes a second"):
            place.fetch(url, tmp_path / "copy")


def test_a_listing_over_ftp_keeps_the_time_limit():
    """SM9: a data connection knew none."""
    with TrickleServer("ftp", slow_listing=True) as server:
        place = open_place(server.file_url, msgspec.structs.replace(QUICK, look_s=0.4))
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s"):
            place.stat(server.file_url)


def test_a_copy_over_ftp_keeps_the_time_limit(tmp_path: Path):
    """SM9."""
    with TrickleServer("ftp") as server:
        place = open_place(server.file_url, msgspec.structs.replace(QUICK, fetch_s=0.4))
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s"):
            place.fetch(server.file_url, tmp_path / "copy")
