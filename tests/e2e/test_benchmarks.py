"""The benchmarks stay runnable: one tiny round of everything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_figure_runs(tmp_path):
    document = tmp_path / "figures.json"
    words = [sys.executable, "-m", "benchmarks", "--smoke", "--json", str(document)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [only_round] = json.loads(document.read_text())["rounds"]
    ours = {name for name in only_round["values"] if name.startswith("headgate")}
    assert "headgate, SQLite" in ours
    assert only_round["failed"] == {}
