"""No place is reached at an address that was not checked."""

import socket

import pytest

from headgate.core import address
from headgate.core.errors import BadSource
from headgate.ports.source import Place
from headgate.transfer.places import s3, sockets
from headgate.transfer.places.opening import open_place
from tests.kit.ftp import FtpServer
from tests.kit.place_sites import QUICK, PlaceSite
from tests.kit.ports import LOOPBACK
from tests.kit.tcp_server import TcpServer, http_reply, replying

ELSEWHERE = "127.0.0.2"
resolve = socket.getaddrinfo
remote = pytest.mark.parametrize("site", ["ftp", "ftps", "sftp", "s3", "http"], indirect=True)


def at_name(site: PlaceSite, name: str, *, allow_private: bool) -> tuple[Place, str]:
    """The same server under another name."""
    if site.kind == "s3":
        endpoint = site.settings.s3_endpoint.replace(LOOPBACK, name)
        place = site.with_settings(allow_private=allow_private, s3_endpoint=endpoint)
        return place, site.url("a.csv")
    return site.with_settings(allow_private=allow_private), site.url("a.csv", host=name)


@pytest.fixture
def loopback_is_public(monkeypatch):
    """127.0.0.1 stands for the internet; every other address is judged as ever."""

    def judged(text: str) -> str | None:
        return None if text == LOOPBACK else address.address_refusal(text)

    monkeypatch.setattr(sockets, "address_refusal", judged)
    monkeypatch.setattr(s3, "address_refusal", judged)


@remote
@pytest.mark.parametrize("name", ["localhost", LOOPBACK, "127.1", "2130706433"])
def test_our_own_network_is_refused_by_any_name(site: PlaceSite, name: str):
    site.put("a.csv", b"x")
    if site.kind == "s3" and name not in {"localhost", LOOPBACK}:
        pytest.skip("its library takes no such numbers for hosts")
    place, url = at_name(site, name, allow_private=False)
    for attempt in (place.stat, place.files):
        if attempt == place.files and not site.can_list:
            continue
        with pytest.raises(BadSource, match=r"address refused: .* is loopback, not public"):
            attempt(url)


@remote
def test_our_own_network_is_reached_where_that_is_allowed(site: PlaceSite):
    site.put("a.csv", b"x")
    place, url = at_name(site, "localhost", allow_private=True)
    assert place.stat(url).size == 1


@remote
def test_a_name_cannot_change_its_address_after_the_check(
    site: PlaceSite, monkeypatch, loopback_is_public
):
    site.put("a.csv", b"x")
    asked = []

    def changing(host, *args, **more):
        if host != "localhost":
            return resolve(host, *args, **more)
        asked.append(host)
        return resolve(LOOPBACK if len(asked) == 1 else ELSEWHERE, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    place, url = at_name(site, "localhost", allow_private=False)
    assert place.stat(url).size == 1
    assert len(asked) == 1
    with pytest.raises(BadSource, match=r"address refused: localhost is loopback"):
        place.stat(url)


@remote
def test_a_name_with_both_kinds_of_addresses_leads_to_the_public_one(
    site: PlaceSite, monkeypatch, loopback_is_public
):
    site.put("a.csv", b"x")

    def mixed(host, *args, **more):
        if host != "localhost":
            return resolve(host, *args, **more)
        return [*resolve(ELSEWHERE, *args, **more), *resolve(LOOPBACK, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", mixed)
    place, url = at_name(site, "localhost", allow_private=False)
    assert place.stat(url).size == 1


@pytest.mark.parametrize("target", [ELSEWHERE, "169.254.169.254", "10.0.0.1", "[::1]"])
def test_a_redirect_is_checked_like_any_other_address(loopback_is_public, target: str):
    moved = replying(http_reply("302 Found", {"Location": f"http://{target}/secret"}))
    guarded = type(QUICK)(read_s=5.0)
    with TcpServer(moved) as server, pytest.raises(BadSource, match="address refused"):
        open_place(server.url(), guarded).stat(server.url())


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x/"])
def test_a_redirect_leads_nowhere_but_to_the_web(target: str):
    moved = replying(http_reply("302 Found", {"Location": target}))
    with TcpServer(moved) as server, pytest.raises(BadSource, match="http:// or https://"):
        open_place(server.url(), QUICK).stat(server.url())


def test_data_of_ftp_come_from_the_server_whatever_it_says(tmp_path):
    with FtpServer(masquerade="192.0.2.1") as server:
        (server.files / "a.csv").write_bytes(b"x,y\n")
        url = server.url("a.csv")
        open_place(url, QUICK).fetch(url, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"x,y\n"
