"""An attempt that ends by being raised out of, instead of by what the handler returns."""

from headgate.core.errors import HeadgateError
from headgate.core.fault import Fault
from headgate.core.outcome import Outcome


class AttemptOver(HeadgateError):
    """Whatever raises this has already decided what it means for the item."""

    code = ""
    """The same in a word that does not change, for whoever counts; empty if it has none."""

    def __init__(self, ending: Outcome | Fault) -> None:
        super().__init__(getattr(ending, "reason", ""))
        self.ending = ending


class JobHalted(HeadgateError):
    """No item of the job can be worked on before somebody has repaired something.

    The job pauses with these words, and the item that met with it goes back as it came.
    """
