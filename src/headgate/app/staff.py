"""The processes behind the API: one that supervises workers, one that reads and writes files."""

import asyncio
import subprocess
import sys
from contextlib import suppress
from enum import StrEnum

import msgspec

from headgate.app.leash import STOP, STOP_NOW, deaf_offspring
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.ports.clock import Clock

STARTING = asyncio.Lock()
"""One at a time is started deaf: two that end in another order would leave us deaf ourselves."""


class Post(StrEnum):
    """Who is employed, by module."""

    FOREMAN = "headgate.app.foreman_process"
    CLERK = "headgate.app.clerk_process"


class Employee:
    """One post, filled again whenever its process ends."""

    PATIENCE_S = 40.0
    """How long it may take to stop before it is killed: running items finish first."""
    FIRST_REST_S = 0.5
    LONGEST_REST_S = 30.0
    SOUND_S = 60.0
    """Whoever lived so long had no trouble starting."""

    def __init__(self, post: Post, settings: Settings, clock: Clock) -> None:
        self._post = post
        self._briefing = msgspec.json.encode(settings) + b"\n"
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._dismissed = False

    async def work(self) -> None:
        """Keep the post filled until cancelled, or told to stop."""
        rest_s = self.FIRST_REST_S
        while True:
            began_s = self._clock.monotonic()
            code = await self._fill()
            if self._dismissed:
                return
            if self._clock.monotonic() - began_s > self.SOUND_S:
                rest_s = self.FIRST_REST_S
            logger().error("a process ended and is started again", post=self._post, exit=code)
            await self._clock.sleep(rest_s)
            rest_s = min(rest_s * 2, self.LONGEST_REST_S)

    async def _fill(self) -> int:
        async with STARTING:
            with deaf_offspring():
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",
                    "-m",
                    self._post,
                    stdin=subprocess.PIPE,
                    stdout=sys.stderr.fileno(),
                )
        self._process = process
        self._say(self._briefing)
        return await process.wait()

    async def stop(self) -> None:
        """Ask it to end, and see that it does."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._dismissed = True
        self._say(STOP)
        try:
            async with asyncio.timeout(self.PATIENCE_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def hurry(self) -> None:
        """Ask it to hand back what it runs, and to end."""
        self._dismissed = True
        self._say(STOP_NOW)

    def _say(self, word: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._process.stdin.write(word)


class Staff:
    """All employees of one server."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._employees = [Employee(post, settings, clock) for post in Post]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Fill every post."""
        self._tasks = [asyncio.ensure_future(each.work()) for each in self._employees]

    def hurry(self) -> None:
        """Let nobody finish: everything that runs is handed back."""
        for each in self._employees:
            each.hurry()

    async def stop(self) -> None:
        """Let running items finish, then let everybody go."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(*(each.stop() for each in self._employees))
