"""FTP servers differ in what they understand."""

import os
from pathlib import Path

import pytest

from headgate.core.errors import BadSource
from headgate.transfer.places import ftp
from headgate.transfer.places.opening import open_place
from tests.kit import service
from tests.kit.ftp import FtpServer
from tests.kit.ftps import FtpsServer
from tests.kit.place_sites import QUICK, over_ftps


@pytest.fixture
def server():
    """One that has no listing for programs."""
    service.need(FtpsServer.program)
    with FtpsServer() as running:
        yield running


def test_an_old_file_keeps_its_version(server: FtpsServer):
    """A listing for people tells the time of a young file, and the year of an old one."""
    site = over_ftps(server)
    site.put("a.csv", b"x")
    os.utime(server.files / "in" / "a.csv", (1_500_000_000, 1_500_000_000))
    found = site.place.stat(site.url("a.csv"))
    assert found.version == "20170714024000-1"
    assert found.modified_at == 1_500_000_000_000_000


def test_a_link_counts_as_what_it_leads_to(server: FtpsServer, tmp_path: Path):
    site = over_ftps(server)
    site.put("a.csv", b"a,b\n")
    (server.files / "in" / "link.csv").symlink_to("a.csv")
    (server.files / "in" / "folder").symlink_to(".")
    (server.files / "in" / "dangling.csv").symlink_to("missing")
    assert [one.name for one in site.place.files(site.url(""))] == [
        "a.csv",
        "link.csv",
    ]
    site.place.fetch(site.url("link.csv"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"a,b\n"
    with pytest.raises(BadSource):
        site.place.stat(site.url("folder"))


def test_a_hidden_file_can_be_asked_for(server: FtpsServer, tmp_path: Path):
    site = over_ftps(server)
    site.put(".a.csv", b"a,b\n")
    assert site.place.files(site.url("")) == []
    site.place.fetch(site.url(".a.csv"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"a,b\n"


def test_tls_from_the_first_byte(tmp_path: Path, monkeypatch):
    service.need(FtpsServer.program)
    with FtpsServer(implicit=True) as running:
        monkeypatch.setattr(ftp, "IMPLICIT_TLS_PORT", running.port)
        site = over_ftps(running)
        site.put("a.csv", b"a,b\n")
        site.place.fetch(site.url("a.csv"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"a,b\n"


def test_a_certificate_must_be_trusted(server: FtpsServer):
    site = over_ftps(server)
    site.put("a.csv", b"x")
    with pytest.raises(BadSource, match=r"certificate of .* is not trusted"):
        site.with_settings(ca_file="").stat(site.url("a.csv"))


def test_nothing_is_sent_in_the_clear_where_tls_was_asked_for(tmp_path: Path):
    with FtpServer() as plain:
        (plain.files / "a.csv").write_bytes(b"x")
        url = plain.url("a.csv").replace("ftp://", "ftps://")
        with pytest.raises(BadSource):
            open_place(url, QUICK).fetch(url, tmp_path / "copy")
