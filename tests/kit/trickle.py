"""Servers that send a byte now and then, and never come to an end."""

import socket
import threading
from types import TracebackType
from typing import Self

from tests.kit.ports import LOOPBACK
from tests.kit.scripted import ScriptedServer

EVERY_S = 0.02
FACTS = "type=file;size=100000;modify=20250101000000; a.csv\r\n"


class TrickleServer:
    """`a.csv` over HTTP or FTP, at a byte in 20 ms, on as many connections as are asked for."""

    def __init__(self, scheme: str = "http", *, slow_listing: bool = False) -> None:
        self._over = threading.Event()
        self._slow_listing = slow_listing
        self._scheme = scheme
        self.asked = 0
        """How many requests have been answered, or are being answered."""
        self._server = ScriptedServer(self._http if scheme == "http" else self._ftp)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.__exit__(kind, error, trace)

    @property
    def url(self) -> str:
        """Where the file is."""
        return f"{self._scheme}://{LOOPBACK}:{self._server.port}/a.csv"

    def _http(self, connection: socket.socket) -> None:
        connection.recv(65_536)
        self.asked += 1
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nid,name\n")
        self._trickle(connection)

    def _trickle(self, connection: socket.socket) -> None:
        try:
            while not self._over.wait(EVERY_S):
                connection.sendall(b"x")
        except OSError:
            return  # the client has left

    def _ftp(self, control: socket.socket) -> None:
        answers = {"USER": "331 ok", "PASS": "230 ok", "TYPE": "200 ok", "QUIT": "221 bye"}
        control.sendall(b"220 hello\r\n")
        words = control.makefile("r", encoding="utf-8", newline="\r\n")
        for line in words:
            verb = line.split(" ")[0].strip().upper()
            if verb == "EPSV":
                listener = socket.create_server((LOOPBACK, 0))
                port = listener.getsockname()[1]
                control.sendall(f"229 Entering ({'|' * 3}{port}|)\r\n".encode())
            elif verb == "PASV":
                listener = socket.create_server((LOOPBACK, 0))
                high, low = divmod(listener.getsockname()[1], 256)
                host = LOOPBACK.replace(".", ",")
                control.sendall(f"227 Entering ({host},{high},{low})\r\n".encode())
            elif verb in {"MLSD", "RETR"}:
                control.sendall(b"150 here it comes\r\n")
                self._data(listener, verb)
                control.sendall(b"226 done\r\n")
            else:
                control.sendall(f"{answers.get(verb, '502 not known')}\r\n".encode())

    def _data(self, listener: socket.socket, verb: str) -> None:
        with listener, listener.accept()[0] as data:
            self.asked += 1
            if verb == "MLSD" and not self._slow_listing:
                data.sendall(FACTS.encode())
            else:
                self._trickle(data)
