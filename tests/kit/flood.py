"""A server whose bodies never end, and come as fast as they are taken."""

import socket

from tests.kit.scripted import ScriptedServer

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"
PIECE = bytes(64 * 1024)


class FloodServer(ScriptedServer):
    def __init__(self) -> None:
        super().__init__(self._send_endlessly)

    @property
    def connections(self) -> int:
        return len(self._threads) - 1  # one accepts

    def _send_endlessly(self, connection: socket.socket) -> None:
        """Send until the client closes the connection. Nothing is buffered in this process."""
        connection.recv(64 * 1024)
        connection.sendall(HEAD)
        while True:
            connection.sendall(PIECE)
