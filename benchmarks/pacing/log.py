"""What happened to the requests of one client."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Log:
    """When each request left, and when it was answered or refused."""

    sent: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
