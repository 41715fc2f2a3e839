"""A download is killed at any step: nothing half shows, and the next run completes the folder."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.transfer.artifacts.content_store import STORE
from headgate.transfer.artifacts.folder import ASIDE
from tests.faults import download_writer as writer
from tests.kit.answers import Answer, Request, in_turn
from tests.kit.cli import Cli
from tests.kit.command import Command, until
from tests.kit.downloads import PDF, files, pdf_of
from tests.kit.provider import Provider

PROGRAM = Path(writer.__file__)
ROOT = PROGRAM.parents[2]
TAGGED = [*PDF, ("ETag", '"1"')]
LARGE, SMALL = pdf_of(1_300_000, "large"), pdf_of(2_000, "small")
BODIES = {"/large.pdf": LARGE, "/small.pdf": SMALL}


@pytest.fixture
def server() -> Iterator[Provider]:
    with Provider() as provider:
        files(
            provider,
            {path: in_turn(Answer(200, TAGGED, body)) for path, body in BODIES.items()},
        )
        yield provider


def shown(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_complete(folder: Path) -> None:
    assert shown(folder) == {"large.pdf": LARGE, "small.pdf": SMALL}
    assert list((folder / ASIDE).iterdir()) == []
    stored = [path for path in (folder / STORE).rglob("*") if path.is_file()]
    assert len(stored) == 2
    assert {path.stat().st_nlink for path in stored} == {2}


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_killed_at_any_step_nothing_half_shows_and_the_next_run_completes(
    server: Provider, tmp_path: Path, stride: int
):
    urls = [server.url(path) for path in BODIES]
    words = [sys.executable, str(PROGRAM), str(tmp_path), str(stride), *urls]
    places = [*sys.path, str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    ended = subprocess.run(words, env=environment, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    folders = sorted(tmp_path.iterdir(), key=lambda path: int(path.name))
    assert len(folders) * stride > 30
    whole = {path[1:]: hashlib.sha256(body).hexdigest() for path, body in BODIES.items()}
    unfinished = 0
    for folder in folders:
        assert_complete(folder / "out")
        seen = folder / writer.SEEN
        shows = json.loads(seen.read_text()) if seen.exists() else whole
        assert shows.items() <= whole.items()
        unfinished += len(shows) < len(whole)
    assert unfinished * stride > 15  # the deaths were not all after the work


def test_a_command_that_is_killed_in_the_middle_of_a_body_resumes_there(tmp_path: Path):
    body = pdf_of(3_000_000)

    def answer(request: Request) -> Answer:
        if request.path == "/robots.txt":
            return Answer(404)
        start = int(request.headers.get("range", "bytes=0-")[6:-1])
        told = ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if start:
            return Answer(206, [*TAGGED, told], body[start:])
        # Most of it comes at once, and the rest never.
        length = ("Content-Length", str(len(body)))
        return Answer(200, [*TAGGED, length], body[:2_000_000], hold=True)

    cli = Cli(tmp_path)
    cli.environment["HEADGATE_NET__ALLOW_PRIVATE"] = "true"
    with Provider(answer) as server:
        cli.write("urls.csv", f"url\n{server.url('/a.pdf')}\n")
        words = ["run", "download", "urls.csv", "--config", f"out={tmp_path / 'out'}"]
        aside = tmp_path / "out" / ASIDE
        with Command(tmp_path, words, cli.environment) as command:
            until(lambda: any(path.stat().st_size > 1_000_000 for path in aside.glob("*.part")))
            command.kill()
        assert shown(tmp_path / "out") == {}
        ended = cli(*words, "--json")
        assert (ended.code, ended.json["done"]) == (0, 1), ended.err
        assert server.seen[-1].status == 206
    assert shown(tmp_path / "out") == {"a.pdf": body}
    assert list(aside.iterdir()) == []
