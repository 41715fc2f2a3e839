"""The cost of a lookup's requests: an estimate before, the true figure after."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from headgate.core.errors import UsageError
from headgate.handlers.lookup.description import Description
from headgate.handlers.lookup.reply import ReplyReader
from headgate.handlers.words.expression import Expression, UnreadableExpression
from headgate.handlers.words.template import Row, Template, Unasked, parse_template
from headgate.ports.handler import Context
from headgate.ports.http import Response

COUNTED = frozenset({"requests", "bytes"})
"""Budgets that Headgate counts itself."""


class Price(NamedTuple):
    cost: Mapping[str, float | Template]
    spend: Mapping[str, Expression]

    @property
    def columns(self) -> list[str]:
        templates = [each for each in self.cost.values() if isinstance(each, Template)]
        found = [part for template in templates for part in template.placeholders]
        return [part.column for part in found if not part.optional]

    def estimate(self, row: Row) -> dict[str, float]:
        """The cost to reserve before the request is sent; Unasked if the row gives no number."""
        return {name: _number(name, cost, row) for name, cost in self.cost.items()}

    def settle(self, reply: Response, ctx: Context, reading: ReplyReader) -> None:
        if not self.spend or not reply.is_success:
            return
        try:
            value = reading.value(reply)
            found = {name: path.of(value) for name, path in self.spend.items()}
        except UnreadableExpression:
            return  # the error is reported when the columns are read
        spent = {name: float(each) for name, each in found.items() if _is_amount(each)}
        if spent:
            ctx.spend(**spent)


def price_of(description: Description) -> Price | None:
    """Parse the costs of a description; UsageError if they are not valid."""
    cost, spend = description.cost, description.spend
    for name in (*cost, *spend):
        if name in COUNTED:
            raise UsageError(f"cost: Headgate counts {name} itself; leave it out")
    if unknown := next((name for name in spend if name not in cost), None):
        raise UsageError(
            f"spend.{unknown}: give the expected amount under `cost` too, so that it can"
            " be reserved"
        )
    if not cost:
        return None
    return Price(
        {
            name: parse_template(each, f"cost.{name}") if isinstance(each, str) else each
            for name, each in cost.items()
        },
        {name: Expression(path, f"spend.{name}") for name, path in spend.items()},
    )


def _number(name: str, cost: float | Template, row: Row) -> float:
    if not isinstance(cost, Template):
        return cost
    text = cost.text(row)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not (math.isfinite(number) and number >= 0):
        raise Unasked(f"cost.{name}: {text[:100]!r} is not a number from 0 up")
    return number


def _is_amount(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and value >= 0
