"""Gates as a client sees them: ask to pass, say what came back, let go."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

Cost = Mapping[str, float]
"""What a request takes of each budget; one of `requests` is always taken."""


class Route(msgspec.Struct, frozen=True):
    """Where a request goes. Its gates: global, through, provider, credential, domain, host."""

    provider: str
    """Empty for a host that no provider declares."""
    domain: str
    """The registrable domain, which groups hosts."""
    host: str
    """Normalized `host:port`, the default port dropped."""
    manners: str = ""
    """For a host of its own: the provider whose settings hold there."""
    transfer: bool = True
    """Holds the concurrency caps until its body has ended; light look-ups are only paced."""
    through: str = ""
    """Another provider that named the URL: its cap on transfers holds too, but not its pace."""


class Waits(Protocol):
    """Hears of each request of a handler that waits at a gate."""

    def begin(self) -> None:
        """A request begins to wait."""
        ...

    def end(self) -> None:
        """It goes on, or has been turned away."""
        ...


class NoFeedback:
    """For requests whose waits do not matter to a time limit."""

    def begin(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


UNHEARD = NoFeedback()


class Turn(msgspec.Struct, frozen=True):
    """On whose behalf: within a gate, owners take turns, then their jobs."""

    owner: str
    job_id: int
    waits: Waits = UNHEARD
    """Time at gates does not count against the time limit of a handler."""
    again: bool = False
    """Its row was tried before: if it fails now, the row may be the reason, and not the host."""
    elsewhere: bool = False
    """Its row comes from another place in the input, to try out a host."""
    for_user: bool = False
    """A user described the requests: they have the credentials that are for users, and no other."""


class Feedback(msgspec.Struct, frozen=True):
    """What the gates made of an answer."""

    refused: bool
    """It was no answer but a request to slow down: it costs the item no attempt."""
    retry_in_s: float = 0.0
    """When the gates will be open again, as far as is known."""
    gate: str = ""
    """The provider or host that refused."""


class Permit(Protocol):
    """One request that was let out. `release` must follow, when its body has ended."""

    @property
    def credential(self) -> str | None:
        """The name of the credential to send, from the provider's pool."""
        ...

    @property
    def waited_s(self) -> float:
        """How long it stood before the gates."""
        ...

    @property
    def cause(self) -> str:
        """What it waited for longest, in words; empty if it did not wait."""
        ...

    def recalled(self) -> bool:
        """Whether its gate has closed since: what has not been sent by now must not be."""
        ...

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:
        """The head of the answer is there. Header names are in lower case."""
        ...

    def failed(self) -> None:
        """There was no answer. That says nothing about a rate."""
        ...

    def withdraw(self) -> None:
        """It was not sent at all: nothing was spent, and its place is free."""
        ...

    def bench(self, reason: str) -> bool:
        """The credential was not accepted: use it no more. Whether another one is left."""
        ...

    def spend(self, cost: Cost) -> None:
        """The actual cost, where only an estimate was reserved."""
        ...

    def release(self) -> None:
        """The transfer has ended, one way or the other. Doing it twice is harmless."""
        ...


class Gates(Protocol):
    """Lets requests out as fast as every limit on their way allows, and no faster."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> Permit:
        """Wait until all gates of the route let it pass, all or none.

        GateClosed (an AttemptOver) when that would take longer than `patience_s`: the item then
        goes back with a due time and its lane is free.
        """
        ...


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
