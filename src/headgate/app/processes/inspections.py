"""Inspects files in child processes, so that parsing never holds up the API's event loop."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

from headgate.app.processes.children import STARTING
from headgate.app.processes.control_pipe import signals_blocked
from headgate.app.processes.inspection_main import Inspected, InspectionOrder, Reply
from headgate.core.errors import BadSource, WorkerFailed, WrongEncoding
from headgate.engine.process import cause_of_exit
from headgate.transfer.formats.reader_messages import LENGTH
from headgate.transfer.inspection import Inspection
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions

MODULE = "headgate.app.processes.inspection_main"
NICENESS = 10
"""How far these processes stand back when processors are short: requests come first."""
IDLE_S = 60.0
"""Seconds after which a process without work is ended."""
GRACE_S = 30.0
"""Seconds beyond `limits.max_look_s` after which a process is killed: it also has to start."""

_decode = msgspec.json.Decoder(Reply).decode


class InspectionProcess:
    """One child process. It leads its own process group, which holds the readers it starts."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self.idle_timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls) -> "InspectionProcess":
        async with STARTING:
            with signals_blocked():
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",
                    "-m",
                    MODULE,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        return cls(process)

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None and not self._output.at_eof()

    async def ask(self, order: InspectionOrder) -> Reply:
        """Return the reply to an order. Raises WorkerFailed if the process ends meanwhile."""
        try:
            stdin = cast("asyncio.StreamWriter", self._process.stdin)
            stdin.write(msgspec.json.encode(order) + b"\n")
            await stdin.drain()
            (size,) = LENGTH.unpack(await self._output.readexactly(LENGTH.size))
            data = await self._output.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError, RuntimeError) as error:
            # uvloop raises RuntimeError if the process closed its input before this order came.
            self._kill_group()
            cause = cause_of_exit(await self._process.wait())
            raise WorkerFailed(
                f"the process that was reading {Path(order.path).name} ended ({cause}); try again,"
                " and split the file if it happens again"
            ) from error
        reply: Reply = _decode(data)
        return reply

    def kill(self) -> None:
        if self.idle_timer is not None:
            self.idle_timer.cancel()
        if self._process.returncode is None:  # later, its number may be another's
            self._kill_group()

    async def wait(self) -> None:
        await self._process.wait()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def _output(self) -> asyncio.StreamReader:
        return cast("asyncio.StreamReader", self._process.stdout)


class Inspections:
    """Starts a process when none is idle, and keeps it for the next file.

    The caller limits how many files are inspected at the same time.
    """

    def __init__(self) -> None:
        self._idle: list[InspectionProcess] = []
        self._busy: set[InspectionProcess] = set()
        self._ending: set[asyncio.Task[None]] = set()

    async def inspect(self, path: Path, options: ReadOptions, limits: Limits) -> Inspection:
        """Read the beginning of a file. Raises BadSource, or WorkerFailed if its process ends."""
        process = self._idle_process() or await InspectionProcess.start()
        self._busy.add(process)
        try:
            async with asyncio.timeout(limits.max_look_s + GRACE_S):
                reply = await process.ask(InspectionOrder(str(path), options, limits))
        except TimeoutError:
            self._end(process)
            raise BadSource(
                f"{path.name} took longer than {limits.max_look_s:g} s to read: split it"
            ) from None
        except BaseException:
            self._end(process)
            raise
        finally:
            self._busy.discard(process)
        self._keep(process)
        if isinstance(reply, Inspected):
            return reply.found
        if reply.wrong_encoding:
            raise WrongEncoding(reply.reason, reply.fits)
        raise BadSource(reply.reason)

    async def stop(self) -> None:
        processes = [*self._idle, *self._busy]
        self._idle.clear()
        for each in processes:
            self._end(each)
        while self._ending:
            await asyncio.wait(self._ending)

    def _idle_process(self) -> InspectionProcess | None:
        while self._idle:
            process = self._idle.pop()
            if process.idle_timer is not None:
                process.idle_timer.cancel()
            if process.is_alive:
                return process
            self._end(process)
        return None

    def _keep(self, process: InspectionProcess) -> None:
        self._idle.append(process)
        loop = asyncio.get_running_loop()
        process.idle_timer = loop.call_later(IDLE_S, self._end_idle, process)

    def _end_idle(self, process: InspectionProcess) -> None:
        self._idle.remove(process)
        self._end(process)

    def _end(self, process: InspectionProcess) -> None:
        """Kill a process; `stop` waits until the system has told of its end."""
        process.kill()
        task = asyncio.ensure_future(process.wait())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
