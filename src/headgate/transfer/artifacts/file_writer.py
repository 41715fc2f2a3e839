"""A process that writes small files, to keep their system calls away from the event loop.

A small file takes about twenty system calls. In a thread, each of them releases the
interpreter lock and then waits for the event loop to give it back.
"""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self, cast

from headgate.ports.artifacts import StoredArtifact
from headgate.transfer.artifacts.file_writer_messages import (
    Frames,
    WriteOrder,
    answers,
    encoder,
    framed,
)

MODULE = "headgate.transfer.artifacts.file_writer_main"
HELD_BYTES = 1024 * 1024
"""Size of the socket's send buffer, in bytes."""


class FileWriterGone(Exception):
    """The process ended before it answered; whether the file was stored is unknown."""


class FileWriter(asyncio.Protocol):
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._transport: asyncio.Transport | None = None
        self._frames = Frames()
        self._waiting: dict[int, asyncio.Future[StoredArtifact]] = {}
        self._count = 0
        self._gone = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls, root: Path, aside: Path) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HELD_BYTES)
            process = await asyncio.to_thread(_started, root, aside, theirs.fileno())
        loop = asyncio.get_running_loop()
        _, file_writer = await loop.create_unix_connection(lambda: cls(process), sock=ours)
        return file_writer

    @property
    def is_gone(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    async def keep(self, item: str, name: str, sha256: str, content: bytes) -> StoredArtifact:
        """Have a whole file put into the folder; raises FileWriterGone if the process has ended."""
        if self._transport is None or self._transport.is_closing():
            raise FileWriterGone
        answer: asyncio.Future[StoredArtifact] = asyncio.get_running_loop().create_future()
        number = self._count = self._count + 1
        self._waiting[number] = answer
        order = WriteOrder(number, item.encode(errors="surrogatepass"), name, sha256)
        self._transport.write(framed(encoder.encode(order), content))
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Wait until the pending files are written and the process has ended."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write_eof()
        await self._gone
        await asyncio.to_thread(self._process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        for message, _ in self._frames.feed(data):
            for answer in answers.decode(message):
                waiting = self._waiting.get(answer.number)
                if waiting is None or waiting.done():
                    continue  # the caller was cancelled
                if answer.stored is not None:
                    waiting.set_result(answer.stored)
                else:
                    waiting.set_exception(answer.error())

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(FileWriterGone())
        if not self._gone.done():
            self._gone.set_result(None)


def _started(root: Path, aside: Path, wire: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 (this interpreter, a module of ours)
        [sys.executable, "-P", "-m", MODULE, str(root), str(aside), str(wire)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[wire],
        start_new_session=True,
    )
