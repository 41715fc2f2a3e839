"""Whether a handler can be loaded is decided without running it."""

from pathlib import Path

import pytest

from headgate.handlers.presence import handler_problem

CODE = """
raise SystemExit("nobody may run this")
from elsewhere import borrowed as mine
import package.part
def price(item, ctx): ...
async def slow(item, ctx): ...
class Kept:
    def method(self, item, ctx): ...
chosen = first = price
if chosen:
    def late(item, ctx): ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lookup.py"
    path.write_text(CODE)
    return path


@pytest.mark.parametrize(
    "name", ["price", "slow", "mine", "package", "Kept.method", "chosen", "first", "late"]
)
def test_what_a_file_defines_is_there(file: Path, name: str):
    assert handler_problem(f"{file}:{name}") is None


def test_what_is_missing_is_named(file: Path):
    assert handler_problem(f"{file}:prise") == f"{file} has no function 'prise'"
    assert handler_problem(f"{file}:method") == f"{file} has no function 'method'"
    gone = file.with_name("gone.py")
    assert handler_problem(f"{gone}:price") == f"the file {gone} does not exist"
    assert (
        handler_problem(str(file.with_name("gone.toml")))
        == f"the file {file.parent}/gone.toml does not exist"
    )
    assert handler_problem("no_such_package.part:f") == (
        "the module 'no_such_package.part' does not exist"
    )
    file.write_text("def broken(:\n")
    assert "line 1" in (handler_problem(f"{file}:broken") or "")


def test_what_cannot_be_told_is_not_a_problem(file: Path):
    assert handler_problem("json.tool:main") is None
    assert handler_problem("price.lookup") is None
    file.write_text("from elsewhere import *\n")
    assert handler_problem(f"{file}:anything") is None
