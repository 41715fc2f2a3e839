"""Handlers raise or return invalid values: each row gets its outcome, and no worker dies."""

from collections import Counter
from pathlib import Path

from headgate.core.fault import FaultClass
from headgate.core.status import ItemStatus
from tests.faults.handlers import ODD, RAISING, REASONS, RUBBISH
from tests.faults.matrix import with_handlers
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")


@with_handlers("awaited", "plain", "packs")
def test_whatever_a_handler_raises_or_returns_ends_that_row_alone(project: Project, name: str):
    deeds = dict(enumerate([*RAISING, *RUBBISH, *ODD, *REASONS], start=11))
    total = len(deeds) + 60
    file = project.rows(total, deeds)
    ended = project.run(*project.batch(f"{HANDLERS}:{name}", file, pause=0.01))

    assert ended.code == 3, ended.err
    assert "Traceback" not in ended.err
    items = {item.key: item for item in project.assert_finished(total)}
    by_deed = {deed: items.pop(str(number)) for number, deed in deeds.items()}
    assert {(item.status, item.attempts) for item in items.values()} == {(ItemStatus.DONE, 1)}
    crashes = {deed: item.crashes for deed, item in by_deed.items() if item.crashes}
    assert crashes == {}

    for deed in RAISING:
        item = by_deed[deed]
        assert item.status is ItemStatus.ERROR, item
        final = deed == "sys.exit"
        assert item.error_class == (FaultClass.PERMANENT if final else FaultClass.TRANSIENT), item
        assert item.attempts == (1 if final else 3), item
        assert item.last_error, item
    for deed in RUBBISH:
        item = by_deed[deed]
        assert (item.status, item.attempts) == (ItemStatus.ERROR, 1), item
        assert item.error_class == FaultClass.INVALID_RESULT, item
    for deed in ODD:
        assert by_deed[deed].status is ItemStatus.DONE, by_deed[deed]
    for deed in REASONS:
        item = by_deed[deed]
        wanted = ItemStatus.ERROR if deed.startswith("give up") else ItemStatus.SKIPPED
        assert item.status is wanted, item
        assert len(str(item.last_error)) < 5_000
    assert "file \\udcff" in str(by_deed["raise surrogate"].last_error)
    assert "before\\0after" in str(by_deed["raise NUL"].last_error)
    assert "StopIteration" in str(by_deed["raise StopIteration"].last_error)
    assert "bytes" in str(by_deed["return 10 MB"].last_error)
    assert "sys.exit(7)" in str(by_deed["sys.exit"].last_error)


def test_more_running_items_than_board_pages_do_no_harm(sqlite_project: Project):
    """Thirty-two packs of 250 at once."""
    file = sqlite_project.rows(10_000)
    words = sqlite_project.batch(f"{HANDLERS}:packs", file, pause=0.2)
    ended = sqlite_project.run(*words, worker__concurrency=32)
    assert ended.code == 0, ended.err
    items = sqlite_project.assert_finished(10_000)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    assert sqlite_project.executions() == Counter(item.key for item in items)
