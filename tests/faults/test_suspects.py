"""A row that ends its process is found among rows that wait at gates; the others finish."""

from pathlib import Path

from headgate.core.fault import FaultClass
from headgate.core.status import ItemStatus
from tests.kit.project import Project
from tests.kit.provider import Provider

HANDLERS = Path(__file__).with_name("paced.py")


def test_no_innocent_row_is_condemned_while_rows_wait_at_a_gate(sqlite_project: Project):
    project = sqlite_project
    file = project.rows(14, {8: "crash"})
    with Provider() as provider:
        words = project.batch(f"{HANDLERS}:awaited", file, url=provider.url(""))
        ended = project.run(*words, worker__concurrency=2)
    assert ended.code == 3, ended.err
    items = {item.key: item for item in project.assert_finished(14)}
    guilty = items.pop("8")
    assert (guilty.status, guilty.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert {(item.status, item.attempts) for item in items.values()} == {(ItemStatus.DONE, 1)}
