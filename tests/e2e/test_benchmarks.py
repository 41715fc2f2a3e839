"""The benchmarks stay runnable: one tiny round of everything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.figures import FIGURES
from tests.kit.service import need

ROOT = Path(__file__).resolve().parent.parent.parent


def smoke(module: str, *words: str) -> None:
    command = [sys.executable, "-m", module, "--smoke", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


TWINS = {
    "download-again-fresh",
    "download-closed-hosts",
    "download-closed-hosts-early",
    "drain-postgres-two",
    "extract-dlt",
    "extract-dlt-plain",
    "extract-lanes",
    "memory-postgres",
    "page-http",
    "paging-postgres",
    "scale-postgres",
    "strays-three",
    "upload-memory",
    "upload-postgres",
    "waiting-postgres",
}
"""Figures that run the same code as another one: on the other store, with other sizes, or beside a
peer that `make test` does not install."""


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_figures_of_every_kind_run(tmp_path):
    names = {figure.name for figure in FIGURES}
    assert names > TWINS
    chosen = sorted(names - TWINS)
    # `--only` takes the beginning of a name.
    assert not [twin for twin in TWINS for name in chosen if twin.startswith(name)]
    measured(tmp_path, *(word for name in chosen for word in ("--only", name)))


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_every_figure_runs(tmp_path):
    measured(tmp_path)


def measured(folder: Path, *words: str) -> None:
    """Run one tiny round, in which nothing may fail."""
    document = folder / "figures.json"
    smoke("benchmarks", *words, "--json", str(document))
    [only_round] = json.loads(document.read_text())["rounds"]
    ours = {name for name in only_round["values"] if name.startswith("headgate")}
    assert "headgate, SQLite" in ours
    assert only_round["failed"] == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_kind_of_limiter_and_every_contender_runs(tmp_path):
    need("nginx")
    need("haproxy")
    document = tmp_path / "limiters.json"
    names = ("nginx 50/s 429", "8 at once 429, headgate, 1", "HAProxy 50 in 1 s, headgate, 1")
    chosen = [word for name in names for word in ("--only", name)]
    smoke("benchmarks.limiters", *chosen, "--json", str(document))
    runs = json.loads(document.read_text())["runs"]
    ours = [run for run in runs if run["contender"] == "headgate"]
    assert {run["processes"] for run in ours} == {1, 4}
    assert all(run["score"]["taken"] for run in ours)
    assert {run["contender"] for run in runs} == {"headgate", "backoff", "told"}
    assert {run["failed"] for run in runs} == {""}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_provider_in_trouble_is_measured():
    smoke("benchmarks.trouble", "--only", "trouble-3-dead")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "chosen", [("--only", "bodies-finished"), ("--only", "jobs-many", "--postgres")]
)
def test_an_attack_is_measured(chosen: tuple[str, ...]):
    smoke("benchmarks.attacks", *chosen)
