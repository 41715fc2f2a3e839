"""A price service with queries by number or by name.

    python service.py PORT_FILE

It listens on a free port of the loopback address and writes that port into PORT_FILE.
SIGTERM ends it. Standard library only.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PRODUCTS = [
    {"sku": "A-1", "name": "apple", "price": 0.4, "currency": "EUR"},
    {"sku": "A-2", "name": "pear", "price": 0.6, "currency": "EUR"},
    {"sku": "A-3", "name": "quince", "price": 1.2, "currency": "EUR"},
    {"sku": "A-4", "name": "müsli & more", "price": 3.9, "currency": "EUR"},
]


class Request(BaseHTTPRequestHandler):
    """Answers with the products that have the requested number and name."""

    def do_GET(self) -> None:
        wanted = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        found = [each for each in PRODUCTS if wanted.items() <= each.items()]
        body = json.dumps({"products": found}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
    server.daemon_threads = True
    Path(sys.argv[1]).write_text(f"{server.server_port}\n", encoding="ascii")
    server.serve_forever()
