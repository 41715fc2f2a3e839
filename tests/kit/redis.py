"""A real Redis server of one's own."""

import secrets

from tests.kit.ports import LOOPBACK
from tests.kit.service import Service


class RedisServer(Service):
    """Closed to strangers. By default it forgets everything when it stops.

    `durable=True` writes every change to its log before it answers, as a careful operator would.
    """

    program = "redis-server"

    def __init__(self, *, durable: bool = False) -> None:
        super().__init__()
        self._password = secrets.token_hex(16)
        self._durable = durable

    def command(self) -> list[str]:
        words = ["--bind", LOOPBACK, "--port", str(self.port), "--dir", str(self.folder)]
        words += ["--requirepass", self._password, "--save", ""]
        if self._durable:
            words += ["--appendonly", "yes", "--appendfsync", "always"]
        return words

    def url(self, database: int = 0) -> str:
        """Where a client finds it."""
        return f"redis://:{self._password}@{LOOPBACK}:{self.port}/{database}"
