"""Files over SFTP, with paramiko.

fsspec's SFTP trusts any host key, connects by name, and reads one block at a time.
"""

import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

import paramiko

from headgate.core.errors import BadSource
from headgate.ports.source import FoundFile
from headgate.transfer.places.address import SourceAddress, is_plain, parse_address, plain_name
from headgate.transfer.places.driver import BLOCK, KeptCopy, Opening, start_of
from headgate.transfer.places.sockets import GuardedSockets

LARGEST_REQUEST = 255 * 1024
"""Bytes per read request: the most that OpenSSH answers; other servers send less and get
another request. There is one request at a time: paramiko's read-ahead keeps everything it
has read in memory, without a bound.
"""


class SftpDriver:
    """Reads from an SSH server, with one login for each request."""

    def __init__(self, dialer: GuardedSockets) -> None:
        self._dialer = dialer

    def find(self, url: str) -> FoundFile:
        address = parse_address(url)
        with self._session(address) as session:
            return _found(url, session.stat(_path(address)))

    def files(self, url: str) -> Iterator[FoundFile]:
        """The files of a folder, including the targets of its links."""
        address = parse_address(url)
        folder = _path(address)
        with self._session(address) as session:
            if not stat.S_ISDIR(session.stat(folder).st_mode or 0):
                raise NotADirectoryError
            for entry in session.listdir_iter(folder):
                what = _followed(session, folder, entry)
                if is_plain(entry.filename) and what and stat.S_ISREG(what.st_mode or 0):
                    yield _found(address.inside(entry.filename), what)

    @contextmanager
    def open(self, url: str, kept: KeptCopy) -> Iterator[Opening]:
        address = parse_address(url)

        def version_now() -> str:
            return self.find(url).version

        with (
            self._session(address) as session,
            session.open(_path(address), "rb") as file,
        ):
            found = _found(url, file.stat())
            offset = start_of(found, kept)
            file.MAX_REQUEST_SIZE = LARGEST_REQUEST
            file.seek(offset)
            yield Opening(found, offset, iter(partial(file.read, BLOCK), b""), version_now)

    @contextmanager
    def _session(self, address: SourceAddress) -> Iterator[paramiko.SFTPClient]:
        settings = self._dialer.settings
        with _as_os_errors(address), paramiko.SSHClient() as client:
            client.set_missing_host_key_policy(_Fingerprints(settings.sftp_fingerprints))
            _load_known_hosts(client, settings.sftp_known_hosts)
            client.connect(
                address.host,
                address.port,
                address.user or None,
                address.password or None,
                key_filename=None if address.password else settings.sftp_key_file or None,
                look_for_keys=False,
                allow_agent=False,
                sock=self._dialer.dial(address.host, address.port),
                timeout=settings.connect_s,
                banner_timeout=settings.read_s,
                auth_timeout=settings.read_s,
                channel_timeout=settings.read_s,
            )
            with client.open_sftp() as session:
                channel = session.get_channel()
                if channel is not None:
                    channel.settimeout(settings.read_s)
                yield session


class _Fingerprints(paramiko.MissingHostKeyPolicy):
    """Trusts a host key without an entry in the file only by its fingerprint."""

    def __init__(self, trusted: tuple[str, ...]) -> None:
        self._trusted = {one.rstrip("=") for one in trusted}

    def missing_host_key(
        self, _client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        print_ = fingerprint_of(key)
        if print_ not in self._trusted:
            raise BadSource(
                f"the host key of {hostname} is not known: if {print_} is its fingerprint, add it"
                " to places.sftp_fingerprints or to the known hosts"
            )


def fingerprint_of(key: paramiko.PKey) -> str:
    """The fingerprint of a host key, as `ssh-keygen -l` shows it."""
    return "SHA256:" + b64encode(sha256(key.asbytes()).digest()).decode().rstrip("=")


def _load_known_hosts(client: paramiko.SSHClient, stated: str) -> None:
    file = Path(stated or "~/.ssh/known_hosts").expanduser()
    if not stated and not file.exists():
        return
    try:
        client.load_system_host_keys(str(file))
    except OSError as error:
        raise BadSource(f"places.sftp_known_hosts cannot be read: {error.strerror}") from None


def _path(address: SourceAddress) -> str:
    # As in scp and curl: /~/ is the folder where the login begins.
    home, path = address.path.startswith("/~/"), address.path
    return path.removeprefix("/~/") or "." if home else path


def _found(url: str, what: paramiko.SFTPAttributes) -> FoundFile:
    if stat.S_ISDIR(what.st_mode or 0):
        raise IsADirectoryError
    size, modified_s = what.st_size or 0, what.st_mtime or 0
    return FoundFile(
        url,
        plain_name(parse_address(url).path),
        size,
        f"{modified_s}-{size}",
        int(modified_s) * 1_000_000 or None,
    )


def _followed(
    session: paramiko.SFTPClient, folder: str, entry: paramiko.SFTPAttributes
) -> paramiko.SFTPAttributes | None:
    if not stat.S_ISLNK(entry.st_mode or 0):
        return entry
    try:
        return session.stat(f"{folder.rstrip('/')}/{entry.filename}")
    except OSError:
        return None  # a broken link


@contextmanager
def _as_os_errors(address: SourceAddress) -> Iterator[None]:
    try:
        yield
    except paramiko.BadHostKeyException:
        raise BadSource(
            f"the host key of {address.host} does not match the known one: this may be an attack"
            " (man in the middle), or the server was reinstalled"
        ) from None
    except paramiko.AuthenticationException:
        raise PermissionError("the server did not accept the login") from None
    except paramiko.SSHException as error:
        raise ConnectionError(_words(error)) from None
    except EOFError:
        raise ConnectionError("the server closed the connection") from None


def _words(error: paramiko.SSHException) -> str:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, TimeoutError) or "imeout" in str(error):
        return "it did not answer in time"
    return "it broke the SSH protocol or closed the connection"
