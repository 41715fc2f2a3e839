"""Writes what the program itself can tell into the pages under docs/reference/.

    python docs/generate.py            write it
    python docs/generate.py --check    exit 1 if a page is not current

A page holds pairs of marks, `<!-- begin NAME -->` and `<!-- end NAME -->`. What lies between them
is replaced; the rest is written by hand.
"""
# ruff: noqa: INP001, T201 (a script beside the pages that it writes)

import re
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from generator.commands import command_sections, commands, shared_options
from generator.policies import (
    PROVIDER_PARTS,
    provider_settings,
    setting_sections,
    shipped_providers,
)
from generator.sources import shipped_sources, source_sections
from generator.tables import documented_fields, field_sentences, table

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

__all__ = ["PROVIDER_PARTS", "commands", "documented_fields", "field_sentences"]
REFERENCE = Path(__file__).parent / "reference"
MARKED = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def statuses(displays: Mapping[Any, StatusDisplay], noun: str) -> str:
    """A table of the statuses, their labels in the web UI, and their meanings."""
    rows = [(f"`{status}`", each.label, each.help) for status, each in displays.items()]
    return table((noun, "label", "meaning"), rows)


def moves(legal: Mapping[Any, Any], order: type[StrEnum]) -> str:
    """A table of the legal moves."""
    rows = [
        (f"`{move}`", ", ".join(f"`{one}`" for one in order if one in sources), f"`{target}`")
        for move, (sources, target) in legal.items()
    ]
    return table(("move", "from", "to"), rows)


def diagram(legal: Mapping[Any, Any], first: str) -> str:
    """The same as a picture."""
    edges: dict[tuple[str, str], list[str]] = {}
    for move, (sources, target) in legal.items():
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
    return table(("`--format`", "endings", "content", "written", "also as `.gz`"), rows)


PARTS: Mapping[str, Callable[[], str]] = {
    "shared-options": shared_options,
    "commands": command_sections,
    "settings": setting_sections,
    "provider-settings": provider_settings,
    "shipped-providers": shipped_providers,
    "item-statuses": lambda: statuses(ITEM_DISPLAY, "status"),
    "job-states": lambda: statuses(JOB_DISPLAY, "state"),
    "formats": format_table,
    "source-words": source_sections,
    "shipped-sources": shipped_sources,
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
