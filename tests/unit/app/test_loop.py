"""Where async code begins."""

import gc
from collections.abc import Iterator

import pytest

from headgate.app.loop import YOUNG, load_undisturbed, run_async


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    gc.enable()


async def collector() -> tuple[bool, int]:
    return gc.isenabled(), gc.get_threshold()[0]


def test_garbage_is_looked_for_again_once_everything_is_loaded():
    load_undisturbed()
    assert not gc.isenabled()
    assert run_async(collector()) == (True, YOUNG)


def test_garbage_is_looked_for_less_often_than_python_would():
    gc.set_threshold(700)
    assert run_async(collector()) == (True, YOUNG)
