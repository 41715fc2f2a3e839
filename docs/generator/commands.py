"""The commands of the program, as they are declared."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from enum import EnumType
from typing import Any, NamedTuple, get_args

import typer
from typer.models import ArgumentInfo, OptionInfo

from generator.tables import one_line, table
from headgate.app.cli.commands import NAMES, app_with_commands
from headgate.app.cli.runtime import SHARED_TYPES


class Parameter(NamedTuple):
    """An argument or an option of a command, as it was declared."""

    name: str
    kind: Any
    default: Any
    info: OptionInfo | ArgumentInfo


class Command(NamedTuple):
    """A command under its full name."""

    path: str
    about: str
    parameters: Sequence[Parameter]
    examples: Sequence[str]


def commands() -> Iterator[Command]:
    """Every command, in the order in which help shows them."""
    return _commands(app_with_commands(*NAMES), "headgate")


def _commands(group: typer.Typer, path: str) -> Iterator[Command]:
    for found in group.registered_commands:
        if found.callback is not None:
            yield Command(
                f"{path} {found.name}",
                one_line(found.callback.__doc__),
                [*_parameters(found.callback)],
                [line.strip() for line in (found.epilog or "").splitlines() if "$ " in line],
            )
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            name = inner.typer_instance.info.name
            yield from _commands(inner.typer_instance, f"{path} {name}")


def _parameters(callback: Callable[..., Any]) -> Iterator[Parameter]:
    for name, parameter in inspect.signature(callback).parameters.items():
        if name not in SHARED_TYPES and get_args(parameter.annotation):
            kind, info = get_args(parameter.annotation)
            yield Parameter(name, kind, parameter.default, info)


def command_sections() -> str:
    """A section for each command."""
    return "\n\n".join(f"## {each.path}\n\n{_section(each)}" for each in commands())


def _section(command: Command) -> str:
    arguments = [one for one in command.parameters if isinstance(one.info, ArgumentInfo)]
    options = [one for one in command.parameters if isinstance(one.info, OptionInfo)]
    usage = " ".join((command.path, *map(_placeholder, arguments))) + " [OPTIONS]" * bool(options)
    parts = [command.about, f"```text\n{usage}\n```"]
    if arguments:
        rows = [(f"`{_placeholder(one)}`", one_line(one.info.help)) for one in arguments]
        parts.append(table(("argument", "meaning"), rows))
    if options:
        parts.append(_option_table(options))
    if command.examples:
        parts.append("```text\n" + "\n".join(command.examples) + "\n```")
    return "\n\n".join(parts)


def shared_options() -> str:
    """The options that every command takes."""
    return _option_table(
        [
            Parameter(name, get_args(annotation)[0], None, get_args(annotation)[1])
            for name, annotation in SHARED_TYPES.items()
        ]
    )


def _option_table(options: Sequence[Parameter]) -> str:
    rows = [(_option_names(one), _shown_default(one), one_line(one.info.help)) for one in options]
    return table(("option", "default", "meaning"), rows)


def _placeholder(parameter: Parameter) -> str:
    return parameter.info.metavar or parameter.name.upper()


def _option_names(option: Parameter) -> str:
    # Inside Annotated, Typer keeps the first name where a default would stand.
    given = [option.info.default, *(option.info.param_decls or ())]
    names = ", ".join(f"`{name}`" for name in given)
    kind = next(
        (one for one in (option.kind, *get_args(option.kind)) if isinstance(one, type)), str
    )
    if kind is bool:
        return names
    value = option.info.metavar
    if value is None:
        choices: list[str] = list(kind) if isinstance(kind, EnumType) else []
        value = "|".join(choices) or {int: "N", float: "S"}.get(kind, "TEXT")
    return f"{names} `{value}`".replace("|", "\\|")


def _shown_default(option: Parameter) -> str:
    if option.default in {None, "", False, inspect.Parameter.empty}:
        return ""
    return f"`{option.default}`"
