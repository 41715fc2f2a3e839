"""Looker's own client, in a process of its own, since only the sources' Python has it."""

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.kit.service import WAIT_S, ServiceFailed, ServiceMissing, skip_or_fail
from tests.kit.source_server import FOLDER, PYTHON, installed

PROGRAM = Path(__file__).with_name("looker_calls.py")
PACKAGES = "lib/python*/site-packages/looker_sdk"


class LookerRefused(RuntimeError):
    """The client raised its error."""


class Called(NamedTuple):
    """What a call gave."""

    type: str
    """The model that the client made, of the first row of a list."""
    times: list[str]
    """The fields that the client read as times."""
    value: Any


class LookerClient:
    """`call("search_looks", limit=10)` and the like, with what `environment` says."""

    program = "looker_sdk"

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    @classmethod
    def find(cls) -> str:
        """Where it is; ServiceMissing where it is not installed."""
        return installed(next(FOLDER.glob(PACKAGES), FOLDER / cls.program), cls.program)

    @classmethod
    def need(cls) -> None:
        """Skip the test, or fail it in CI, where the client is not installed."""
        try:
            cls.find()
        except ServiceMissing as missing:
            skip_or_fail(missing)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [PYTHON, "-P", PROGRAM],  # -P: modules beside the program are not meant
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._environment},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.communicate(timeout=WAIT_S)

    def call(self, method: str, **arguments: object) -> Called:
        """Call a method of the client, or raise LookerRefused."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"method": method, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise ServiceFailed("Looker's client ended; what it said is above.")
        answer = json.loads(line)
        if "error" in answer:
            raise LookerRefused(answer["error"])
        return Called(**answer)
