"""A worker is killed inside the commit of a page: all of it is kept, or nothing."""

import json
import subprocess
import sys

from headgate.core.mirror import Proof
from tests.faults import pass_writer
from tests.kit.project import Project

STATEMENTS = 8
"""A commit with rows has more of them."""


def commits(project: Project) -> list[list[dict[str, object]]]:
    """What each commit left: before it, after each death, and when it was done."""
    words = [sys.executable, "-m", pass_writer.__name__, project.url]
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_killed_before_any_statement_a_commit_of_a_page_keeps_nothing(project: Project):
    left = commits(project)
    for before, *deaths, _done in left:
        assert len(deaths) > STATEMENTS
        assert deaths == [before] * len(deaths)

    first, last, closed = [commit[-1] for commit in left]
    assert (first["changes"], first["fields"]) == (["1"], ["id"])
    assert (first["checkpoint"], first["items"]) == ([1, 1, 1, 3], [1, 0, 1])
    assert last["checkpoint"] == [2, 3, 1, 3]
    assert last["items"] == [1, 0, 2]
    assert closed["closed"] == [Proof.COVERED, "now", True]
    live = [row_id for row_id, _, _, is_live in closed["rows"] if is_live]
    assert live == ["1", "3", "4", "5"]
    assert closed["items"] == [0, 0, 3]
