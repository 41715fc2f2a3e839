"""A server that does with each connection what a test tells it to."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.kit.ports import LOOPBACK

Script = Callable[[socket.socket], object]
WAIT_S = 30.0


class ScriptedServer:
    """Hands every connection to the script, in a thread of its own, and closes it then."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self.over = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._begin(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(WAIT_S)

    def url(self, path: str = "", scheme: str = "http", host: str = LOOPBACK) -> str:
        """Where a client finds it."""
        return f"{scheme}://{host}:{self.port}/{path}"

    def _begin(self, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._begin(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(WAIT_S)
            self._script(connection)


def silent(server_over: threading.Event) -> Script:
    """Takes a connection and says nothing."""
    return lambda _connection: server_over.wait(WAIT_S)


def head_of(connection: socket.socket) -> str:
    """What a client asked for over HTTP."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65_536)
        if not piece:
            break
        head += piece
    return head.decode("latin-1")


def answer(status: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    """An HTTP answer, with the length of its body unless another one is stated."""
    stated = {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in stated.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body
