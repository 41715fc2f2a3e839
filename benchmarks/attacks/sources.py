"""Sources that come a byte at a time, and never to an end."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

from benchmarks.attacks.attack import Attack, Signals, Where, answer_of

COUNT = 10
EVERY_S = 0.5
SETTINGS = {"PLACES__ALLOW_PRIVATE": "true"}
FACTS = b"type=file;size=100000;modify=20250101000000; a.csv\r\n"
LOOPBACK = "127.0.0.1"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nid\n"


def http(where: Where, signals: Signals) -> None:
    """Jobs over ten slow sources; each that has failed is asked for again."""
    _keep_asking(where, signals, "/api/jobs", _http, "http")


def ftp_previews(where: Where, signals: Signals) -> None:
    """Previews of ten slow sources over FTP, again and again."""
    _keep_asking(where, signals, "/api/preview", _ftp, "ftp")


def _keep_asking(where: Where, signals: Signals, path: str, serve: object, scheme: str) -> None:
    with socket.create_server((LOOPBACK, 0), backlog=64) as listener:
        port = listener.getsockname()[1]
        url = f"{scheme}://{LOOPBACK}:{port}/a.csv"
        _begin(_accept, listener, serve, signals)
        body = json.dumps({"handler": "bench.noop", "source": url}).encode()
        kind, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
        head = where.head(f"POST {path}", kind, length, "Connection: close")

        def ask() -> None:
            while not signals.stop.is_set():
                with contextlib.suppress(OSError), where.connect() as connection:
                    connection.sendall(head + body)
                    signals.begun.set()
                    answer_of(connection)
                signals.stop.wait(EVERY_S)

        threads = [_begin(ask) for _ in range(2 if where.smoke else COUNT)]
        signals.stop.wait()
        for thread in threads:
            thread.join(1.0)


def _begin(work: object, *words: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=words, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def _accept(listener: socket.socket, serve: object, signals: Signals) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # it was closed: the attack is over
        _begin(serve, connection, signals)


def _http(connection: socket.socket, signals: Signals) -> None:
    with connection, contextlib.suppress(OSError):
        connection.recv(65_536)
        connection.sendall(HEAD)
        _trickle(connection, signals)


def _ftp(control: socket.socket, signals: Signals) -> None:
    answers = {"USER": "331 ok", "PASS": "230 ok", "TYPE": "200 ok"}
    with control, contextlib.suppress(OSError):
        control.sendall(b"220 hello\r\n")
        for line in control.makefile("r", encoding="utf-8", newline="\r\n"):
            verb = line.split(" ")[0].strip().upper()
            if verb == "PASV":
                listener = socket.create_server((LOOPBACK, 0))
                high, low = divmod(listener.getsockname()[1], 256)
                control.sendall(f"227 here (127,0,0,1,{high},{low})\r\n".encode())
            elif verb in {"MLSD", "RETR"}:
                control.sendall(b"150 here it comes\r\n")
                with listener, listener.accept()[0] as data:
                    if verb == "MLSD":
                        data.sendall(FACTS)
                    else:
                        _trickle(data, signals)
                control.sendall(b"226 done\r\n")
            else:
                control.sendall(f"{answers.get(verb, '502 not known')}\r\n".encode())


def _trickle(connection: socket.socket, signals: Signals) -> None:
    while not signals.stop.wait(EVERY_S):
        connection.sendall(b"x")


ATTACKS = (
    Attack("sources-slow", "SH4", http, SETTINGS),
    Attack("sources-ftp", "SM9", ftp_previews, SETTINGS),
)
