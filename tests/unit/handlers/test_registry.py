"""Handlers are found by file, by module and by name, and errors say what is wrong."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from headgate.core.errors import UnknownHandler
from headgate.handlers import registry
from headgate.handlers.registry import resolve
from headgate.ports.handler import HandlerSpec

LOOKUP = """
from headgate import handler
from sibling_of_lookup import PRICE

@handler("price.lookup", timeout=30)
async def price(item, ctx):
    return {"price": PRICE}

def plain(item, ctx):
    return None

def one(item):
    return None

def stream(item, ctx):
    yield item

@handler("packed", pack=5)
def packed(items):
    return []

class Service:
    def __init__(self, a, b): ...
    def __call__(self, item, ctx): ...
    def run(self, item, ctx): ...

service = Service(1, 2)
number = 12
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "lookup.py").write_text(LOOKUP)
    (tmp_path / "sibling_of_lookup.py").write_text("PRICE = 12.5\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_of_a_file_with_what_lies_beside_it(folder: Path):
    spec = resolve("lookup.py:price")
    assert (spec.name, spec.timeout_s, spec.is_async) == ("price.lookup", 30, True)
    assert spec.reference == f"{folder / 'lookup.py'}:price"
    assert resolve(spec.reference).call is spec.call


def test_a_plain_function_is_named_by_its_reference(folder: Path):
    spec = resolve("./lookup.py:plain")
    assert spec.name == spec.reference == f"{folder / 'lookup.py'}:plain"
    assert not spec.is_async


def test_a_file_fixed_within_a_second_is_loaded_as_it_is_now(folder: Path):
    """Bytecode of the same second and size counts as current for Python."""
    file = folder / "priced.py"
    for column in ("prise", "price"):
        file.write_text(f"def column(item, ctx):\n    return {column!r}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        script = (
            "from headgate.handlers.registry import resolve;"
            "print(resolve('priced.py:column').call(None, None))"
        )
        found = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == column


def test_a_callable_object_and_a_bound_method(folder: Path):
    assert callable(resolve("lookup.py:service").call)
    assert callable(resolve("lookup.py:service.run").call)


def test_a_function_of_a_module(folder: Path):
    sys.path.insert(0, str(folder))
    assert resolve("lookup:price").reference == "lookup:price"


def test_a_registered_name(folder: Path, monkeypatch: pytest.MonkeyPatch):
    sys.path.insert(0, str(folder))
    entry = EntryPoint("shop.price", "lookup:price", registry.GROUP)
    broken = EntryPoint("shop.broken", "lookup:nothing", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry, broken])
    spec = resolve("shop.price")
    assert (spec.name, spec.reference) == ("price.lookup", "shop.price")
    with pytest.raises(UnknownHandler, match=r"'shop\.broken' \(lookup:nothing\)"):
        resolve("shop.broken")
    with pytest.raises(UnknownHandler, match=r"did you mean 'shop\.price'\?.*file\.py:function"):
        resolve("shop.prise")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("none.py:price", "the file .*none.py does not exist"),
        ("none.py", "the file none.py does not exist"),
        ("lookup.py", "name a function of lookup.py: lookup.py:price"),
        ("lookup.py:prise", "no function 'prise'; did you mean 'price'"),
        ("lookup.py:xyz", r"no function 'xyz' \(it has price, packed, plain, one, stream\)"),
        ("lookup.py:number", "is a int, not a function"),
        ("lookup.py:Service", "is a class, not a function"),
        ("lookup.py:one", r"takes \(item\), but a handler is called with \(item, ctx\)"),
        ("lookup.py:packed", r"takes \(items\), but a handler is called with \(items, ctx\)"),
        ("lookup.py:stream", "yields"),
        ("no_such_module:f", "the module 'no_such_module' does not exist"),
        ("no_such.module:f", r"the module 'no_such\.module' does not exist"),
        ("price", "no handler has the name 'price'"),
        (":price", "should be"),
        ("lookup.py:", "should be"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, reference: str, message: str):
    with pytest.raises(UnknownHandler, match=message):
        resolve(reference)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\nimport no_such_thing\n", "line 2 of .*ModuleNotFoundError: .*no_such_thing"),
        ("\n\ndef f(:\n", "line 3: invalid syntax"),
        ("def g():\n    return 1 / 0\n\ng()\n", "line 2 of .*ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", "line 2 of .*SystemExit: 3"),
    ],
)
def test_an_import_that_fails_names_the_users_line(folder: Path, code: str, message: str):
    (folder / "broken_handler.py").write_text(code)
    with pytest.raises(UnknownHandler, match=message):
        resolve("broken_handler.py:f")
    sys.path.insert(0, str(folder))
    with pytest.raises(UnknownHandler, match="module 'broken_handler' cannot be imported"):
        resolve("broken_handler:f")
    (folder / "broken_handler.py").write_text("def f(item, ctx): ...\n")
    assert isinstance(resolve("broken_handler.py:f"), HandlerSpec)


def test_another_process_finds_the_same_from_anywhere(folder: Path):
    reference = resolve("lookup.py:price").reference
    code = f"from headgate.handlers.registry import resolve; print(resolve({reference!r}).name)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True
    )
    assert found.stdout == "price.lookup\n"


def test_a_file_is_whole_for_every_thread_that_loads_it(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text(
        "import time\nfrom headgate import handler\ntime.sleep(0.2)\n\n"
        '@handler("late")\ndef late(item, ctx):\n    return {}\n'
    )
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: resolve("late", [str(file)]).name, range(4)))
    assert found == ["late"] * 4
