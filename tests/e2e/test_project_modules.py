"""Files of a project may have the name of a known module, and neighbours are found."""

import csv
from pathlib import Path

import pytest

from tests.kit.cli import Cli

pytestmark = pytest.mark.slow

NAMES = ["random", "queue", "email", "json", "asyncio", "uvloop", "msgspec", "aiohttp", "apsw"]
"""Some of Python's own, some of packages that Headgate needs; some are imported late."""
HANDLER = """
import neighbour

def look(item, ctx):
    import late_neighbour, queue, random
    return {"found": f"{neighbour.NAME} {late_neighbour.NAME} {random.randint(7, 7)}"}
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path)
    for name in NAMES:
        cli.write(f"{name}.py", "raise RuntimeError('this is not the module you want')\n")
    cli.write("neighbour.py", "NAME = 'neighbour'\n")
    cli.write("late_neighbour.py", "NAME = 'late'\n")
    cli.write("rows.csv", "id\n1\n")
    return cli


@pytest.mark.parametrize("handler", ["look.py:look", "random.py:look", "look:look"])
def test_a_project_may_have_files_that_are_named_like_modules(cli: Cli, handler: str):
    cli.write("random.py" if handler.startswith("random") else "look.py", HANDLER)
    said = cli("run", handler, "rows.csv", "--out", "out.csv")
    assert said.code == 0, said.err
    assert "Traceback" not in said.err
    with (cli.folder / "out.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["found"] == "neighbour late 7"


def test_a_module_that_python_hides_is_named_with_what_to_do(cli: Cli):
    said = cli("run", "random:look", "rows.csv")
    assert said.code == 2
    assert "'random' is also a module of Python, which hides your file random.py" in said.err
    assert "write `random.py:function`" in said.err


def test_a_neighbour_comes_before_an_installed_package(cli: Cli):
    cli.write("look.py", "import yarl\n\ndef look(item, ctx):\n    return {'found': yarl.NAME}\n")
    cli.write("yarl.py", "NAME = 'ours'\n")
    said = cli("run", "look.py:look", "rows.csv", "--out", "out.csv")
    assert said.code == 0, said.err
    assert "ours" in (cli.folder / "out.csv").read_text()
