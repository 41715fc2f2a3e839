"""What an attack is, and what it is told."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

ANSWER_S = 60.0
"""How long an attacker waits for anything."""


@dataclass(frozen=True)
class Where:
    """The server under attack, and who attacks it."""

    host: str
    port: int
    token: str
    """Of the attacker, an ordinary user; strangers do not send it."""
    folder: Path
    """A folder that the attacker may write to. The server may read sources below it."""
    smoke: bool = False
    """Tiny sizes: the question is only whether it all runs."""

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=ANSWER_S)

    def head(self, line: str, *more: str, known: bool = True) -> bytes:
        """The head of a request, as `POST /api/jobs`; a stranger's says nothing of a token."""
        who = [f"Authorization: Bearer {self.token}"] if known else []
        lines = [f"{line} HTTP/1.1", f"Host: {self.host}", *who, *more, "", ""]
        return "\r\n".join(lines).encode()


class Signals(NamedTuple):
    """How the two sides agree on when the attack counts."""

    begun: Event
    """Set by the attack once it is in full force."""
    stop: Event
    """Set by the measuring side: end now."""


@dataclass(frozen=True)
class Attack:
    """One attack. `run` goes on until it is told to stop; it must be a function of a module."""

    name: str
    finding: str
    run: Callable[[Where, Signals], None]
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the server, as in `{"SERVER__UPLOAD_MB": "100"}`."""
    descriptors: int = 0
    """The server's limit of open files; 0: that of this shell."""
    growth_mb: float | None = None
    """The most by which the server's memory may grow; None: it is only printed."""
    growth_aim_mb: float | None = None
    logs_in: bool = False
    """Whether the quiet user logs in meanwhile, from an address that is known."""


def answer_of(connection: socket.socket) -> int:
    """The status of an answer; 0 if the server closed without one."""
    try:
        line = connection.recv(4_096).split(b" ", 2)
    except OSError:
        return 0
    return int(line[1]) if len(line) > 1 else 0
