"""Files over FTP, plain or with TLS; fsspec parses the listings.

fsspec connects by name and does not verify TLS, so both are done here. Data connections go to
the address of the control connection; the one that a server sends is ignored (as in ftplib).
"""

import ftplib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from fsspec.implementations.ftp import FTPFileSystem  # type: ignore[import-untyped]

from headgate.ports.source import FoundFile
from headgate.transfer.places.address import SourceAddress, is_plain, parse_address, plain_name
from headgate.transfer.places.driver import BLOCK, KeptCopy, Opening, start_of
from headgate.transfer.places.place import too_many
from headgate.transfer.places.sockets import GuardedSockets

IMPLICIT_TLS_PORT = 990
"""Port where TLS begins with the connection; on other ports AUTH TLS is sent."""


class FtpDriver:
    """Reads from an FTP server, with one login for each request."""

    def __init__(self, dialer: GuardedSockets) -> None:
        self._dialer = dialer

    def find(self, url: str) -> FoundFile:
        address = parse_address(url)
        with _as_os_errors(), self._session(address) as session:
            return _found(address, session)

    def files(self, url: str) -> Iterator[FoundFile]:
        address = parse_address(url)
        with _as_os_errors(), self._session(address) as session:
            for facts in session.ls(address.path):
                name = facts["name"].rpartition("/")[2]
                if facts["type"] == "file" and is_plain(name) and _complete(session.ftp, facts):
                    yield _from_facts(address.inside(name), facts)

    @contextmanager
    def open(self, url: str, kept: KeptCopy) -> Iterator[Opening]:
        address = parse_address(url)

        def version_now() -> str:
            return self.find(url).version

        with _as_os_errors(), self._session(address) as session:
            found = _found(address, session)
            offset = start_of(found, kept)
            if offset == found.size:
                yield Opening(found, offset, iter(()), version_now)
                return
            session.ftp.voidcmd("TYPE I")
            offset, connection = _retrieved(session.ftp, address.path, offset)
            with connection:
                yield Opening(found, offset, _pieces(session.ftp, connection), version_now)

    @contextmanager
    def _session(self, address: SourceAddress) -> Iterator["_Session"]:
        session = _Session(self._dialer, address)
        try:
            session.login()
            yield session
        finally:
            session.ftp.close()


class _Session(FTPFileSystem):  # type: ignore[misc]
    """fsspec's FTP client over a guarded connection."""

    def __init__(self, dialer: GuardedSockets, address: SourceAddress) -> None:
        self.ftp = _connection(dialer, address)
        super().__init__(
            address.host,
            username=address.user or "anonymous",
            password=address.password,
            use_listings_cache=False,
        )

    def login(self) -> None:
        """Connect and log in; with TLS, the data connections are encrypted, too."""
        self.ftp.connect(self.host, self.port)
        self.ftp.login(*self.cred)
        if isinstance(self.ftp, ftplib.FTP_TLS):
            self.ftp.prot_p()

    def _connect(self) -> None:
        """Do nothing yet: the session must exist before it connects, so that it can be closed."""


class _Dialed(ftplib.FTP):
    """FTP over guarded sockets."""

    dialer: GuardedSockets
    address: SourceAddress
    data: socket.socket | None = None
    """GuardedSockets' handle of the data connection."""

    def connect(self, *_: Any, **__: Any) -> str:
        self.host, self.port = self.address.host, self.address.port
        self.timeout = self.dialer.settings.read_s
        self.sock = self._control()
        self.af = self.sock.family
        self.file = self.sock.makefile("r", encoding=self.encoding)
        self.welcome = self.getresp()
        return self.welcome

    def retrlines(self, cmd: str, callback: Callable[[str], object] | None = None) -> str:
        """Lines of a listing, up to `max_files`."""
        most = self.dialer.settings.max_files
        count = 0

        def counted(line: str) -> None:
            nonlocal count
            count += 1
            if count > most + 2:  # `.` and `..` may be among them
                raise too_many(most)
            if callback is not None:
                callback(line)

        return super().retrlines(cmd, counted)

    def ntransfercmd(
        self, cmd: str, rest: int | str | None = None
    ) -> tuple[socket.socket, int | None]:
        """A data connection with the control connection's time limit."""
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321 (as asked for)
        self.data = self.dialer.keep(connection)
        return connection, size

    def voidresp(self) -> str:
        """The final reply to a transfer, whose data connection is closed by now."""
        if self.data is not None:
            self.dialer.let_go(self.data)
            self.data = None
        return super().voidresp()

    def _control(self) -> socket.socket:
        return self.dialer.dial(self.address.host, self.address.port)


