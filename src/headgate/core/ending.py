"""An attempt that ends by being raised out of, instead of by what the handler returns."""

from headgate.core.errors import HeadgateError
from headgate.core.fault import Fault
from headgate.core.outcome import Outcome


class AttemptOver(HeadgateError):
    """Whatever raises this has already decided what it means for the item."""

    def __init__(self, ending: Outcome | Fault) -> None:
        super().__init__(getattr(ending, "reason", ""))
        self.ending = ending
