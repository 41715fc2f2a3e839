"""A real PostgreSQL server of one's own: private folder, port and password, gone when closed.

Nothing here touches a server that the machine runs already.
"""

import atexit
import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, NoReturn, Self

import psycopg
import pytest
from psycopg import sql

from tests.kit.ports import LOOPBACK, free_port

StopMode = Literal["smart", "fast", "immediate"]

SUPERUSER = "headgate"
OUR_NAME = "headgate tests"
"""By this name of an application, connections of the tests themselves are known."""
WAIT_S = 30.0
SIGNALS: Mapping[StopMode, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}
COMMON = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
HASTY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresMissing(RuntimeError):
    """PostgreSQL is not installed; `make services` installs it."""


class PostgresFailed(RuntimeError):
    """The server did not do as told; the message carries the end of its log."""


class Account(NamedTuple):
    uid: int
    gid: int


def find_binaries() -> Path:
    """The folder with `initdb` and `postgres`, of the newest version installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version_of, reverse=True)
    on_path = shutil.which("initdb")
    folders = [*debian, *([Path(on_path).resolve().parent] if on_path else [])]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise PostgresMissing(PostgresMissing.__doc__)


def version_of(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", folder.parent.name))


def skip_or_fail(missing: PostgresMissing) -> NoReturn:
    """A laptop may go without PostgreSQL; CI may not."""
    if os.environ.get("CI") == "true":
        pytest.fail(str(missing), pytrace=False)
    pytest.skip(str(missing))


def unprivileged_account() -> Account | None:
    """Whom to run the server as: PostgreSQL refuses root. None: as ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid)
    raise PostgresMissing("No account to run PostgreSQL as: neither postgres nor nobody.")


class PostgresServer:
    """One server over one data folder. It keeps its port and its data over `stop` and `start`.

    By default it forgets what a power cut would lose, which makes tests fast; `durable=True`
    writes as a production server does, for benchmarks.
    """

    def __init__(self, *, durable: bool = False, settings: Mapping[str, str] | None = None) -> None:
        self._binaries = find_binaries()
        self._account = unprivileged_account()
        self._settings = {**COMMON, **(DURABLE if durable else HASTY), **(settings or {})}
        self._password = secrets.token_urlsafe(16)
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._creator = os.getpid()
        self._own: psycopg.Connection | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Return once the server takes connections."""
        if self._process is not None:
            raise PostgresFailed("The server runs already.")
        folder = self._folder or self._initialise()
        # The first start may choose again; a later one must find its port where it was.
        ports = [self.port] if self.port else [free_port() for _ in range(5)]
        for self.port in ports:
            if self._launch(folder):
                return
        raise PostgresFailed(f"Somebody else has the port.\n{self.log_tail()}")

    def stop(self, mode: StopMode = "fast") -> None:
        """Return once the server is gone. `immediate` leaves it to recover, as after a crash."""
        if self._process is None:
            return
        if self._own is not None:
            self._own.close()
        process, self._process = self._process, None
        process.send_signal(SIGNALS[mode])
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait(WAIT_S)
            raise PostgresFailed(f"A {mode} stop did not end.\n{self.log_tail()}") from None

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def close(self) -> None:
        """Stop, and delete the data."""
        atexit.unregister(self.close)
        if os.getpid() != self._creator:
            return  # a forked copy of this object owns nothing
        self.stop("immediate")
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{SUPERUSER}:{self._password}@{LOOPBACK}:{self.port}/{database}"

    def create_database(self, *, template: str = "template0") -> str:
        """The name of a new database, a copy of the template."""
        name = f"test_{secrets.token_hex(8)}"
        self._administer("CREATE DATABASE {} TEMPLATE {}", name, template)
        return name

    def drop_database(self, name: str) -> None:
        """Drop the database and cut off its connections."""
        self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def assert_unused(self, database: str, *, patience_s: float = WAIT_S) -> None:
        """Fail if a connection was left open. The backend of a killed client may take a moment."""
        deadline = time.monotonic() + patience_s
        while left := self._connections(database):
            if time.monotonic() > deadline:
                raise AssertionError(f"connections left open: {left}")
            time.sleep(0.02)

    def log_tail(self, lines: int = 20) -> str:
        if self._folder is None:
            return ""
        log = self._folder / "server.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])

    def _initialise(self) -> Path:
        """Not under pytest's own temporary folder: that one is closed to other accounts."""
        folder = Path(tempfile.mkdtemp(prefix="headgate-pg-"))
        self._folder = folder
        atexit.register(self.close)
        secret = folder / "password"
        secret.write_text(self._password)
        (folder / "server.log").touch()
        if self._account:
            for path in (folder, secret):
                os.chown(path, *self._account)
        self._run_initdb(folder, secret)
        return folder

    def _run_initdb(self, folder: Path, secret: Path) -> None:
        # A SCRAM handshake takes 2 ms of CPU, and the tests make tens of thousands of connections.
        words = [f"--pgdata={folder / 'data'}", f"--username={SUPERUSER}", f"--pwfile={secret}"]
        words += ["--auth=md5", "--encoding=UTF8", "--no-locale", "--no-sync"]
        process = self._spawn([str(self._binaries / "initdb"), *words], folder)
        if process.wait(WAIT_S * 2) != 0:
            raise PostgresFailed(f"initdb failed.\n{self.log_tail()}")

    def _launch(self, folder: Path) -> bool:
        """Start and wait until ready; False if another process took the port in between."""
        settings = {**self._settings, "port": str(self.port)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        words = [str(self._binaries / "postgres"), "-D", str(folder / "data"), *options]
        process = self._spawn(words, folder)
        deadline = time.monotonic() + WAIT_S
        while not is_ready(folder / "data" / "postmaster.pid", process.pid):
            if process.poll() is not None:
                if "could not create any TCP/IP sockets" in self.log_tail():
                    return False
                raise PostgresFailed(f"The server did not start.\n{self.log_tail()}")
            if time.monotonic() > deadline:
                process.send_signal(signal.SIGQUIT)
                process.wait(WAIT_S)
                raise PostgresFailed(f"The server is not ready.\n{self.log_tail()}")
            time.sleep(0.01)
        self._process = process
        return True

    def _spawn(self, words: list[str], folder: Path) -> subprocess.Popen[bytes]:
        """In a session of its own, so that Ctrl-C at the test run does not reach the server."""
        account = self._account
        with (folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
                start_new_session=True,
                umask=0o077,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )

    def _administer(self, statement: str, *names: str) -> None:
        query = sql.SQL(statement).format(*(sql.Identifier(name) for name in names))
        self._connection().execute(query)

    def _connections(self, database: str) -> list[str]:
        query = "SELECT concat_ws(' ', pid, state, query) FROM pg_stat_activity "
        query += "WHERE datname = %s AND backend_type = 'client backend' AND application_name != %s"
        return [row[0] for row in self._connection().execute(query, [database, OUR_NAME])]

    def _connection(self) -> psycopg.Connection:
        """Kept open: to connect takes longer than most of what is asked."""
        if self._own is None or self._own.closed:
            self._own = psycopg.connect(self.url(), autocommit=True)
        return self._own


def is_ready(pid_file: Path, pid: int) -> bool:
    """The eighth line of the lock file says so; the file of an earlier server does not count."""
    try:
        lines = pid_file.read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"
