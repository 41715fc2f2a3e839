"""A real FTP server of one's own."""

import sys
from urllib.parse import quote

from tests.kit.ports import LOOPBACK
from tests.kit.service import Service

PROGRAM = """
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

host, port, user, password, folder, masquerade = sys.argv[1:]
FTPHandler.authorizer = DummyAuthorizer()
FTPHandler.authorizer.add_user(user, password, folder, perm="elr")
FTPHandler.masquerade_address = masquerade or None
FTPHandler.auth_failed_timeout = 0
FTPServer((host, int(port)), FTPHandler).serve_forever()
"""


class FtpServer(Service):
    """Serves the folder `files`. `masquerade` is the address that it names for data."""

    program = "python3"
    user, password = "me", "pa/ss@word"

    def __init__(self, masquerade: str = "") -> None:
        super().__init__()
        self._binary = sys.executable
        self._masquerade = masquerade
        self.files = self.folder / "files"
        self.files.mkdir()

    def command(self) -> list[str]:
        words = [LOOPBACK, str(self.port), self.user, self.password, str(self.files)]
        return ["-W", "ignore", "-c", PROGRAM, *words, self._masquerade]

    def url(self, path: str = "", host: str = LOOPBACK, password: str | None = None) -> str:
        """Where a client finds a file."""
        secret = quote(self.password if password is None else password, safe="")
        return f"ftp://{self.user}:{secret}@{host}:{self.port}/{quote(path)}"
