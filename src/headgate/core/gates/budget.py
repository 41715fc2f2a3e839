"""Limits on amounts other than requests: tokens, bytes, money. Reserve an estimate, then settle.

A limit holds for every interval of its length, counted in twentieths. A hard cap counts in windows
that start at whole multiples of its length, days at midnight UTC, as bills do: once it is spent, no
request passes until the next window.
"""

import math
from collections.abc import Iterable, Mapping

import msgspec

from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Limit, parse_limits

Cost = Mapping[str, float]
PARTS = 20
"""Number of parts that a limit's length is divided into."""
SPANS = {1.0: "a second", 60.0: "a minute", 3_600.0: "an hour", 86_400.0: "a day"}


class Cap(msgspec.Struct, frozen=True):
    name: str
    limit: Limit
    hard: bool = False

    @property
    def key(self) -> str:
        """Key of the stored amounts, without the count: a raised limit keeps what was spent."""
        return f"{self.name}/{self.limit.seconds:g}{'!' * self.hard}"

    @property
    def words(self) -> str:
        """The limit as a person writes it: `1,000,000 tokens in a day`."""
        count, seconds = self.limit.count, self.limit.seconds
        amount = f"{count:,.0f}" if count == int(count) else f"{count:g}"
        return f"{amount} {self.name} in {SPANS.get(seconds, f'{seconds:g} s')}"

    @property
    def parts(self) -> int:
        return 1 if self.hard else PARTS

    def part_at(self, now: float) -> int:
        return math.floor(now * self.parts / self.limit.seconds)


def parse_caps(budget: Mapping[str, str], hard_caps: Mapping[str, str]) -> tuple[Cap, ...]:
    return tuple(
        Cap(name, limit, hard)
        for texts, hard in ((budget, False), (hard_caps, True))
        for name, text in texts.items()
        for limit in parse_limits(text)
    )


class Spent(msgspec.Struct):
    """Amounts spent under one cap: one per part, the newest last."""

    part: int = 0
    """Number of the newest part, counted from time zero."""
    amounts: list[float] = []

    @property
    def total(self) -> float:
        return math.fsum(self.amounts)

    def turn(self, part: int, keep: int) -> None:
        """Move on to `part` and drop amounts older than `keep` parts."""
        passed = part - self.part
        if passed >= keep or not self.amounts:
            self.amounts = [0.0]
        elif passed > 0:
            self.amounts = (self.amounts + [0.0] * passed)[-keep:]
        self.part = max(part, self.part)

    def add(self, amount: float) -> None:
        """Spend an amount. A negative amount is taken back from the newest parts first."""
        self.amounts[-1] += amount
        for place in range(len(self.amounts) - 1, -1, -1):
            if self.amounts[place] >= 0:
                return
            if place:
                self.amounts[place - 1] += self.amounts[place]
            self.amounts[place] = 0.0


class BudgetState(msgspec.Struct):
    spent: dict[str, Spent] = {}
    """By the key of the cap."""
    typical: dict[str, float] = {}
    """Recent cost of one request by name; the estimate for requests that give none."""


class Budget:
    """The amounts that one gate may spend. All caps apply; a reservation takes all or nothing."""

    def __init__(self, caps: Iterable[Cap], state: BudgetState | None = None) -> None:
        """Start, or resume from `state`; the caps may have changed since."""
        self._caps = tuple(caps)
        self.state = _copy(state) if state else BudgetState()
        known = {cap.key: self.state.spent.get(cap.key) or Spent() for cap in self._caps}
        self.state.spent = known

    def reserve(self, now: float, cost: Cost) -> float:
        """Time at which a request of this cost may be sent. If that is now, the cost is taken."""
        opens_at = self.opens_at(now, cost)
        if opens_at <= now:
            self.add(now, cost)
        return opens_at

    def opens_at(self, now: float, cost: Cost) -> float:
        """Time at which a request of this cost may be sent; nothing is taken."""
        return max((self._free_at(cap, now, cost) for cap in self._caps), default=now)

    def narrowest(self, now: float, cost: Cost) -> Cap | None:
        """The cap with the longest wait; None if the request may be sent."""
        waits = [(self._free_at(cap, now, cost), cap) for cap in self._caps]
        at, cap = max(waits, key=lambda wait: wait[0], default=(now, None))
        return cap if at > now else None

    def add(self, now: float, cost: Cost) -> None:
        """Spend a cost even if no room is left; a negative cost is given back."""
        for cap in self._caps:
            self._spent(cap, now).add(cost.get(cap.name, 0.0))

    def room(self, now: float, name: str) -> float:
        rooms = (
            cap.limit.count - self._spent(cap, now).total for cap in self._caps if cap.name == name
        )
        return max(min(rooms, default=math.inf), 0.0)

    def _spent(self, cap: Cap, now: float) -> Spent:
        spent = self.state.spent[cap.key]
        # One part more than the length has: the oldest counts until all of it is too old.
        spent.turn(cap.part_at(now), 1 if cap.hard else PARTS + 1)
        return spent

    def _free_at(self, cap: Cap, now: float, cost: Cost) -> float:
        spent, amount = self._spent(cap, now), cost.get(cap.name, 0.0)
        room = cap.limit.count - spent.total
        if cap.hard:
            fits = room > 0 and (amount <= room or not spent.total)
            return now if fits else (spent.part + 1) * cap.limit.seconds
        if amount <= 0:
            return now
        # A cost above the whole limit needs an empty window.
        enough = min(amount, cap.limit.count)
        place = 0
        while room < enough and place < len(spent.amounts):
            room += spent.amounts[place]
            place += 1
        if not place:
            return now
        free_in = spent.part - len(spent.amounts) + place + PARTS + 1
        return max(now, free_in * cap.limit.seconds / PARTS)

    def remembered(self) -> BudgetState:
        return _copy(self.state)


def usable_amount(amount: float) -> float:
    """The amount, or 0 if it is negative, infinite or not a number."""
    return amount if 0 < amount < math.inf else 0.0


def _copy(state: BudgetState) -> BudgetState:
    return msgspec.convert(msgspec.to_builtins(state), BudgetState)


REQUESTS = "requests"


class BudgetUse(msgspec.Struct, frozen=True):
    """A cap and its use. Amounts that processes have drawn ahead count as used."""

    name: str
    count: float
    seconds: float
    hard: bool
    """A job pauses when the cap is spent."""
    used: float
    turns_at: float | None = None
    """End of a hard cap's window, in seconds."""


class SpentCap(msgspec.Struct, frozen=True):
    words: str
    until: float


def budget_uses(state: BudgetState | None, policy: ProviderPolicy, now: float) -> list[BudgetUse]:
    return [_use(cap, state, now) for cap in parse_caps(policy.budget, policy.hard_caps)]


def spent_cap(state: BudgetState | None, policy: ProviderPolicy, now: float) -> SpentCap | None:
    """The cap that has no room for a request of the typical cost, if there is one."""
    if state is None:
        return None
    budget = Budget(parse_caps(policy.budget, policy.hard_caps), state)
    usual = {REQUESTS: 1.0, **state.typical}
    cap = budget.narrowest(now, usual)
    return SpentCap(f"{cap.words} are spent", budget.opens_at(now, usual)) if cap else None


def _use(cap: Cap, state: BudgetState | None, now: float) -> BudgetUse:
    room = Budget((cap,), state).room(now, cap.name)
    turns_at = (cap.part_at(now) + 1) * cap.limit.seconds if cap.hard else None
    used = cap.limit.count - room
    return BudgetUse(cap.name, cap.limit.count, cap.limit.seconds, cap.hard, used, turns_at)
