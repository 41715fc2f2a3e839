"""Headgate: push a very large batch through rate-limited services, losing and repeating nothing."""

from headgate.core.errors import HeadgateError
from headgate.core.item import Item
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.handlers.function import handler
from headgate.ports.handler import Context, JobView

__version__ = "0.1.0"

__all__ = [
    "Context",
    "Done",
    "GiveUp",
    "HeadgateError",
    "Item",
    "JobView",
    "NotFound",
    "Outcome",
    "RetryLater",
    "Review",
    "Skipped",
    "__version__",
    "handler",
]
