"""Hosts that do not answer: who is told of them, and who remembers which ones ever did."""

from typing import Protocol

import msgspec


class HostTrouble(msgspec.Struct, frozen=True):
    """A host is left alone from now on."""

    for_s: float
    """When it is asked again."""
    reason: str
    """Its last failure in plain words, without its name."""
    gave_up: bool = False
    """It has been away for so long that its rows end as errors instead of waiting."""
    doubtful: bool = False
    """It is only asked once more: the errors may be about the rows. No job is told of that."""


class Hosts(Protocol):
    """Hears what becomes of hosts. `job_id` is the job whose request found it out."""

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None:
        """The host is left alone for a while; told again after each trial that fails."""
        ...

    def is_up(self, host: str) -> None:
        """A host that was left alone answers again."""
        ...

    def keeps_waiting(self, host: str, job_id: int) -> None:
        """A request of this job was turned away because the host is left alone."""
        ...

    def has_answered(self, host: str) -> bool:
        """Whether any process has ever had an answer of this host."""
        ...

    def answers(self, host: str) -> None:
        """The host has answered for the first time in this process."""
        ...


class NoHosts:
    """Remembers nothing: for a stack that stands alone."""

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None:
        """Nothing is done."""

    def is_up(self, host: str) -> None:
        """Nothing is done."""

    def keeps_waiting(self, host: str, job_id: int) -> None:
        """Nothing is done."""

    def has_answered(self, host: str) -> bool:  # noqa: ARG002  part of the contract
        """Only this process knows, and its breakers do."""
        return False

    def answers(self, host: str) -> None:
        """Nothing is done."""
