"""The table of commands. A command's module is imported only when that command is used."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer

from headgate.app.cli.help_page import HelpGroup

VERBS = {
    "run": "Run HANDLER on every row of FILE; run it again to resume.",
    "download": (
        "Download the files that FILE lists; run it again to resume or to check for changes."
    ),
    "download report": (
        "Summarize a download job: outcomes by resolver, cache, bytes, waits and politeness."
    ),
    "download verify": (
        "Compare every file in DIR with its entry in manifest.jsonl; exit 6 if one differs."
    ),
    "plan": "Forecast how long a job or a file will take, what limits it, and what would help.",
    "worker": "Work on all jobs of the store until stopped.",
    "serve": "Serve the API and the web UI, and work on all jobs of the store.",
    "watch": "Watch places for new files, and create one job for each file.",
    "export": (
        "Write a job's rows with their results, also while it runs; the file appears when complete."
    ),
    "doctor": "Check Python, the machine, the store and its workers; exit 6 if there is a problem.",
}
NOUNS = {
    "jobs": "List, inspect and control jobs.",
    "extract": "Mirror a paginated API; `extract SOURCE` is short for `extract run SOURCE`.",
    "items": "List and inspect the items of a job.",
    "dlq": "Dead letters: inspect and replay items that ended in ERROR, in all jobs.",
    "workers": "List the worker processes of this store.",
    "queue": "Add items to a queue over time, and run them.",
    "providers": "See the learned limits of outside services, and override them.",
    "users": "Manage the users of the server and their tokens.",
    "report": "Report what a job has done.",
    "db": "Migrate, check and back up the store.",
    "config": "Show the settings.",
}
SUMMARIES = {**VERBS, **NOUNS}
"""The help text of each command, so that `--help` does not import the modules."""
NAMES = (*VERBS, *NOUNS)
"""Commands in the order of the help. Each is defined in the module of the same name."""


class LazyCommands(Mapping[str, Any]):
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
            self._loaded[name] = _plain(
                typer.main.get_group(app_with_commands(name)).commands[name]
            )
        return self._loaded[name]


NUMBERS = {"int range": "whole number", "integer range": "whole number", "float range": "number"}
"""Typer's names for numbers with bounds, and the names that our messages use."""


def _plain(command: Any) -> Any:
    """Rename the number types in the command's messages, with `NUMBERS`."""
    for parameter in command.params:
        kind = parameter.type
        if (name := getattr(kind, "name", "")) in NUMBERS:
            kind.name = NUMBERS[name]
    for inner in getattr(command, "commands", {}).values():
        _plain(inner)
    return command


def app_with_commands(*names: str) -> typer.Typer:
    some = typer.Typer(rich_markup_mode=None)
    for name in names:
        module = import_module(f"headgate.app.cli.{name.replace(' ', '_')}")
        if name in NOUNS:
            some.add_typer(module.app)
        else:
            module.register(some)
    return some


class LazyGroup(HelpGroup):
    """Resolves commands of two words, such as `download report`, before `download`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()  # type: ignore[assignment]  # only read

    def summaries(self, context: Any) -> Sequence[tuple[str, str]]:
        del context
        return list(SUMMARIES.items())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        phrase = " ".join(args[:2])
        return super().resolve_command(
            ctx, [phrase, *args[2:]] if phrase in self.commands else args
        )
