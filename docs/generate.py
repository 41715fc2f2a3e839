"""Writes what the program itself can tell into the pages under docs/reference/.

    python docs/generate.py            write it
    python docs/generate.py --check    exit 1 if a page is not current

A page holds pairs of marks, `<!-- begin NAME -->` and `<!-- end NAME -->`. What lies between them
is replaced; the rest is written by hand.
"""
# ruff: noqa: INP001, T201 (a script beside the pages that it writes)

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import EnumType, StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import typer
from msgspec.inspect import UnionType
from typer.models import ArgumentInfo, OptionInfo

from headgate.app.cli.commands import NAMES, app_with_commands
from headgate.app.cli.runtime import SHARED_TYPES
from headgate.app.settings import LEAVES, Leaf, Settings
from headgate.core import login, provider
from headgate.core.gates.config import GatePolicy
from headgate.core.provider import CachePolicy, CredentialPolicy, InlineRetry, ProviderPolicy
from headgate.core.status import (
    ITEM_DISPLAY,
    JOB_DISPLAY,
    JOB_TRANSITIONS,
    TRANSITIONS,
    ItemStatus,
    JobState,
    StatusDisplay,
)
from headgate.transfer.formats.registry import FORMATS

REFERENCE = Path(__file__).parent / "reference"
MARKED = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
PROVIDER_PARTS: Mapping[str, type[msgspec.Struct]] = {
    "providers.NAME": ProviderPolicy,
    "providers.NAME.credentials.KEY": CredentialPolicy,
    "providers.NAME.credentials.KEY.login": login.LoginPolicy,
    "providers.NAME.retry": InlineRetry,
    "providers.NAME.cache": CachePolicy,
    "gates": GatePolicy,
}
MANNERS = re.compile(r'((?: +# .*\n)+) +"(\w+)": ProviderPolicy\(')
"""What stands above a shipped provider: what it asks for, and where it says so."""
ADDRESS = re.compile(r"https://\S+?(?=[:;,.)]*(?:\s|$))")
ANY_SIZE = 1_000_000
"""A bound that is no smaller is only there to keep nonsense out."""


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
                _one_line(found.callback.__doc__),
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
        rows = [(f"`{_placeholder(one)}`", _one_line(one.info.help)) for one in arguments]
        parts.append(_table(("argument", "meaning"), rows))
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
    rows = [(_option_names(one), _shown_default(one), _one_line(one.info.help)) for one in options]
    return _table(("option", "default", "meaning"), rows)


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


def setting_sections() -> str:
    """A table for each section of the settings."""
    sections: dict[str, list[Leaf]] = {}
    for leaf in LEAVES.values():
        sections.setdefault(leaf.path.rpartition(".")[0], []).append(leaf)
    meanings = dict(documented_fields(Settings))
    parts = []
    for section, found in sections.items():
        rows = [
            (f"`{leaf.path}`", f"`{leaf.variable}`", _default(leaf), meanings[leaf.path])
            for leaf in found
        ]
        title = f"## The section `[{section}]`" if section else "## At the top of the file"
        parts += [title, _table(("setting", "variable", "default", "meaning"), rows)]
    return "\n\n".join(parts)


