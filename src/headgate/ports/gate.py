"""Gates as a client sees them: ask to pass, report the answer, release."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

Cost = Mapping[str, float]
"""The amount that a request takes of each budget; one of `requests` is always taken."""


class Route(msgspec.Struct, frozen=True):
    """The target of a request. Its gates: global, through, provider, credential, domain, host."""

    provider: str
    """Empty for a host without a provider."""
    domain: str
    """The registrable domain, which groups hosts."""
    host: str
    """Normalized `host:port`, without the default port."""
    manners: str = ""
    """For a host with its own gate: the provider whose settings apply there."""
    transfer: bool = True
    """Holds the concurrency caps until its body has ended; light look-ups are only paced."""
    through: str = ""
    """The provider that named the URL: its cap on transfers applies too, but not its pace."""


class Waits(Protocol):
    """Called when a request of a handler starts and ends waiting at a gate."""

    def begin(self) -> None: ...

    def end(self) -> None:
        """The request is sent, or was refused."""
        ...


class NoFeedback:
    """For requests whose waits do not affect a time limit."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


UNHEARD = NoFeedback()


class Turn(msgspec.Struct, frozen=True):
    """The owner and job of a request: within a gate, owners take turns, then their jobs."""

    owner: str
    job_id: int
    waits: Waits = UNHEARD
    """Time at gates does not count against the time limit of a handler."""
    again: bool = False
    """Its row was tried before: if it fails now, the row may be the reason, and not the host."""
    elsewhere: bool = False
    """Its row comes from another place in the input, as a trial of the host."""
    for_user: bool = False
    """A user described the requests: only credentials that are meant for users apply."""


class Feedback(msgspec.Struct, frozen=True):
    refused: bool
    """The answer was a request to slow down: it costs the item no attempt."""
    retry_in_s: float = 0.0
    """Seconds until the gates open again, as far as is known."""
    gate: str = ""


class Permit(Protocol):
    """A request that may be sent. `release` must follow when its body has ended."""

    @property
    def credential(self) -> str | None:
        """The name of the credential to send, from the provider's pool."""
        ...

    @property
    def waited_s(self) -> float: ...

    @property
    def cause(self) -> str:
        """What it waited for longest, in words; empty if it did not wait."""
        ...

    def recalled(self) -> bool:
        """Whether its gate has closed since: a request that is not sent yet must not be sent."""
        ...

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:
        """The head of the answer arrived. Header names are in lower case."""
        ...

    def failed(self) -> None:
        """No answer came. That says nothing about a rate."""
        ...

    def withdraw(self) -> None:
        """The request was not sent: nothing was spent, and its slot is free."""
        ...

    def bench(self, reason: str) -> bool:
        """The credential was rejected: stop using it. True if another one is left."""
        ...

    def spend(self, cost: Cost) -> None:
        """The actual cost, where only an estimate was reserved."""
        ...

    def release(self) -> None:
        """The transfer has ended, with success or not. Calling it twice is harmless."""
        ...


class Gates(Protocol):
    """Lets requests pass as fast as all of their limits allow, and not faster."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> Permit:
        """Wait until all gates of the route let the request pass, all or none.

        GateClosed (an AttemptOver) when that would take longer than `patience_s`: the item then
        goes back with a due time and its lane is free.
        """
        ...


class HostTrouble(msgspec.Struct, frozen=True):
    """A host gets no requests from now on."""

    for_s: float
    """Seconds until the next trial."""
    reason: str
    """Its last failure in plain words, without its name."""
    gave_up: bool = False
    """Its rows no longer wait; they end as errors."""
    doubtful: bool = False
    """The errors may be about the rows: other rows are tried first. Jobs are not told of that."""


class Hosts(Protocol):
    """Called when hosts fail or recover. `job_id` is the job whose request found it out."""

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None:
        """The host gets no requests for a while; called again after each trial that fails."""
        ...

    def is_up(self, host: str) -> None: ...

    def keeps_waiting(self, host: str, job_id: int) -> None:
        """A request of this job was refused because the host is down."""
        ...

    def has_answered(self, host: str) -> bool:
        """Whether the host has ever answered any process."""
        ...

    def answers(self, host: str) -> None:
        """The host has answered for the first time in this process."""
        ...


class NoHosts:
    """Remembers nothing: for a network stack without a ledger."""

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None: ...

    def is_up(self, host: str) -> None: ...

    def keeps_waiting(self, host: str, job_id: int) -> None: ...

    def has_answered(self, host: str) -> bool:  # noqa: ARG002  part of the contract
        """The breakers of this process know; no other process does."""
        return False

    def answers(self, host: str) -> None: ...
