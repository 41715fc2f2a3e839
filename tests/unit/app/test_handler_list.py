"""A child process lists the handlers, even if importing them fails or hangs."""

import os
import sys
from pathlib import Path

import pytest

from headgate.app.handler_list import list_handlers
from headgate.core.errors import UnknownHandler

SHOP = """
import os, threading
from headgate import handler

print("hello from the import")
os.write(1, b"and from below")
threading.Thread(target=threading.Event().wait).start()

@handler("shop.price", version="2")
def price(item, ctx):
    '''What a thing costs.'''
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop_of_the_list.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("reference", ["shop_of_the_list.py", "shop_of_the_list"])
async def test_it_lists_handlers_without_importing_them_here(reference: str):
    listed = {info.name: info for info in await list_handlers([reference])}
    assert (listed["shop.price"].about, listed["shop.price"].version) == (
        "What a thing costs.",
        "2",
    )
    assert not any("shop_of_the_list" in name for name in sys.modules)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "line 1 of .*ZeroDivisionError"),
        (
            "import os; os.write(2, b'no more'); os._exit(7)",
            "ended the process with code 7: no more",
        ),
        ("import os; os.kill(os.getpid(), 9)", "ended the process with code -9"),
    ],
)
async def test_a_failed_import_is_reported_with_its_reason(folder: Path, code: str, message: str):
    (folder / "bad.py").write_text(code)
    with pytest.raises(UnknownHandler, match=message):
        await list_handlers(["bad.py"])


async def test_an_import_that_never_ends_is_ended(folder: Path):
    (folder / "slow.py").write_text(
        "import os, pathlib, threading\n"
        "pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "threading.Event().wait()\n"
    )
    with pytest.raises(UnknownHandler, match=r"more than 2 s: slow\.py"):
        await list_handlers(["slow.py"], patience_s=2)
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)
