"""A server whose bodies never end, and come as fast as they are taken."""

import socket
import threading
from types import TracebackType
from typing import Self

from tests.kit.ports import LOOPBACK

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"
PIECE = bytes(64 * 1024)


class Flood:
    """One thread for each connection: none of it buffers anything in our memory."""

    def __init__(self) -> None:
        self._listener = socket.create_server((LOOPBACK, 0), backlog=256)
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._accept)
        self.connections = 0

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Closing alone would not wake who waits for a connection.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        for thread in self._threads:
            thread.join()

    @property
    def url(self) -> str:
        """Where a client finds it."""
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}/"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._pour, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _pour(self, connection: socket.socket) -> None:
        """Until the client has had enough."""
        with connection:
            try:
                connection.recv(64 * 1024)
                connection.sendall(HEAD)
                while True:
                    connection.sendall(PIECE)
            except OSError:
                return
