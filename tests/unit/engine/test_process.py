"""Which process is which, and whether it is certainly dead."""

import os
import signal
import subprocess
import sys

import msgspec
import pytest

from headgate.engine import process
from headgate.engine.process import (
    cause_of_exit,
    is_gone,
    is_stopped,
    memory_in_use,
    process_name,
    resident_mb,
    started_ticks,
)
from tests.kit.command import until

NOBODY = 2**22 + 1
"""Above the highest pid that Linux gives."""


def test_a_living_process_is_not_gone():
    me = process_name(os.getpid())
    assert me.started_ticks > 0
    assert not is_gone(me)
    assert not is_stopped(me.pid)
    assert 1 < resident_mb(me.pid) < 100_000


@pytest.mark.parametrize(
    "change", [{"pid": NOBODY}, {"started_ticks": 1}, {"boot_id": "before the restart"}]
)
def test_a_missing_process_a_reused_pid_and_an_earlier_boot_count_as_gone(
    change: dict[str, object],
):
    assert is_gone(msgspec.structs.replace(process_name(os.getpid()), **change))


def test_whether_a_process_on_another_machine_lives_is_unknown():
    other = msgspec.structs.replace(process_name(os.getpid()), host="elsewhere", pid=NOBODY)
    assert not is_gone(other)


def test_a_zombie_process_counts_as_gone():
    """In a container whose first process does not reap children it would seem to live forever."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = process_name(process.pid)
    assert not is_gone(name)
    process.kill()
    until(lambda: is_gone(name), what="its end to be noticed")
    assert started_ticks(process.pid) is None
    assert is_stopped(process.pid)
    process.communicate()
    assert is_gone(name)


def test_a_frozen_process_is_stopped_but_not_gone():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process.send_signal(signal.SIGSTOP)
    until(lambda: is_stopped(process.pid), what="the standstill")
    assert not is_gone(process_name(process.pid))
    process.kill()
    process.communicate()


def test_a_missing_process_uses_no_memory():
    assert resident_mb(NOBODY) == 0.0
    assert is_stopped(NOBODY)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exited with code 0"),
        (7, "exited with code 7"),
        (-11, "killed by SIGSEGV"),
        (-40, "killed by signal 40"),
    ],
)
def test_an_exit_code_is_put_into_words(code: int, words: str):
    assert cause_of_exit(code) == words


def test_the_machine_is_read_as_psutil_reads_it():
    """Also where there is no /proc, and psutil alone answers."""
    me = os.getpid()
    assert resident_mb(me) == pytest.approx(
        process._psutil_resident(me) / process.MEGABYTE, rel=0.2
    )
    assert memory_in_use() == pytest.approx(process._psutil_memory_in_use(), abs=0.1)
    assert is_stopped(me) == process._psutil_is_stopped(me) is False
    assert is_stopped(NOBODY) == process._psutil_is_stopped(NOBODY) is True
    assert resident_mb(NOBODY) == process._psutil_resident(NOBODY) == 0
