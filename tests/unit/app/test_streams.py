"""What cannot be written to standard error is dropped, and ends nothing."""

import io
import json
import logging
import os
import subprocess
import sys
import threading

import pytest

from headgate.app import streams, telemetry

ASKED = """
import os, sys
from headgate.app import streams
streams.open_missing_streams()
print(os.fstat(2).st_rdev == os.stat(os.devnull).st_rdev, sys.stderr.writable())
"""


@pytest.fixture
def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def full_disk():
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(params=["closed_pipe", "full_disk"])
def broken(request: pytest.FixtureRequest) -> int:
    descriptor: int = request.getfixturevalue(request.param)
    return descriptor


def test_printing_to_a_stream_that_cannot_be_written_raises_nothing(broken: int):
    before = streams.LOST.lines
    stream = streams.unfailing(broken)
    for _ in range(3):
        print("a handler says something" * 1_000, file=stream)
    stream.flush()
    assert streams.LOST.lines >= before + 3


def test_a_log_line_never_raises_and_the_log_continues_when_it_can(broken: int):
    class Changing(io.StringIO):
        """Fails first, as a full disk does, until there is space again."""

        fails = True

        def write(self, text: str) -> int:
            if self.fails:
                return os.write(broken, text.encode())
            return super().write(text)

    stream = Changing()
    telemetry.configure("info", "json", stream)
    for _ in range(3):
        telemetry.logger().warning("nobody reads this")
    stream.fails = False
    telemetry.logger().warning("there is space again")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == [
        "there is space again",
        "log lines could not be written",
    ]
    assert lines[1]["lines"] == 3


def test_a_closed_stream_and_odd_facts_raise_nothing():
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    stream = io.StringIO()
    telemetry.configure("info", "json", stream)
    telemetry.logger().info("odd", level="high", thing=Odd())
    stream.close()
    telemetry.logger().error("closed")


def test_log_records_of_libraries_are_lines_of_the_log(monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    telemetry.configure("warning", "json", stream)
    library = logging.getLogger("some.library")
    monkeypatch.setattr(library, "propagate", False)  # without the handlers that pytest set up
    library.warning("%s is odd: token=abc123", "this")
    library.error("it failed", exc_info=KeyError("name"))
    library.info("detail")
    library.warning("%d", "not a number")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["this is odd: token=***", "it failed", "%d"]
    assert lines[0]["logger"] == "some.library"
    assert "KeyError: 'name'" in lines[1]["exception"]


def test_output_of_python_itself_is_a_line_of_the_log(monkeypatch: pytest.MonkeyPatch):
    for owner, name in (
        (sys, "excepthook"),
        (sys, "unraisablehook"),
        (threading, "excepthook"),
        (telemetry.warnings, "showwarning"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    stream = io.StringIO()
    telemetry.configure("warning", "json", stream)
    telemetry.catch_strays()
    thread = threading.Thread(target=lambda: 1 / 0, name="odd")
    thread.start()
    thread.join()
    telemetry.warnings.showwarning("old", DeprecationWarning, "lookup.py", 3)
    sys.excepthook(ValueError, ValueError("api_key=abc123"), None)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert "ZeroDivisionError" in lines[0]["exception"]
    assert (lines[1]["event"], lines[1]["where"]) == ("old", "lookup.py:3")
    assert "api_key=***" in lines[2]["exception"]


def test_a_closed_descriptor_is_not_given_to_the_next_file():
    asked = f"exec {sys.executable} -c '{ASKED}' 2>&-"
    told = subprocess.run(["/bin/sh", "-c", asked], stdout=subprocess.PIPE, check=True)
    assert told.stdout.split() == [b"True", b"True"]
