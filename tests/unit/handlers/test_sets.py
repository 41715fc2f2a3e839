"""Handler sets: files and modules whose handlers are known by their names."""

import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from headgate.core.errors import UnknownHandler
from headgate.handlers import registry
from headgate.handlers.registry import SHIPPED, HandlerInfo, describe_handlers, load_all, resolve

SHOP = '''
from headgate import handler

@handler(
    "shop.price", provider="shop", strategies=["exact", "fuzzy"], timeout=30, version="2",
    needs=["sku"], config_schema={"type": "object"},
)
async def price(item, ctx):
    """What a thing costs.

    And more.
    """

again = price

@handler("shop.stock", pack=10)
def stock(items, ctx):
    return []

def unmarked(item, ctx):
    return None
'''
PEOPLE = 'from headgate import handler\n\n@handler("people.find")\ndef find(item, ctx): ...\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "people_set").mkdir()
    (tmp_path / "people_set" / "handlers.py").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def names(*references: str) -> list[str]:
    return sorted(name for name in load_all(references) if name not in SHIPPED)


def test_marked_functions_of_files_and_modules_are_known_by_name(folder: Path):
    assert names("shop.py", "people_set.handlers") == ["people.find", "shop.price", "shop.stock"]
    assert names("./shop.py", "shop.py", "shop.py") == ["shop.price", "shop.stock"]
    assert names() == []


def test_a_name_is_its_own_reference(folder: Path):
    spec = resolve("shop.price", ["shop.py"])
    assert (spec.name, spec.reference, spec.version) == ("shop.price", "shop.price", "2")
    assert resolve(spec.reference, ["shop.py"]).call is spec.call


def test_other_references_still_work_beside_sets(folder: Path):
    assert resolve("shop.py:unmarked", ["people_set.handlers"]).reference.endswith(
        "shop.py:unmarked"
    )
    with pytest.raises(UnknownHandler, match=r"'shop\.prise'; did you mean 'shop\.price'\?"):
        resolve("shop.prise", ["shop.py"])
    with pytest.raises(UnknownHandler, match="no handler has the name"):
        resolve("shop.price", ["people_set.handlers"])


def test_two_of_the_same_name_are_an_error_that_names_both_places(folder: Path):
    (folder / "copy.py").write_text(SHOP)
    with pytest.raises(UnknownHandler, match=r"'shop\.price': one of shop\.py, one of copy\.py"):
        load_all(["shop.py", "copy.py"])


def test_a_registered_name_may_not_be_taken(folder: Path, monkeypatch: pytest.MonkeyPatch):
    entry = EntryPoint("shop.price", "elsewhere:price", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    with pytest.raises(UnknownHandler, match=r"the entry point elsewhere:price, one of shop\.py"):
        resolve("shop.stock", ["shop.py"])


def test_registered_handlers_are_listed_by_their_entry_points(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    entry = EntryPoint("registered", "shop:price", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    assert load_all([])["registered"].name == "shop.price"


@pytest.mark.parametrize(
    ("reference", "text", "message"),
    [
        ("none.py", None, "the file .*none.py does not exist"),
        ("no_such_set", None, "the module 'no_such_set' does not exist"),
        ("shop.py:price", None, "give only the file or module"),
        ("empty.py", "x = 1\n", r"empty\.py has no handler: mark its functions"),
        ("broken.py", "1 / 0\n", "line 1 of .*ZeroDivisionError"),
        ("odd.py", PEOPLE.replace("people.find", "a:b"), "'a:b' looks like a file"),
        ("odd.py", PEOPLE.replace("people.find", "b.py"), r"'b\.py' looks like a file"),
    ],
)
def test_what_is_wrong_with_a_set_is_said(folder: Path, reference, text, message):
    if text is not None:
        (folder / reference).write_text(text)
    with pytest.raises(UnknownHandler, match=message):
        load_all([reference])


def test_handlers_have_descriptions_to_choose_by(folder: Path):
    infos = {info.name: info for info in describe_handlers(["shop.py"])}
    assert infos["shop.price"] == HandlerInfo(
        name="shop.price",
        about="What a thing costs.",
        provider="shop",
        strategies=("exact", "fuzzy"),
        timeout_s=30,
        version="2",
        needs=("sku",),
        config_schema={"type": "object"},
    )
    assert infos["shop.stock"].pack == 10
