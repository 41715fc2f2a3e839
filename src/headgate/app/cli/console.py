"""The Rich console of a terminal. Imported when the first line is printed to a terminal."""

from rich.console import Console


class PipedConsole(Console):
    """A console that raises BrokenPipeError, where Rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console for stdout or stderr that prints text without markup or highlighting."""
    return PipedConsole(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
