"""Several processes use one HTTP cache and one is killed: all answers stay correct."""

import subprocess
import sys
from pathlib import Path

import apsw

USER = Path(__file__).with_name("cache_user.py")
ENDLESS = 1_000_000


def start(folder: Path, seed: int, rounds: int) -> "subprocess.Popen[str]":
    words = [sys.executable, str(USER), str(folder), str(seed), str(rounds)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_in_the_middle(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.kill()
    process.communicate()


def test_processes_share_a_cache_and_may_be_killed(tmp_path: Path):
    users = [start(tmp_path, seed, 300) for seed in range(2)]
    for seed in range(2, 5):
        kill_in_the_middle(start(tmp_path, seed, ENDLESS))
    for user in users:
        _, said = user.communicate()
        assert user.returncode == 0, said
    assert_sound(tmp_path)


def assert_sound(folder: Path) -> None:
    with apsw.Connection(str(folder / "cache.db")) as index:
        assert list(index.execute("PRAGMA integrity_check")) == [("ok",)]
        [(total,)] = index.execute("SELECT bytes FROM state")
        assert [(total,)] == list(index.execute("SELECT sum(size) FROM entries"))
        assert 0 < total <= 1_500_000
        named = "SELECT blob, size FROM entries WHERE blob IS NOT NULL"
        for name, size in index.execute(named):
            assert (folder / "blobs" / name[:2] / name).stat().st_size == size
