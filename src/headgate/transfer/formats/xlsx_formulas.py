"""Find formulas of a sheet without a stored value: their cells are read as empty."""

import re
import zipfile
from html import unescape
from pathlib import Path

CALCULATED = "xl/calcChain.xml"
"""Spreadsheet programs that calculate write this file; then every formula has a value."""
_BLOCK = 1024 * 1024
_LONGEST = 64 * 1024
"""Longest formula with its cell, in bytes."""
_UNVALUED = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*>")
_RELATION = re.compile(rb"<Relationship\b[^>]*>")


class FormulaWatch:
    """Notices whether a workbook contains a formula, at little cost."""

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, piece: bytes) -> None:
        self.seen = self.seen or b"<f>" in piece or b"<f " in piece


def notes_on_formulas(path: Path, sheet: str) -> tuple[str, ...]:
    """A warning if formulas of a sheet were read as empty."""
    count = unvalued_formulas(path, sheet)
    if not count:
        return ()
    cells = "1 cell contains a formula" if count == 1 else f"{count:,} cells contain formulas"
    note = (
        f"warning: {cells} without a stored value, read as empty: open the workbook in a"
        " spreadsheet program and save it, so that they are calculated"
    )
    return (note,)


def unvalued_formulas(path: Path, sheet: str) -> int:
    """Number of cells in a sheet with a formula and no stored value."""
    with zipfile.ZipFile(path) as archive:
        if CALCULATED in archive.namelist():
            return 0
        member = _member(archive, sheet)
        return _count(archive, member) if member else 0


def _count(archive: zipfile.ZipFile, member: str) -> int:
    found, rest = 0, b""
    with archive.open(member) as file:
        while block := file.read(_BLOCK):
            data = rest + block
            end = 0
            for match in _UNVALUED.finditer(data):
                found += 1
                end = match.end()
            rest = data[max(end, len(data) - _LONGEST) :]
    return found


def _member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Name of a sheet's file in the archive."""
    try:
        book = archive.read("xl/workbook.xml")
        relations = archive.read("xl/_rels/workbook.xml.rels")
    except KeyError:
        return None
    wanted = next(
        (
            _attribute(tag, rb"[\w]+:id")
            for tag in _SHEET.findall(book)
            if _attribute(tag, b"name") == sheet
        ),
        None,
    )
    for tag in _RELATION.findall(relations):
        if wanted is not None and _attribute(tag, b"Id") == wanted:
            target = _attribute(tag, b"Target") or ""
            name = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
            return name if name in archive.namelist() else None
    return None


def _attribute(tag: bytes, name: bytes) -> str | None:
    match = re.search(rb"\s" + name + rb"\s*=\s*([\"'])(.*?)\1", tag)
    return unescape(match[2].decode("utf-8", "replace")) if match else None
