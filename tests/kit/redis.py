"""A real Redis server of one's own."""

import secrets
import time

from redis import Redis

from tests.kit.ports import LOOPBACK
from tests.kit.service import WAIT_S, Service


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

    def empty(self) -> None:
        """Back to how it began."""
        with Redis.from_url(self.url()) as client:
            client.flushall()

    def assert_unused(self, *, patience_s: float = WAIT_S) -> None:
        """Fail if a connection was left open. That of a killed client may take a moment."""
        deadline = time.monotonic() + patience_s
        with Redis.from_url(self.url()) as client:
            while len(left := client.client_list()) > 1:
                if time.monotonic() > deadline:
                    raise AssertionError(f"connections left open: {left}")
                time.sleep(0.02)
