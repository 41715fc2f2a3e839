"""The commands by name. Each is loaded when it is asked for: most are over sooner than loaded."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer

from headgate.app.cli.help_page import HelpGroup

VERBS = {
    "run": "Run HANDLER on every row of FILE; run it again to resume.",
    "download": (
        "Download what FILE names into a folder; run it again to go on, or to look for changes."
    ),
    "download report": (
        "Sum up a download job: outcomes by resolver, the cache, bytes, waits and politeness."
    ),
    "download verify": (
        "Compare every file in DIR with its entry in manifest.jsonl; exit 6 if one differs."
    ),
    "plan": "Say how long a job or a file will take, at which limit, and what would help.",
    "worker": "Work on all jobs of the store until stopped.",
    "serve": "Serve the API and the web UI, and work on all jobs of the store.",
    "watch": "Look for new files again and again: one job for each, each file once.",
    "export": (
        "Write a job's rows with their results, also while it runs; the file appears when complete."
    ),
    "doctor": "Check Python, the machine, the store and its workers; exit 6 if there is a problem.",
}
NOUNS = {
    "jobs": "List, inspect and steer jobs.",
    "items": "List and inspect the items of a job.",
    "dlq": "Dead letters: inspect and replay what ended in ERROR, across jobs.",
    "workers": "See the processes that work on this store.",
    "queue": "Feed and run an open job, item by item.",
    "providers": "See what was learned of outside services, and overrule it.",
    "users": "Users of the server, and their tokens.",
    "report": "Sum up what a job has done.",
    "db": "Look after the store.",
    "config": "See the settings.",
}
SUMMARIES = {**VERBS, **NOUNS}
"""What the help says of each, so that it need not load them; a test compares both."""
NAMES = (*VERBS, *NOUNS)
"""In the order of the help. A command stands in the module that is called like it."""


class LazyCommands(Mapping[str, Any]):
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
            self._loaded[name] = _plain(typer.main.get_group(holding(name)).commands[name])
        return self._loaded[name]


NUMBERS = {"int range": "whole number", "integer range": "whole number", "float range": "number"}
"""What the library calls a number with bounds, and what people call it."""


def _plain(command: Any) -> Any:
    """The command, whose messages name the kinds of its values as people do."""
    for parameter in command.params:
        kind = parameter.type
        if (name := getattr(kind, "name", "")) in NUMBERS:
            kind.name = NUMBERS[name]
    for inner in getattr(command, "commands", {}).values():
        _plain(inner)
    return command


def holding(*names: str) -> typer.Typer:
    """Some commands, loaded."""
    some = typer.Typer(rich_markup_mode=None)
    for name in names:
        module = import_module(f"headgate.app.cli.{name.replace(' ', '_')}")
        if name in NOUNS:
            some.add_typer(module.app)
        else:
            module.register(some)
    return some


class LazyGroup(HelpGroup):
    """Knows `download report` and `download` both: the longer one is looked for first."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()  # type: ignore[assignment]  # it is only ever read

    def summaries(self, context: Any) -> Sequence[tuple[str, str]]:
        """Each command and what it does, in a sentence; none is loaded."""
        del context
        return list(SUMMARIES.items())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first words name, and what is left of them."""
        phrase = " ".join(args[:2])
        return super().resolve_command(
            ctx, [phrase, *args[2:]] if phrase in self.commands else args
        )
