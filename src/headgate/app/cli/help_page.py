"""The page that `--help` prints: description, options by topic, examples.

Not drawn by Typer: importing Rich takes longer than the whole page may take.
"""

import inspect
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from headgate.app.cli.render.tables import is_terminal

ARGUMENTS = "Arguments"
OPTIONS = "Options"
COMMANDS = "Commands"
NARROWEST = 24
"""Minimum width of the explanations, in columns, if the terminal is wide enough."""
SMALLEST_SCREEN = 60
"""Minimum width of the page, in columns. A narrower terminal wraps the lines."""

_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z])(?![\w-])")
_TAG = re.compile(r"\[(?:default: [^\]]*|required)\]")
_CODES = {"bold": "1", "dim": "2", "cyan": "1;36", "green": "1;32", "yellow": "33", "type": "1;33"}


class HelpRow(NamedTuple):
    cells: tuple[str, ...]
    about: str


class Paint:
    def __init__(self, *, on: bool) -> None:
        self.on = on

    def __call__(self, colour: str, text: str) -> str:
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.on and text.strip() else text

    def prose(self, text: str) -> str:
        tagged = _TAG.sub(lambda found: self("dim", found[0]), text)
        return _OPTION.sub(lambda found: self._option(found[0]), tagged)

    def _option(self, text: str) -> str:
        return self("cyan" if text.startswith("--") else "green", text)


class HelpCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx, ()))


class HelpGroup(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx, self.summaries(ctx)))

    def summaries(self, context: Any) -> Sequence[tuple[str, str]]:
        found = ((name, self.get_command(context, name)) for name in self.list_commands(context))
        return [(name, summary(one.help)) for name, one in found if one and not one.hidden]


def summary(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split())


def page(command: Any, ctx: Any, commands: Sequence[tuple[str, str]]) -> str:
    width = max(SMALLEST_SCREEN, shutil.get_terminal_size((80, 25)).columns)
    on = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    paint = Paint(on=on and os.environ.get("TERM") != "dumb")
    lines = ["", *_usage(command.get_usage(ctx), width, paint), ""]
    if command.help:
        lines += [*_paragraphs(command.help, width, paint), ""]
    for title, rows in _panels(command, ctx).items():
        lines += _panel(title, rows, width, paint)
    if commands:
        rows = [HelpRow((paint("cyan", name),), about) for name, about in commands]
        lines += _panel(COMMANDS, rows, width, paint)
    if command.epilog:
        lines += ["", *_paragraphs(command.epilog, width, paint)]
    return "\n".join([*lines, ""])


def _usage(text: str, width: int, paint: Paint) -> list[str]:
    first, _, rest = text.partition(": ")
    lines = textwrap.wrap(f" {first}: {rest}", width, subsequent_indent=" " * 8)
    lines[0] = lines[0].replace(f"{first}:", paint("yellow", f"{first}:"), 1)
    return lines


def _paragraphs(text: str, width: int, paint: Paint) -> list[str]:
    lines: list[str] = []
    for part in inspect.cleandoc(text).split("\n\n"):
        indent = " " * (1 + len(part) - len(part.lstrip()))
        words = " ".join(part.split())
        lines += textwrap.wrap(
            words,
            width - 1,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        ) or [""]
        lines.append("")
    return [paint.prose(line) for line in lines[:-1]]


def _panels(command: Any, ctx: Any) -> Mapping[str, list[HelpRow]]:
    """Rows by panel: arguments, options, then topics in the order of declaration."""
    panels: dict[str, list[HelpRow]] = {ARGUMENTS: [], OPTIONS: []}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        own = OPTIONS if isinstance(parameter, TyperOption) else ARGUMENTS
        title = getattr(parameter, "rich_help_panel", None) or own
        panels.setdefault(title, []).append(_row(parameter, ctx))
    return {title: rows for title, rows in panels.items() if rows}


def _row(parameter: Any, ctx: Any) -> HelpRow:
    if isinstance(parameter, TyperArgument):
        names = [parameter.metavar or parameter.name or ""]
        kind = parameter.type.get_metavar(param=parameter, ctx=ctx) or f"<{parameter.type.name}>"
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
        kind = "" if parameter.is_flag else parameter.make_metavar(ctx=ctx)
        kind += _range(parameter)
    long = ",".join(name for name in names if name.startswith("--"))
    short = ",".join(name for name in names if not name.startswith("--"))
    marker = "*" if parameter.required else ""
    return HelpRow((marker, long, short, kind), _about(parameter, ctx))


def _range(parameter: Any) -> str:
    describe = getattr(parameter.type, "_describe_range", None)
    return f" [{text}]" if describe is not None and (text := describe()) else ""


def _about(parameter: Any, ctx: Any) -> str:
    parts = [" ".join((parameter.help or "").split())]
    default = parameter._extract_default_help_str(ctx=ctx)  # noqa: SLF001  Typer has no other way
    if default is not None and (parameter.show_default or ctx.show_default):
        shown = parameter._get_default_string(  # noqa: SLF001  Typer has no other way
            ctx=ctx, show_default_is_str=False, default_value=default
        )
        parts += [f"[default: {shown}]"] if shown else []
    parts += ["[required]"] if parameter.required else []
    return " ".join(parts)


def _panel(title: str, rows: Sequence[HelpRow], width: int, paint: Paint) -> list[str]:
    inner = width - 4
    left, right = paint("dim", "│"), paint("dim", "│")
    ruler = "─" * (width - len(title) - 5)
    texts = _laid_out(rows, inner, paint)
    return [
        paint("dim", f"╭─ {title} {ruler}╮"),
        *(f"{left} {text}{' ' * (inner - _width(text))} {right}" for text in texts),
        paint("dim", f"╰{'─' * (width - 2)}╯"),
    ]


def _laid_out(rows: Sequence[HelpRow], width: int, paint: Paint) -> Iterable[str]:
    """The rows in columns, without empty columns; a wide column wraps to leave room."""
    columns = [column for column in zip(*(row.cells for row in rows), strict=True) if any(column)]
    widths = [max(map(_width, column)) for column in columns]
    room = width - sum(widths) - 2 * len(widths)
    if room < NARROWEST and widths:
        widths[-1] = max(8, widths[-1] - (NARROWEST - room))
        room = max(8, width - sum(widths) - 2 * len(widths))
    for number, row in enumerate(rows):
        cells = [column[number] for column in columns]
        folded = [
            [cell] if _width(cell) <= wide else textwrap.wrap(cell, wide)
            for cell, wide in zip(cells, widths, strict=True)
        ]
        about = _sentences(row.about, room)
        for line in range(max(len(about), *map(len, folded))):
            parts = [
                _cell(paint, cell[line] if line < len(cell) else "", wide)
                for cell, wide in zip(folded, widths, strict=True)
            ]
            yield "  ".join([*parts, paint.prose(about[line]) if line < len(about) else ""])


def _sentences(text: str, width: int) -> list[str]:
    """The text in lines; a `[default: …]` tag is not split if it fits on one line."""
    kept = _TAG.sub(lambda found: found[0].replace(" ", "\xa0"), text)
    lines = textwrap.wrap(kept, width, break_on_hyphens=False) or [""]
    return [line.replace("\xa0", " ") for line in lines]


def _cell(paint: Paint, text: str, width: int) -> str:
    space = " " * (width - _width(text))
    plain = text == _without_colours(text)
    coloured = paint.prose(text) if text.startswith("-") else paint("type", text)
    return (coloured if plain else text) + space


def _width(text: str) -> int:
    return len(_without_colours(text))


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)
