"""Servers whose files never end: at a byte now and then, or as fast as the client reads."""

import asyncio

from tests.kit.tcp_server import Listener, TcpServer, head_of, repeating

EVERY_S = 0.02
FACTS = "type=file;size=100000;modify=20250101000000; a.csv\r\n"
HEAD = "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"
FTP_REPLIES = {"USER": "331 ok", "PASS": "230 ok", "TYPE": "200 ok", "QUIT": "221 bye"}


class FloodServer(TcpServer):
    """Sends a body of 10 GB in pieces of 64 KB. Nothing is buffered in this process."""

    def __init__(self) -> None:
        head = HEAD.format(length=10_000_000_000).encode()
        super().__init__(repeating(bytes(64 * 1024), first=head))


class TrickleServer(TcpServer):
    """`a.csv` over HTTP or FTP, at one byte every `every_s` seconds."""

    def __init__(
        self, scheme: str = "http", *, every_s: float = EVERY_S, slow_listing: bool = False
    ) -> None:
        super().__init__(self._http if scheme == "http" else self._ftp)
        self._scheme = scheme
        self._every_s = every_s
        self._slow_listing = slow_listing
        self.asked = 0
        """Requests that have been answered, or are being answered."""

    @property
    def file_url(self) -> str:
        return self.url("/a.csv", scheme=self._scheme)

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        self.asked += 1
        first = HEAD.format(length=100_000).encode() + b"id,name\n"
        await repeating(b"x", self._every_s, first=first, after_request=False)(reader, writer)

    async def _ftp(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        verbs: asyncio.Queue[str] = asyncio.Queue()

        async def send(data: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            verb = await verbs.get()
            self.asked += 1
            if verb == "MLSD" and not self._slow_listing:
                target.write(FACTS.encode())
                await target.drain()
                verbs.task_done()
            else:
                await repeating(b"x", self._every_s, after_request=False)(data, target)

        async with Listener(send) as data:
            replies = {**FTP_REPLIES, **_passive(data.port)}
            writer.write(b"220 hello\r\n")
            while line := (await reader.readline()).decode():
                verb = line.split(" ")[0].strip().upper()
                if verb in {"MLSD", "RETR"}:
                    writer.write(b"150 here it comes\r\n")
                    verbs.put_nowait(verb)
                    await verbs.join()
                    writer.write(b"226 done\r\n")
                else:
                    writer.write(f"{replies.get(verb, '502 not known')}\r\n".encode())


def _passive(port: int) -> dict[str, str]:
    high, low = divmod(port, 256)
    return {
        "EPSV": f"229 Entering (|||{port}|)",
        "PASV": f"227 Entering (127,0,0,1,{high},{low})",
    }
