"""How the tests of a run are shared out among its processes."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = ["tests/unit/core/gates/test_budget.py", "tests/unit/core/pacing/test_headers.py"]
RAN = re.compile(r"^\[(gw\d)\] .*PASSED ([^:]+)::", re.MULTILINE)


@pytest.mark.slow
def test_the_tests_of_a_file_run_in_one_process():
    """Otherwise each process starts the servers that the tests of a file share."""
    words = ["-v", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *FILES]
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    processes = defaultdict(set)
    for process, file in RAN.findall(done.stdout):
        processes[file].add(process)
    assert sorted(processes) == FILES
    assert [len(each) for each in processes.values()] == [1, 1]
    assert len(set.union(*processes.values())) == 2
