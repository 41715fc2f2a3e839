"""Real servers of one's own: a private folder and port, stopped by their pid, gone when closed.

Nothing here touches a server that the machine runs already.
"""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import psutil
import pytest

from tests.kit.ports import free_port

WAIT_S = 30.0
INSIST_S = 3.0
"""nginx forgets a signal that comes while it starts; it is sent again after so long."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


class ServiceMissing(RuntimeError):
    """A server program is not installed; `make services` installs it."""


class ServiceFailed(RuntimeError):
    """A server did not do as told; the message carries the end of its log."""


def find_program(name: str) -> str:
    """Where it is. Debian keeps servers where an ordinary account does not look."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])
    found = shutil.which(name, path=path)
    if found is None:
        raise ServiceMissing(f"{name} is not installed; `make services` installs it.")
    return found


def skip_or_fail(missing: ServiceMissing) -> NoReturn:
    """A laptop may go without a server; CI may not."""
    if os.environ.get("CI") == "true":
        pytest.fail(str(missing), pytrace=False)
    pytest.skip(str(missing))


def need(program: str) -> None:
    """Skip the test, or fail it in CI, where the program is not installed."""
    try:
        find_program(program)
    except ServiceMissing as missing:
        skip_or_fail(missing)


class Service:
    """One server over one folder. It keeps its port and its files over `stop` and `start`.

    A subclass writes what the server needs into the folder and names the command.
    """

    program: str

    def __init__(self) -> None:
        self._binary = self.find()
        self._process: subprocess.Popen[bytes] | None = None
        self._creator = os.getpid()
        self.port = 0
        self.folder = Path(tempfile.mkdtemp(prefix=f"headgate-{self.program}-"))
        atexit.register(self.close)

    @classmethod
    def find(cls) -> str:
        """The file that is started; ServiceMissing where it is not installed."""
        return find_program(cls.program)

    @classmethod
    def need(cls) -> None:
        """Skip the test, or fail it in CI, where the server is not installed."""
        try:
            cls.find()
        except ServiceMissing as missing:
            skip_or_fail(missing)

    def command(self) -> list[str]:
        """The words after the program's name, for the port that was chosen."""
        raise NotImplementedError

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
            raise ServiceFailed(f"{self.program} runs already.")
        # The first start may choose again; a later one must find its port where it was.
        ports = [self.port] if self.port else [free_port() for _ in range(5)]
        for self.port in ports:
            if self._launch():
                return
        raise ServiceFailed(f"{self.program} did not start.\n{self.log_tail()}")

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> None:
        """Return once the server is gone. SIGKILL gives it no time to save anything."""
        if self._process is None:
            return
        process, self._process = self._process, None
        children = psutil.Process(process.pid).children(recursive=True)
        deadline = time.monotonic() + WAIT_S
        try:
            while not _ended(process, sign):
                if time.monotonic() > deadline:
                    process.kill()
                    process.wait(WAIT_S)
                    raise ServiceFailed(f"{self.program} did not stop.\n{self.log_tail()}")
        finally:
            end(children)

    def restart(self, sign: signal.Signals = signal.SIGTERM) -> None:
        self.stop(sign)
        self.start()

    def send(self, sign: signal.Signals) -> None:
        """SIGSTOP and SIGCONT make it hang for a while."""
        if self._process is None:
            raise ServiceFailed(f"{self.program} does not run.")
        self._process.send_signal(sign)

    def close(self) -> None:
        """Stop, and delete the folder."""
        atexit.unregister(self.close)
        if os.getpid() != self._creator:
            return  # a forked copy of this object owns nothing
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log_tail(self, lines: int = 20) -> str:
        """The end of what it said."""
        log = self.folder / "server.log"
        if not log.exists():
            return ""
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])

    def _launch(self) -> bool:
        """Start and wait until it listens; False if it ended, such as for a port in use."""
        # In a session of its own, so that Ctrl-C at the test run does not reach the server.
        with (self.folder / "server.log").open("ab") as log:
            process = subprocess.Popen(
                [self._binary, *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        deadline = time.monotonic() + WAIT_S
        while not is_listening(process.pid, self.port):
            if process.poll() is not None:
                return False
            if time.monotonic() > deadline:
                process.kill()
                process.wait(WAIT_S)
                raise ServiceFailed(f"{self.program} is not ready.\n{self.log_tail()}")
            time.sleep(0.01)
        self._process = process
        return True


def is_listening(pid: int, port: int) -> bool:
    """Whether this very process has the port; a stranger on it does not count."""
    if not is_taken(port):  # far cheaper to ask, and asked many times while a server starts
        return False
    try:
        sockets = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.NoSuchProcess:
        return False
    return any(
        each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port
        for each in sockets
    )


def is_taken(port: int) -> bool:
    """Whether anybody listens on a port of this machine."""
    end = f":{port:04X}"
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split(maxsplit=4)
            if state == "0A" and local.endswith(end):
                return True
    return not Path("/proc/net/tcp").exists()


def end(processes: list[psutil.Process]) -> None:
    """What a killed server leaves behind."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, WAIT_S)


def _ended(process: subprocess.Popen[bytes], sign: signal.Signals) -> bool:
    process.send_signal(sign)
    # One that was made to hang would not hear of it.
    process.send_signal(signal.SIGCONT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(INSIST_S)
    return process.returncode is not None
