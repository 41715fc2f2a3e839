"""Headgate: push a large batch through rate-limited services, without losing or repeating work."""

from importlib import import_module

TYPE_CHECKING = False  # typing itself takes a tenth of the time that `headgate --version` may take
if TYPE_CHECKING:
    from headgate.core.errors import HeadgateError
    from headgate.core.item import Item
    from headgate.core.mirror import Closing, FollowUp, MirrorRow, Proof
    from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
    from headgate.handlers.function import handler
    from headgate.ports.handler import Context, JobView

__version__ = "0.1.0"

__all__ = [
    "Closing",
    "Context",
    "Done",
    "FollowUp",
    "GiveUp",
    "HeadgateError",
    "Item",
    "JobView",
    "MirrorRow",
    "NotFound",
    "Outcome",
    "Proof",
    "RetryLater",
    "Review",
    "Skipped",
    "__version__",
    "handler",
]

_MODULES = {
    "Closing": "headgate.core.mirror",
    "Context": "headgate.ports.handler",
    "Done": "headgate.core.outcome",
    "FollowUp": "headgate.core.mirror",
    "GiveUp": "headgate.core.outcome",
    "HeadgateError": "headgate.core.errors",
    "Item": "headgate.core.item",
    "JobView": "headgate.ports.handler",
    "MirrorRow": "headgate.core.mirror",
    "NotFound": "headgate.core.outcome",
    "Outcome": "headgate.core.outcome",
    "Proof": "headgate.core.mirror",
    "RetryLater": "headgate.core.outcome",
    "Review": "headgate.core.outcome",
    "Skipped": "headgate.core.outcome",
    "handler": "headgate.handlers.function",
}
"""Each name is imported when it is first used: every command imports this package."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
