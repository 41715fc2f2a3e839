"""What goes wrong at a place is said in words, without secrets, and in time."""

import gzip
import signal
import socket
import threading
from pathlib import Path

import msgspec
import pytest

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.settings import PlaceSettings
from tests.kit import service
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.grounds import QUICK, Ground, over_ftp, over_http, over_sftp
from tests.kit.ports import LOOPBACK, free_port
from tests.kit.scripted import ScriptedServer, silent
from tests.kit.sftp import SftpServer
from tests.kit.trickle import TrickleServer

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 80_000
SCHEMES = ["ftp", "ftps", "sftp", "http", "https", "s3"]


@pytest.fixture(params=SCHEMES)
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


def test_nobody_listens(scheme: str):
    place, url = at_port(scheme, free_port())
    with pytest.raises(SourceUnreachable, match="cannot be read") as caught:
        place.stat(url)
    assert "s3cret" not in str(caught.value)


def test_a_name_that_nobody_has(scheme: str, monkeypatch):
    def unknown(*_args, **_more):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    place, url = at_port(scheme, 9)
    with pytest.raises(SourceUnreachable):
        place.stat(url)


def test_a_server_that_says_nothing(scheme: str):
    over = threading.Event()
    with ScriptedServer(silent(over)) as server:
        place, url = at_port(scheme, server.port, read_s=0.2)
        with pytest.raises(SourceUnreachable, match="in time") as caught:
            place.stat(url)
        over.set()
    assert "s3cret" not in str(caught.value)


def test_a_server_that_hangs_up(scheme: str):
    with ScriptedServer(lambda connection: connection.recv(10)) as server:
        place, url = at_port(scheme, server.port, read_s=1.0)
        with pytest.raises(SourceUnreachable):
            place.stat(url)


def test_a_server_that_talks_rubbish(scheme: str):
    rubbish = b"\x00\xff<html>\r\n" * 2_000
    with ScriptedServer(lambda connection: connection.sendall(rubbish)) as server:
        place, url = at_port(scheme, server.port, read_s=1.0)
        with pytest.raises(SourceUnreachable):
            place.stat(url)


def test_a_server_that_never_comes_to_the_point(scheme: str):
    over = threading.Event()

    starts = {"http": b"HTTP/1.1 200 OK\r\n", "s3": b"HTTP/1.1 200 OK\r\n"}
    starts["https"] = b"\x16\x03\x03\x40\x00"  # the head of a long record of TLS

    def drip(connection: socket.socket) -> None:
        connection.sendall(starts.get(scheme, b""))
        while not over.wait(0.02):
            connection.sendall(b"x")

    with ScriptedServer(drip) as server:
        place, url = at_port(scheme, server.port, look_s=0.4)
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s|in time"):
            place.stat(url)
        over.set()


@pytest.mark.parametrize(
    ("kind", "ground_of"),
    [(FtpServer, over_ftp), (SftpServer, over_sftp), (FileServer, over_http)],
    ids=["ftp", "sftp", "http"],
)
def test_a_server_that_dies_in_the_middle_loses_nothing(kind, ground_of, tmp_path: Path):
    service.need(kind.program)
    with kind() as server:
        ground: Ground = ground_of(server)
        ground.put("a.bin", LARGE)

        def kill(size: int, total: int | None) -> None:
            if server.pid is not None:
                server.stop(signal.SIGKILL)

        with pytest.raises(SourceUnreachable):
            ground.place.fetch(ground.url("a.bin"), tmp_path / "copy", on_progress=kill)
        assert not (tmp_path / "copy").exists()
        server.start()
        fetched = ground.place.fetch(ground.url("a.bin"), tmp_path / "copy")
    assert fetched.resumed_at > 0
    assert (tmp_path / "copy").read_bytes() == LARGE


@pytest.mark.parametrize("ground", ["ftp", "ftps", "sftp", "s3", "http"], indirect=True)
def test_a_copy_that_takes_too_long_goes_on_next_time(ground: Ground, tmp_path: Path):
    ground.put("a.bin", LARGE)
    place = ground.with_settings(fetch_s=1.0)
    never, once = threading.Event(), []

    def dawdle(size: int, total: int | None) -> None:
        if not once:
            once.append(never.wait(1.2))

    with pytest.raises(SourceUnreachable, match=r"took longer than 1 s"):
        place.fetch(ground.url("a.bin"), tmp_path / "copy", on_progress=dawdle)
    fetched = ground.place.fetch(ground.url("a.bin"), tmp_path / "copy")
    # On a busy machine the time may be over before the first piece.
    assert bool(fetched.resumed_at) == bool(once)
    assert (tmp_path / "copy").read_bytes() == LARGE


