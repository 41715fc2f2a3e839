"""The table "where to change what" names the places where the code really is."""

import ast
import re
import typing
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from headgate.app.settings import Settings
from headgate.core.job import Counts, Job
from headgate.core.status import ItemStatus
from headgate.schema.jobs import CountsView, JobResponse
from headgate.transfer.formats.registry import FORMATS, WRITABLE, load
from headgate.transfer.places.opening import DRIVERS
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


HOW_IT_WORKS = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text("utf-8")


def test_the_architecture_shows_every_package():
    shown = HOW_IT_WORKS[HOW_IT_WORKS.index("## Packages") :]
    packages = [each.parent.name for each in (ROOT / "src" / "headgate").glob("*/__init__.py")]
    assert {each for each in packages if not re.search(rf"\b{each}\b", shown)} == set()


def test_the_architecture_shows_every_process():
    shown = HOW_IT_WORKS[HOW_IT_WORKS.index("## Processes") :]
    source = ROOT / "src" / "headgate"
    mains = {
        str(file.relative_to(source))
        for file in source.rglob("*.py")
        if '__name__ == "__main__"' in file.read_text("utf-8")
    } - {"__main__.py"}
    assert mains
    assert {each for each in mains if f"`{each}`" not in shown} == set()


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


def test_every_list_of_counts_has_a_number_for_each_status():
    numbers = {status.lower() for status in ItemStatus}
    assert set(Counts.__struct_fields__) == numbers
    assert set(CountsView.__struct_fields__) - {"total"} == numbers


def test_a_job_has_the_fields_that_the_api_sends():
    kept = {"ingest_run", "ingest_position", "reading", "options", "mirror_id", "made_before"}
    assert set(JobResponse.__struct_fields__) - {"counts"} == set(Job.__struct_fields__) - kept


def test_the_row_of_formats_names_the_folder_and_the_registry_alone():
    assert set(re.findall(r"`(src/[^`]+)`", row("format"))) == {
        "src/headgate/transfer/formats/",
        f"src/{FORMATS['csv'].__class__.__module__.replace('.', '/')}.py",
    }


def test_the_record_of_a_format_names_what_exists():
    assert WRITABLE
    for each in FORMATS.values():
        assert callable(load(each.reader)), each.name
    for name in WRITABLE:
        written = FORMATS[name]
        assert callable(load(written.writer or ""))
        assert load(written.equality or "").row_differs([], {}, {}) is None
        assert "/" in (written.media_type or "")


def test_the_row_of_places_names_the_folder_of_every_driver_and_its_tests():
    folders = re.findall(r"`(src/[^`]+/)`", row("place"))
    modules = [import_module(each.module) for each in DRIVERS.values()]
    assert [str(Path(each.__file__ or "").parent.relative_to(ROOT)) + "/" for each in modules] == (
        folders * len(DRIVERS)
    )
    for module, each in zip(modules, DRIVERS.values(), strict=True):
        assert callable(getattr(module, each.driver))
    tested = (ROOT / "tests/conformance/place/conftest.py").read_text("utf-8")
    assert {each for each in DRIVERS if f'"{each}"' not in tested} == {"https"}  # as http, with TLS


def test_formats_are_listed_in_their_registry_alone():
    """A new format costs its module and its record; every other list derives from the records."""
    registry = ROOT / "src/headgate/transfer/formats/registry.py"
    files = [*(ROOT / "src/headgate").rglob("*.py"), *(ROOT / "web/src").rglob("*.ts*")]
    generated = {"formats.ts", "schema.ts"}
    assert [
        f"{file.relative_to(ROOT)}: {found}"
        for file in files
        if file != registry and file.name not in generated
        for found in lists_of_formats(file.read_text("utf-8"))
    ] == []


def lists_of_formats(text: str) -> list[str]:
    """Three or more names of formats, one after the other, as in a list, an enum or a table."""
    name = rf"""["']({"|".join(FORMATS)})["']"""
    return [
        found[0] for found in re.finditer(rf"{name}(?:[^\"'\n]*\n?[^\"'\n]*{name}){{2,}}", text)
    ]
