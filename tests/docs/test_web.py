"""What the web UI has been told of the program is current, and so is the way it is built."""

import importlib.util
import json
import re
from types import ModuleType

import pytest

from tests.kit.pages import ROOT

WEB = ROOT / "web"


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
