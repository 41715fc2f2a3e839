"""Every kind of place, over a real server."""

from collections.abc import Callable, Iterator

import pytest

from tests.kit import place_sites, service
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.ftps import FtpsServer
from tests.kit.place_sites import PlaceSite
from tests.kit.s3 import S3Server, forget_keys
from tests.kit.service import Service
from tests.kit.sftp import SftpServer

REMOTE: dict[str, tuple[type[Service], Callable[..., PlaceSite]]] = {
    "ftp": (FtpServer, place_sites.over_ftp),
    "ftps": (FtpsServer, place_sites.over_ftps),
    "sftp": (SftpServer, place_sites.over_sftp),
    "s3": (S3Server, place_sites.over_s3),
    "http": (FileServer, place_sites.over_http),
}


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Service]]:
    """Started when first asked for, and kept for all tests."""
    running: dict[str, Service] = {}
    yield running
    for server in running.values():
        server.close()


@pytest.fixture(params=["disk", *REMOTE])
def site(request, tmp_path, servers, monkeypatch) -> PlaceSite:
    if request.param == "disk":
        return place_sites.on_disk(tmp_path)
    kind, make = REMOTE[request.param]
    forget_keys(monkeypatch)
    if request.param not in servers:
        service.need(kind.program)
        servers[request.param] = kind()
        servers[request.param].start()
    server = servers[request.param]
    if isinstance(server, S3Server):
        for name, value in server.keys.items():
            monkeypatch.setenv(name, value)
    return make(server)