class _DialedTls(_Dialed, ftplib.FTP_TLS):
    """FTP over TLS and guarded sockets."""

    def _control(self) -> socket.socket:
        connection = super()._control()
        if self.address.port == IMPLICIT_TLS_PORT:
            return self.context.wrap_socket(connection, server_hostname=self.address.host)
        return connection

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int]:
        """A data connection in the same TLS session, as many servers require."""
        connection, size = _Dialed.ntransfercmd(self, cmd, rest)
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        secured = self.context.wrap_socket(
            connection, server_hostname=self.address.host, session=session
        )
        return secured, size or 0


def _connection(dialer: GuardedSockets, address: SourceAddress) -> ftplib.FTP:
    if address.scheme == "ftps":
        secured = _DialedTls(context=dialer.tls())
        secured.dialer, secured.address = dialer, address
        return secured
    plain = _Dialed()
    plain.dialer, plain.address = dialer, address
    return plain


def _found(address: SourceAddress, session: _Session) -> FoundFile:
    try:
        facts = session.info(address.path)
    except FileNotFoundError:
        # The folder may be unreadable or hide the file; the file itself can still be read.
        facts = {"name": address.path, "type": "file", "unix.mode": "l"}
        if not _complete(session.ftp, facts):
            raise
    if facts["type"] != "file" or not _complete(session.ftp, facts):
        raise IsADirectoryError
    return _from_facts(address.url, facts)


def _complete(ftp: ftplib.FTP, facts: dict[str, Any]) -> bool:
    """Get the facts that a Unix listing lacks; False if the entry is not a file.

    Such a listing has times to the minute, and after half a year to the day: the same file
    would get another version. For a link it has the length of the target's name.
    """
    if "unix.mode" not in facts or _moment(str(facts.get("modify", ""))) is not None:
        return True
    path = facts["name"]
    facts["modify"] = _reply_to(ftp, f"MDTM {path}")
    if facts["unix.mode"].startswith("l"):
        ftp.voidcmd("TYPE I")
        size = _reply_to(ftp, f"SIZE {path}")
        facts["size"] = size
        return bool(size)
    return True


def _reply_to(ftp: ftplib.FTP, command: str) -> str:
    """The reply to a command that not every server supports; empty if it does not."""
    try:
        return ftp.sendcmd(command)[4:].strip()
    except ftplib.error_perm:
        return ""


def _from_facts(url: str, facts: dict[str, Any]) -> FoundFile:
    modify, size = str(facts.get("modify", "")), int(facts["size"])
    return FoundFile(url, plain_name(facts["name"]), size, f"{modify}-{size}", _moment(modify))


def _moment(modify: str) -> int | None:
    """UTC microseconds of an MLSD time; None for the inexact time of a Unix listing."""
    try:
        moment = datetime.strptime(modify[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000


def _retrieved(ftp: ftplib.FTP, path: str, offset: int) -> tuple[int, socket.socket]:
    if offset:
        try:
            return offset, ftp.transfercmd(f"RETR {path}", offset)
        except ftplib.error_perm as error:
            if _code(error) not in {"500", "501", "502", "504"}:
                raise
    # A server that cannot resume starts from the beginning.
    return 0, ftp.transfercmd(f"RETR {path}")


def _pieces(ftp: ftplib.FTP, connection: socket.socket) -> Iterator[bytes]:
    while piece := connection.recv(BLOCK):
        yield piece
    connection.close()
    ftp.voidresp()


def _code(error: Exception) -> str:
    return str(error)[:3]


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except ftplib.error_perm as error:
        raise _denial(_code(error)) from None
    except ftplib.Error as error:
        raise ConnectionError(f"the server answered {_code(error)}") from None
    except EOFError:
        raise ConnectionError("the server closed the connection") from None
    except UnicodeError:
        raise ConnectionError("the server's reply is not valid UTF-8") from None


def _denial(code: str) -> OSError:
    if code in {"530", "532", "331", "332"}:
        return PermissionError("the server did not accept the user name and password")
    if code == "550":
        return FileNotFoundError()
    return ConnectionError(f"the server answered {code}")