@pytest.mark.parametrize("ground", ["ftp", "sftp", "s3", "http"], indirect=True)
def test_wrong_credentials_are_said_to_be_wrong(ground: Ground, monkeypatch, tmp_path: Path):
    ground.put("a.csv", b"x")
    place, url = ground.place, ground.url("a.csv")
    match ground.kind:
        case "ftp":
            url = ground.url("a.csv", password="n0t-this")
        case "sftp":
            url = ground.url("a.csv", password="n0t-this")
        case "s3":
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "n0t-this")
        case "http":
            assert isinstance(ground.server, FileServer)
            (ground.server.files / "closed" / "a.csv").write_bytes(b"x")
            url = ground.server.url("closed/a.csv", credentials="me:n0t-this")
    with pytest.raises(BadSource, match="may not be read") as caught:
        place.fetch(url, tmp_path / "copy")
    assert not isinstance(caught.value, SourceUnreachable), "another try will not help"
    assert "n0t-this" not in str(caught.value)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("ground", ["ftp", "sftp", "s3", "http"], indirect=True)
def test_no_error_drags_secrets_along(ground: Ground):
    url = ground.url("missing.csv") + ("?token=t0ken" if ground.kind == "http" else "")
    with pytest.raises(BadSource) as caught:
        ground.place.stat(url)
    assert "t0ken" not in str(caught.value)
    assert caught.value.__suppress_context__, "the words of the library are not shown"


@pytest.mark.parametrize("ground", ["s3"], indirect=True)
def test_a_bucket_that_is_not_named_is_not_opened(ground: Ground):
    ground.put("a.csv", b"x")
    for named in (("another-bucket",), PlaceSettings().s3_buckets):
        place = ground.with_settings(s3_buckets=named)
        with pytest.raises(BadSource, match=r"the bucket a-bucket is not allowed"):
            place.stat(ground.url("a.csv"))


@pytest.mark.parametrize("ground", ["sftp"], indirect=True)
def test_a_host_key_must_be_known(ground: Ground, tmp_path: Path):
    assert isinstance(ground.server, SftpServer)
    ground.put("a.csv", b"x")
    nobody = tmp_path / "known_hosts"
    nobody.write_text("")
    unknown = ground.with_settings(sftp_known_hosts=str(nobody), sftp_fingerprints=())
    with pytest.raises(BadSource, match=r"host key of .* is not known") as caught:
        unknown.stat(ground.url("a.csv"))
    assert ground.server.fingerprint() in str(caught.value)
    trusted = ground.with_settings(sftp_known_hosts=str(nobody))
    assert trusted.stat(ground.url("a.csv")).size == 1
    known = ground.with_settings(sftp_fingerprints=())
    assert known.stat(ground.url("a.csv")).size == 1
    other = (ground.server.folder / "stranger.pub").read_text().split()
    nobody.write_text(f"[{LOOPBACK}]:{ground.server.port} {other[0]} {other[1]}\n")
    with pytest.raises(BadSource, match="does not match the known one"):
        trusted.stat(ground.url("a.csv"))


@pytest.mark.parametrize("ground", ["sftp"], indirect=True)
def test_a_login_of_a_stranger(ground: Ground):
    assert isinstance(ground.server, SftpServer)
    place = ground.with_settings(sftp_key_file=str(ground.server.other_key))
    with pytest.raises(BadSource, match="did not accept the login"):
        place.stat(ground.url("a.csv"))


@pytest.mark.parametrize("scheme", ["http", "ftp"])
def test_a_server_that_sends_too_slowly_is_given_up(scheme: str, tmp_path: Path):
    """SH4: a source at a byte a second held a place for hours."""
    with TrickleServer(scheme) as server:
        settings = msgspec.structs.replace(QUICK, min_bytes_per_s=10_000, slow_s=0.4)
        place = open_place(server.url, settings)
        with pytest.raises(SourceUnreachable, match="less than 10,000 bytes a second") as caught:
            place.fetch(server.url, tmp_path / "copy")
    assert "upload the file instead" in str(caught.value)


def test_answers_that_never_make_a_block_are_given_up_too(tmp_path: Path):
    """A packed answer may go on for ever without a byte of the file in it."""
    empty = b"\x00\x00\x00\xff\xff"  # a stored block of no bytes
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10]
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(head)
        while not over.wait(0.02):
            connection.sendall(empty)

    with ScriptedServer(drip) as server:
        place, url = at_port("http", server.port, min_bytes_per_s=1e6, slow_s=0.4)
        with pytest.raises(SourceUnreachable, match="bytes a second"):
            place.fetch(url, tmp_path / "copy")
        over.set()


def test_a_listing_over_ftp_keeps_the_time_limit():
    """SM9: a data connection knew none."""
    with TrickleServer("ftp", slow_listing=True) as server:
        place = open_place(server.url, msgspec.structs.replace(QUICK, look_s=0.4))
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s"):
            place.stat(server.url)


def test_a_copy_over_ftp_keeps_the_time_limit(tmp_path: Path):
    """SM9."""
    with TrickleServer("ftp") as server:
        place = open_place(server.url, msgspec.structs.replace(QUICK, fetch_s=0.4))
        with pytest.raises(SourceUnreachable, match=r"took longer than 0\.4 s"):
            place.fetch(server.url, tmp_path / "copy")
