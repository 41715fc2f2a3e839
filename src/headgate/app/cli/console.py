"""The terminal, as Rich draws on it. Loaded for the first line that a terminal shows."""

from rich.console import Console


class PipedConsole(Console):
    """A console that says when its reader has gone; Rich itself would end the program with 1."""

    def on_broken_pipe(self) -> None:
        """Raise, so that the command ends as by every other closed pipe."""
        raise BrokenPipeError


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """One of the two streams; text is shown as it is."""
    return PipedConsole(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
