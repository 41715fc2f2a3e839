"""Child processes of the server: the supervisor of the workers, and the file worker."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

import msgspec

from headgate.app.loops import ALLOWED_S, LoopEnded, Loops, Sign
from headgate.app.processes.control_pipe import STOP, STOP_NOW, signals_blocked
from headgate.app.settings import Settings
from headgate.engine.process import cause_of_exit

STARTING = asyncio.Lock()
"""Held while a child starts: signal masks undone out of order would leave signals blocked."""


class ChildRole(NamedTuple):
    """A child process: its module, and the seconds that each of its loops may be silent."""

    name: str
    module: str
    loops: Mapping[str, float]


ROLES = (
    ChildRole("supervisor", "headgate.app.processes.supervisor", {"workers": ALLOWED_S}),
    ChildRole(
        "file worker",
        "headgate.app.processes.file_worker",
        {"files": ALLOWED_S, "clearing": 3_600.0},
    ),
)


class ChildProcess:
    PATIENCE_S = 40.0
    """Seconds that it may take to stop before it is killed: running items finish first."""

    def __init__(self, role: ChildRole, settings: Settings, loops: Loops) -> None:
        self.role = role
        self._config = msgspec.json.encode(settings) + b"\n"
        self._loops = loops
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False

    async def work(self, sign: Sign) -> None:
        """Run the process until it ends; a sign of any of its loops counts."""
        reading, writing = os.pipe()
        try:
            process = self._process = await self._start(writing)
            os.close(writing)
            writing = -1
            self._send(self._config)
            with self._reading_signs(reading, sign):
                code = await process.wait()
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)
        if self._stopping:
            await asyncio.get_running_loop().create_future()  # until this loop is stopped
        raise LoopEnded(f"its process ended ({cause_of_exit(code)})")

    async def _start(self, signs: int) -> asyncio.subprocess.Process:
        async with STARTING:
            with signals_blocked():
                return await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",
                    "-m",
                    self.role.module,
                    str(signs),
                    stdin=subprocess.PIPE,
                    stdout=sys.stderr.fileno(),
                    pass_fds=(signs,),
                )

    @contextmanager
    def _reading_signs(self, reading: int, sign: Sign) -> Iterator[None]:
        """Record the signs of life of its loops while the block runs."""
        loop = asyncio.get_running_loop()
        names = {name.encode(): f"{self.role.name}: {name}" for name in self.role.loops}
        os.set_blocking(reading, False)

        def read() -> None:
            with suppress(BlockingIOError):
                take(os.read(reading, 65_536))

        def take(data: bytes) -> None:
            if not data:
                loop.remove_reader(reading)
                return
            sign()
            for line in {*data.split(b"\n")} & names.keys():
                self._loops.note_sign(names[line])

        loop.add_reader(reading, read)
        try:
            yield
        finally:
            loop.remove_reader(reading)

    async def stop(self) -> None:
        """Ask it to end; kill it after PATIENCE_S."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._stopping = True
        self._send(STOP)
        try:
            async with asyncio.timeout(self.PATIENCE_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def stop_now(self) -> None:
        """Ask it to return its running items and to end."""
        self._stopping = True
        self._send(STOP_NOW)

    def _send(self, command: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._process.stdin.write(command)


class ChildProcesses:
    def __init__(self, settings: Settings, loops: Loops) -> None:
        self._loops = loops
        self._children = [ChildProcess(role, settings, loops) for role in ROLES]

    def start(self) -> None:
        for child in self._children:
            role = child.role
            self._loops.start(role.name, child.work)
            for name, allowed_s in role.loops.items():
                self._loops.watch(f"{role.name}: {name}", allowed_s)

    def stop_now(self) -> None:
        """Stop at once: running items are returned unfinished."""
        for each in self._children:
            each.stop_now()

    async def stop(self) -> None:
        """Let running items finish, then end all processes. No loop may start another meanwhile."""
        await asyncio.gather(*(each.stop() for each in self._children))
