"""The demo and the site work as the README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.pages import ROOT


@pytest.mark.slow
def test_the_demo_ends_well_and_leaves_nothing_running(tmp_path):
    demo = tmp_path / "examples" / "demo"
    shutil.copytree(
        ROOT / "examples" / "demo", demo, ignore=shutil.ignore_patterns("results", "__pycache__")
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", str(demo / "run")],
        env={**os.environ, "PATH": path, "HEADGATE_WORKER__CONCURRENCY": "nonsense"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2000 rows in, 2000 rows out" in ended.stdout
    assert "(exit code 4)" in ended.stdout
    left = {file.name for file in demo.iterdir()} - {"__pycache__"}
    assert left == {".gitignore", "lookup.py", "results", "run", "service.py"}
    port = re.search(r"listens on 127\.0\.0\.1:(\d+)", ended.stdout)
    assert port is not None
    assert not _answers(int(port[1]))


def _answers(port: int) -> bool:
    probe = subprocess.run(
        ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], capture_output=True, check=False
    )
    return probe.returncode == 0


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--config-file",
            "docs/mkdocs/mkdocs.yml",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "docs" / "mkdocs" / "mkdocs.yml").read_text("utf-8")
    pages = [str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.md")]
    pages.remove("requirements.md")  # for contributors, not for readers of the site
    assert [page for page in pages if f": {page}\n" not in navigation] == []


def test_links_of_the_root_pages_lead_somewhere():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text("utf-8")
        targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
        assert [target for target in targets if not (ROOT / target).exists()] == []


def test_paths_of_the_security_page_exist():
    page = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
    paths = re.findall(r"`([\w*]+/[\w*/]+(?:\.py|/))`", page)
    assert len(paths) > 40
    assert [path for path in paths if not [*(ROOT / "src" / "headgate").glob(path)]] == []
