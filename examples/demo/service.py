"""A price service with a strict limit, for `make demo`.

    python service.py PORT_FILE

It listens on a free port of the loopback address and writes that port into PORT_FILE. It answers

    200  with a price
    404  for products that it does not know (every 25th)
    429  with Retry-After beyond LIMIT requests a second
    500  once for every 40th product, and always for three products until SIGUSR1

SIGTERM ends it. Standard library only.
"""

import json
import signal
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType

LIMIT = 120
"""Requests per second."""
BURST = 20
"""Requests that are allowed at the same time after a pause."""
LATENCY_S = 0.03
BROKEN = {501, 1001, 1501}


class Bucket:
    """A token bucket."""

    def __init__(self, rate: float, size: float) -> None:
        self._rate = rate
        self._size = size
        self._tokens = size
        self._filled_s = time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            now_s = time.monotonic()
            gained = (now_s - self._filled_s) * self._rate
            self._tokens = min(self._tokens + gained, self._size)
            self._filled_s = now_s
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


class Prices:
    """The answers, and the products that still fail."""

    def __init__(self) -> None:
        self.bucket = Bucket(LIMIT, BURST)
        self._shaky = {number for number in range(40, 4_000, 40) if number % 25}
        self._broken = set(BROKEN)

    def repair(self) -> None:
        self._broken.clear()

    def answer(self, path: str) -> tuple[HTTPStatus, dict[str, object]]:
        if not self.bucket.take():
            return HTTPStatus.TOO_MANY_REQUESTS, {"error": f"at most {LIMIT} requests a second"}
        number = _number_in(path)
        if number is None:
            return HTTPStatus.NOT_FOUND, {"error": "ask for /prices/P-0001"}
        if number in self._broken:
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "this price is in a broken table"}
        if number in self._shaky:
            self._shaky.discard(number)
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "try again"}
        if number % 25 == 0:
            return HTTPStatus.NOT_FOUND, {"error": "no such product"}
        return HTTPStatus.OK, {"price": round(0.5 + number * 7 % 1_000 / 10, 2), "currency": "EUR"}


def _number_in(path: str) -> int | None:
    name = path.removeprefix("/prices/P-")
    return int(name) if name != path and name.isdecimal() else None


class Server(ThreadingHTTPServer):
    """Shares the prices between all requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.prices = Prices()


class Request(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server

    def do_GET(self) -> None:
        time.sleep(LATENCY_S)
        status, body = self.server.prices.answer(self.path)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Print nothing between the output of the demo."""


def main() -> None:
    """Serve until SIGTERM."""
    server = Server()

    def repair(_signal: int, _frame: FrameType | None) -> None:
        server.prices.repair()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit

    signal.signal(signal.SIGUSR1, repair)
    signal.signal(signal.SIGTERM, stop)
    # Ctrl-C reaches all processes of the terminal; the demo ends this one by its id.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Path(sys.argv[1]).write_text(f"{server.server_port}\n", encoding="ascii")
    server.serve_forever()


if __name__ == "__main__":
    main()
