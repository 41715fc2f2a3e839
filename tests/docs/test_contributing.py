"""The table "where to change what" names the places where the code really is."""

import ast
import re
import typing
from pathlib import Path

import msgspec
import pytest

from headgate.app.api.exports import MEDIA_TYPES
from headgate.app.cli.options import FormatName
from headgate.app.settings import Settings
from headgate.transfer.formats.equality import FORMS
from headgate.transfer.sources import WRITABLE
from tests.kit.pages import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TABLE = TEXT[TEXT.index("| I want") : TEXT.index("Pure decisions")]
DEFINED = re.findall(r"((?:`\w+` (?:and|or) )?`\w+`) in `([\w/.]+\.py)`", TABLE)
MOST_WORDS = 40


def row(name: str) -> str:
    [found] = [line for line in TABLE.splitlines() if f"**{name}**" in line]
    return found


def names_in(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return found


def structs_in(kind: type[msgspec.Struct], found: set[type[msgspec.Struct]]) -> None:
    """The struct and all structs in its fields."""
    found.add(kind)
    for field in msgspec.structs.fields(kind):
        for each in (field.type, *typing.get_args(field.type)):
            if isinstance(each, type) and issubclass(each, msgspec.Struct) and each not in found:
                structs_in(each, found)


def test_the_glossary_is_short():
    words = TEXT[TEXT.index("## Words") : TEXT.index("## Where")]
    assert 0 < len(re.findall(r"^\| \*\*", words, re.MULTILINE)) <= MOST_WORDS


def test_paths_exist():
    paths = re.findall(r"`((?:src|tests|docs|benchmarks|web)/[^`*\s]*)[^`]*`", TABLE)
    assert len(paths) > 50
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(("names", "path"), DEFINED)
def test_a_file_defines_what_its_row_says(names: str, path: str):
    assert set(re.findall(r"`(\w+)`", names)) <= names_in(ROOT / path)


def test_the_row_of_settings_names_every_module_with_settings():
    structs: set[type[msgspec.Struct]] = set()
    structs_in(Settings, structs)
    modules = {f"src/{each.__module__.replace('.', '/')}.py" for each in structs}
    assert modules == set(re.findall(r"`(src/[^`]+\.py)`", row("setting")))


def test_every_list_of_formats_has_the_same_formats():
    assert set(FORMS) == set(WRITABLE) == set(MEDIA_TYPES)
    assert set(WRITABLE) <= {each.value for each in FormatName}
