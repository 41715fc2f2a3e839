"""Commands of two words beside one of the first word alone."""

from typing import Any

from typer.core import TyperGroup


class PhraseGroup(TyperGroup):
    """Knows `download report` and `download` both: the longer one is looked for first."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first words name, and what is left of them."""
        phrase = " ".join(args[:2])
        return super().resolve_command(
            ctx, [phrase, *args[2:]] if phrase in self.commands else args
        )