def documented_fields(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each setting with the sentence that stands under it in its class."""
    sentences = field_sentences(struct)
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from documented_fields(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, sentences.get(field.name, "")


def field_sentences(struct: type) -> Mapping[str, str]:
    """The strings under the fields of a class, which are comments to Python."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(struct))).body
    lines = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: _one_line(text.value.value)
        for field, text in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _default(leaf: Leaf) -> str:
    if leaf.default is None:
        return "unset"
    if leaf.default == ():
        return "none"
    choices: list[str] = list(leaf.type) if isinstance(leaf.type, EnumType) else []
    others = [f"`{each}`" for each in choices if each != leaf.default]
    return f"`{leaf.default}`" + (f" (or {', '.join(others)})" if others else "")


def provider_settings() -> str:
    """A table for providers, for each of their parts, and for what holds at every gate."""
    return "\n\n".join(
        f"## The section `[{section}]`\n\n{_policy_table(policy)}"
        for section, policy in PROVIDER_PARTS.items()
    )


def _policy_table(policy: type[msgspec.Struct]) -> str:
    sentences = field_sentences(policy)
    rows = [
        (
            f"`{field.name}`",
            _kind(msgspec.inspect.type_info(field.type)),
            _plain_default(field.default),
            sentences.get(field.name, ""),
        )
        for field in msgspec.structs.fields(policy)
    ]
    return _table(("setting", "type", "default", "meaning"), rows)


def _kind(info: msgspec.inspect.Type) -> str:
    """What may be written there, in words."""
    match info:
        case UnionType(types=(some, *_)):
            return _kind(some)
        case msgspec.inspect.EnumType(cls=choices):
            return ", ".join(f"`{each}`" for each in choices)
        case msgspec.inspect.VarTupleType(item_type=item):
            return f"list of {_kind(item).replace('number', 'numbers')}"
        case msgspec.inspect.DictType(value_type=msgspec.inspect.StrType() | UnionType() as value):
            return "table of text and secrets" if isinstance(value, UnionType) else "table of text"
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            return f"number{_bounds(info)}"
        case msgspec.inspect.BoolType():
            return "`true`, `false`"
        case msgspec.inspect.StrType():
            return "text"
        case _:
            return "see below"


def _bounds(info: msgspec.inspect.IntType | msgspec.inspect.FloatType) -> str:
    if info.gt is not None:
        return f" above {info.gt:g}"
    if info.le is None or info.le >= ANY_SIZE:
        return f" from {info.ge or 0:g}"
    return f" from {info.ge or 0:g} to {info.le:g}"


def _plain_default(value: object) -> str:
    if value in {None, "", (), msgspec.NODEFAULT} or isinstance(value, msgspec.Struct):
        return ""
    return f"`{_toml(value)}`"


def shipped_providers() -> str:
    """Each with what it asks for, where it says so, and what is made of that."""
    manners = {name: text for text, name in MANNERS.findall(inspect.getsource(provider))}
    return "\n\n".join(
        f"### {name}\n\n{_linked(manners[name])}\n\n"
        f"```toml\n[providers.{name}]\n{_changes(policy)}\n```"
        for name, policy in provider.PRESETS.items()
    )


def _linked(comment: str) -> str:
    text = _one_line(re.sub(r"^ *# ", "", comment, flags=re.MULTILINE))
    return ADDRESS.sub(lambda found: f"<{found[0]}>", text)


def _changes(policy: msgspec.Struct, prefix: str = "") -> str:
    """What a policy says beyond the defaults, as lines of TOML."""
    lines = []
    for field in msgspec.structs.fields(policy):
        value = getattr(policy, field.name)
        if value in ({}, field.default):
            continue
        if isinstance(value, msgspec.Struct):
            lines.append(_changes(value, f"{prefix}{field.name}."))
        else:
            lines.append(f"{prefix}{field.name} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, msgspec.Struct):
        return f"{{ {_changes(value).replace(chr(10), ', ')} }}"
    return json.dumps(value)


def statuses(table: Mapping[Any, StatusDisplay], noun: str) -> str:
    """A table of the statuses, their labels in the web UI, and their meanings."""
    rows = [(f"`{status}`", each.label, each.help) for status, each in table.items()]
    return _table((noun, "label", "meaning"), rows)


def moves(table: Mapping[Any, Any], order: type[StrEnum]) -> str:
    """A table of the legal moves."""
    rows = [
        (f"`{move}`", ", ".join(f"`{one}`" for one in order if one in sources), f"`{target}`")
        for move, (sources, target) in table.items()
    ]
    return _table(("move", "from", "to"), rows)


def diagram(table: Mapping[Any, Any], first: str) -> str:
    """The same as a picture."""
    edges: dict[tuple[str, str], list[str]] = {}
    for move, (sources, target) in table.items():
        for source in sorted(sources):
            edges.setdefault((source, target), []).append(move.replace("_", " "))
    lines = [f"    [*] --> {first}"]
    lines += [f"    {a} --> {b}: {', '.join(names)}" for (a, b), names in edges.items()]
    return "```mermaid\nstateDiagram-v2\n" + "\n".join(lines) + "\n```"


def format_table() -> str:
    """A row for each format, from its record."""
    rows = []
    for each in FORMATS.values():
        needs = f'; needs `pip install "headgate[{each.extra}]"`' if each.extra else ""
        yes = ["yes" if fact else "no" for fact in (each.writer, each.by_lines)]
        rows.append((f"`{each.name}`", f"`{'`, `'.join(each.endings)}`", each.about + needs, *yes))
    return _table(("`--format`", "endings", "content", "written", "also as `.gz`"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


PARTS: Mapping[str, Callable[[], str]] = {
    "shared-options": shared_options,
    "commands": command_sections,
    "settings": setting_sections,
    "provider-settings": provider_settings,
    "shipped-providers": shipped_providers,
    "item-statuses": lambda: statuses(ITEM_DISPLAY, "status"),
    "job-states": lambda: statuses(JOB_DISPLAY, "state"),
    "formats": format_table,
    "item-moves": lambda: moves(TRANSITIONS, ItemStatus),
    "item-diagram": lambda: diagram(TRANSITIONS, ItemStatus.PENDING),
    "job-moves": lambda: moves(JOB_TRANSITIONS, JobState),
    "job-diagram": lambda: diagram(JOB_TRANSITIONS, JobState.INGESTING),
}


def refreshed(text: str) -> str:
    """The page with its generated parts as they must be now."""
    return MARKED.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}", text)


def stale() -> list[Path]:
    """The pages that are not what the program says now."""
    pages = sorted(REFERENCE.glob("*.md"))
    return [page for page in pages if refreshed(page.read_text("utf-8")) != page.read_text("utf-8")]


def main() -> None:
    """Write the pages, or say which are not current."""
    found = stale()
    if "--check" in sys.argv[1:]:
        for page in found:
            print(f"{page.name} is not current: python docs/generate.py", file=sys.stderr)
        sys.exit(1 if found else 0)
    for page in found:
        page.write_text(refreshed(page.read_text("utf-8")), "utf-8")
        print(f"wrote {page.name}")


if __name__ == "__main__":
    main()
