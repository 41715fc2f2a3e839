"""Every kind of place, over a real server."""

from collections.abc import Callable, Iterator

import pytest

from tests.kit import grounds, service
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.ftps import FtpsServer
from tests.kit.grounds import Ground
from tests.kit.s3 import S3Server, forget_keys
from tests.kit.service import Service
from tests.kit.sftp import SftpServer

REMOTE: dict[str, tuple[type[Service], Callable[..., Ground]]] = {
    "ftp": (FtpServer, grounds.over_ftp),
    "ftps": (FtpsServer, grounds.over_ftps),
    "sftp": (SftpServer, grounds.over_sftp),
    "s3": (S3Server, grounds.over_s3),
    "http": (FileServer, grounds.over_http),
}


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Service]]:
    """Started when first asked for, and kept for all tests."""
    running: dict[str, Service] = {}
    yield running
    for server in running.values():
        server.close()


@pytest.fixture(params=["disk", *REMOTE])
def ground(request, tmp_path, servers, monkeypatch) -> Ground:
    if request.param == "disk":
        return grounds.on_disk(tmp_path)
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
