"""The generated files of the web UI are current, and so are its build rules."""

import importlib.util
import itertools
import json
import re
from types import ModuleType

import pytest

from headgate.core.status import ITEM_DISPLAY, JOB_DISPLAY
from tests.kit.pages import ROOT
from tests.kit.reference import load_generator

WEB = ROOT / "web"
PAGE = (ROOT / "docs" / "reference" / "web.md").read_text("utf-8")


def sources() -> dict[str, str]:
    """What the UI is made of, without its tests and what is drawn."""
    files = [*(WEB / "src").rglob("*.ts"), *(WEB / "src").rglob("*.tsx")]
    return {
        str(file.relative_to(WEB)): file.read_text("utf-8")
        for file in files
        if ".test." not in file.name and file.name != "schema.ts"
    }


def rows_below(heading: str) -> list[list[str]]:
    """The rows of a table of the page, each cell as the words in code marks."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?!where|path|-)(.*) \|$", table, re.MULTILINE)
    return [re.findall(r"`([^`]+)`", row) for row in rows]


@pytest.fixture
def schema() -> ModuleType:
    """The script that draws the types."""
    spec = importlib.util.spec_from_file_location("web_schema", WEB / "schema.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_api_are_current(schema: ModuleType):
    first_line = schema.SCHEMA.read_text().partition("\n")[0]
    assert first_line == schema.head(schema.described()), "run `npm run schema` in web/"


def test_the_statuses_and_moves_are_current(schema: ModuleType):
    assert schema.MOVES.read_text() == schema.moves(), "run `npm run schema` in web/"


def test_every_colour_of_a_status_is_a_token_in_both_themes():
    light, dark = (WEB / "src" / "design" / "tokens.css").read_text().split("[data-theme=", 1)
    tones = {each.tone for each in (*ITEM_DISPLAY.values(), *JOB_DISPLAY.values())}
    for theme in (light, dark):
        missing = [
            name
            for tone in sorted(tones)
            for name in (tone, f"{tone}-soft")
            if f"--{name}: #" not in theme
        ]
        assert missing == []


def test_the_formats_are_current(schema: ModuleType):
    assert schema.FORMATS_FILE.read_text() == schema.formats(), "run `npm run schema` in web/"


def test_the_lock_names_no_registry_and_every_digest():
    packages = json.loads((WEB / "package-lock.json").read_text())["packages"]
    fetched = {name: entry for name, entry in packages.items() if name}
    assert len(fetched) > 50
    for name, entry in fetched.items():
        assert "resolved" not in entry, name
        assert entry["integrity"].startswith("sha512-"), name


def test_the_page_has_no_script_or_style_of_its_own():
    """The Content-Security-Policy would refuse them."""
    page = (WEB / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []


def test_every_key_is_in_the_reference():
    calls = r'(?:useKey\(|\bkey: )"([^"]+)",'
    used = {key for text in sources().values() for key in re.findall(calls, text)}
    told = set(itertools.chain.from_iterable(rows_below("Keys")))
    assert used >= {"j", "k", "x", "r", "/", "?"}
    assert used | {"Esc", "1", "2"} == told


def test_every_address_is_in_the_reference():
    routes = (WEB / "src" / "routes.tsx").read_text("utf-8")
    used = []
    for path, rest in re.findall(r'path: "([^"]+)",(.*?)\}\);', routes, re.DOTALL):
        names = re.search(r"only\(([^)]*)\)", rest)
        if path != "$":  # where nothing is
            used.append([path, *re.findall(r'"(\w+)"', names[1] if names else "")])
    assert sorted(used) == sorted(rows_below("Addresses"))


def test_commands_that_the_pages_name_exist():
    known = [command.path.split()[1:] for command in load_generator().commands()]
    named = [
        (file, words.split())
        for file, text in sources().items()
        for words in re.findall(r"\bheadgate ((?:[a-z-]+ ?)+)", text)
    ]
    assert len(named) > 5
    unknown = [
        (file, words)
        for file, words in named
        if not any(words[: len(path)] == path for path in known)
    ]
    assert unknown == []
