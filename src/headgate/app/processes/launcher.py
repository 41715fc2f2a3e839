"""Start worker processes; they are spawned, never forked with an open connection."""

import os
import subprocess
import sys
from contextlib import suppress

import msgspec

from headgate.app.processes.control_pipe import STOP, STOP_NOW, signals_blocked
from headgate.app.settings import Settings
from headgate.ports.launcher import WorkerOrder, WorkerReport

WORKER_MODULE = "headgate.app.processes.worker"


class WorkerConfig(msgspec.Struct, frozen=True):
    order: WorkerOrder
    settings: Settings


class SpawnedWorker:
    def __init__(self, process: subprocess.Popen[bytes], report_fd: int) -> None:
        self._process = process
        self._report_fd = report_fd
        self._unread = b""
        self.pid = process.pid
        os.set_blocking(report_fd, False)

    def poll(self) -> int | None:
        return self._process.poll()

    def reports(self) -> list[WorkerReport]:
        with suppress(BlockingIOError):
            while chunk := os.read(self._report_fd, 65_536):
                self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        return [msgspec.json.decode(line, type=WorkerReport) for line in lines]

    def stop(self, *, now: bool) -> None:
        control_pipe = self._process.stdin
        if control_pipe is not None:
            with suppress(BrokenPipeError):
                control_pipe.write(STOP_NOW if now else STOP)
                control_pipe.flush()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        os.close(self._report_fd)


class ProcessLauncher:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def launch(self, order: WorkerOrder, board_fd: int) -> SpawnedWorker:
        report_fd, child_fd = os.pipe()
        counted = [order.errors.fd] if order.errors else []
        with signals_blocked():
            process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                [sys.executable, "-P", "-m", WORKER_MODULE, str(board_fd), str(child_fd)],
                stdin=subprocess.PIPE,
                # Output of handlers must not mix with our own.
                stdout=sys.stderr.fileno(),
                pass_fds=(board_fd, child_fd, *counted),
            )
        os.close(child_fd)
        worker = SpawnedWorker(process, report_fd)
        config = msgspec.json.encode(WorkerConfig(order, self._settings))
        if process.stdin is not None:
            process.stdin.write(config + b"\n")
            process.stdin.flush()
        return worker
