"""The commands by name. Each is loaded when it is asked for: most are over sooner than loaded."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

VERBS = (
    "run",
    "download",
    "download report",
    "download verify",
    "plan",
    "worker",
    "serve",
    "watch",
    "export",
    "doctor",
)
NOUNS = (
    "jobs",
    "items",
    "dlq",
    "workers",
    "queue",
    "providers",
    "users",
    "report",
    "db",
    "config",
)
NAMES = (*VERBS, *NOUNS)
"""In the order of the help. A command stands in the module that is called like it."""


class Menu(Mapping[str, Any]):
    """What can be asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = typer.main.get_group(holding(name)).commands[name]
        return self._loaded[name]


def holding(*names: str) -> typer.Typer:
    """Some commands, loaded."""
    some = typer.Typer(rich_markup_mode="rich")
    for name in names:
        module = import_module(f"headgate.app.cli.{name.replace(' ', '_')}")
        if name in NOUNS:
            some.add_typer(module.app)
        else:
            module.register(some)
    return some


class MenuGroup(TyperGroup):
    """Knows `download report` and `download` both: the longer one is looked for first."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Menu()  # type: ignore[assignment]  # it is only ever read

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first words name, and what is left of them."""
        phrase = " ".join(args[:2])
        return super().resolve_command(
            ctx, [phrase, *args[2:]] if phrase in self.commands else args
        )
