"""Gates: the learned limits of outside services, and an operator's overrides."""

from collections.abc import Mapping, Sequence

from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Moment, Wired, params


class Evidence(Wired, frozen=True, kw_only=True):
    """An observation, the decision, and the rate before and after."""

    at: Moment
    seen: str
    decided: str
    before: float | None = None
    after: float | None = None


class Override(Wired, frozen=True, kw_only=True):
    """An operator's override."""

    rate: float | None = None
    paused: bool = False
    until: Moment = None


class Member(Wired, frozen=True, kw_only=True):
    """A process that uses a gate."""

    worker: str
    seen_at: Moment
    in_flight: int
    waiting: bool
    could_use_per_s: float | None = None
    """Requests per second that it could use; None: more than there are."""


class Budget(Wired, frozen=True, kw_only=True):
    """A cap, and how much of it is used."""

    name: str
    count: float
    seconds: float
    hard: bool
    used: float
    turns_at: Moment = None


class HostDown(Wired, frozen=True, kw_only=True):
    """A host that is left alone because it does not answer."""

    until: Moment
    reason: str = ""
    since: Moment = None


class Gate(Wired, frozen=True, kw_only=True):
    key: str
    kind: str
    name: str
    configured: str = ""
    configured_per_s: float | None = None
    configured_in_flight: int | None = None
    learned_per_s: float | None = None
    learned_in_flight: int | None = None
    told: bool = False
    now_per_s: float | None = None
    asked: bool = False
    stage: str = ""
    cause: str = ""
    why: str = ""
    closed: bool = False
    closed_until: Moment = None
    waiting: bool = False
    in_flight: int = 0
    replies: int = 0
    refusals: int = 0
    refused_share: float = 0.0
    latency_s: float | None = None
    broken: Mapping[str, Moment] = {}
    down: Mapping[str, HostDown] = {}
    budgets: Sequence[Budget] = ()
    members: Sequence[Member] = ()
    override: Override | None = None
    evidence: Sequence[Evidence] = ()


class Gates(Wired, frozen=True, kw_only=True):
    """Gates at one moment of the ledger's clock."""

    items: list[Gate]
    now: Moment = None


class Providers:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self, which: str = "used") -> Gates:
        """The gates that were `used`; also of `declared` providers; or `all` known gates."""
        ask = ApiRequest(path="/api/providers", params=params(which=which))
        return await self._wire.value(ask, Gates)

    async def get(self, name: str) -> Gates:
        """The gates of a provider, a credential, a host or a key, with their evidence."""
        return await self._wire.value(ApiRequest(path=_path(name)), Gates)

    async def set_rate(self, name: str, rate: str, for_s: float | None = None) -> Gates:
        """Override the learned rate with `5/s` or `100/min`, for `for_s` seconds or without end."""
        return await self._change(name, rate=rate, forS=for_s)

    async def pause(self, name: str, for_s: float | None = None) -> Gates:
        """Send nothing more, for `for_s` seconds or until `resume`."""
        return await self._change(name, paused=True, forS=for_s)

    async def resume(self, name: str) -> Gates:
        """Continue with the learned rate."""
        return await self._change(name, paused=False)

    async def forget(self, name: str) -> Gates:
        """Drop the learned rate and learn it again."""
        return await self._change(name, forget=True)

    async def _change(self, name: str, **change: str | bool | float | None) -> Gates:
        body, headers = as_json({key: value for key, value in change.items() if value is not None})
        ask = ApiRequest(method="PATCH", path=_path(name), body=body, headers=headers)
        return await self._wire.value(ask, Gates)


def _path(name: str) -> str:
    return f"/api/providers/{segment(name)}"
