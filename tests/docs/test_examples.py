"""The examples in the help of every command work, on a store that has the named jobs and items."""

import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.command import until
from tests.kit.listing_service import SOURCE, ListingService
from tests.kit.looker import LookerServer
from tests.kit.reference import load_generator
from tests.kit.resolvers import Case, Services, doi_of

LOOKUP = """
from headgate import GiveUp, Review, handler

@handler("price.lookup")
async def price(item, ctx):
    if item.input["sku"] in {"P-007", "P-013"}:
        return GiveUp("not for sale")
    if item.input["sku"] == "P-019":
        return Review([{"id": "Q42", "name": "a lamp", "score": 0.5, "result": {"price": 2}}])
    return {"price": 1}
"""
ENRICH = "def person(item, ctx):\n    return {'region': ctx.job.config['region']}\n"
PRODUCER = """#!/bin/sh\necho '{"sku": "from a pipe"}'\n"""
TARGET = "#!/bin/sh\ncat > told.jsonl\n"
MANIFEST = """
version: 6.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [books]}
streams:
  - type: DeclarativeStream
    name: books
    primary_key: [id]
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: https://api.example.org
        path: /books
        http_method: GET
      record_selector:
        type: RecordSelector
        extractor: {type: DpathExtractor, field_path: []}
"""
CONFIG = {
    "client": {"base_url": "https://api.example.org"},
    "resources": [{"name": "books", "endpoint": {"path": "books", "paginator": "single_page"}}],
}
# Items 1 to 10 are those of the two queues, so that 17, 23 and 29 are rows P-007, P-013 and P-019
# of job 3.
MAKE = (
    "headgate queue import default.jsonl --handler lookup.py:price",
    "headgate queue import nightly.jsonl --queue nightly --handler lookup.py:price",
    "headgate run lookup.py:price products.csv --key sku --quiet || test $? = 3",
    "headgate jobs reprocess 3 --ids 11 --status DONE",
    "headgate download urls.txt --out papers/ --quiet",
    "headgate extract looker dashboards looks --quiet",
    "headgate extract looker dashboards looks --quiet",
)
UNFINISHED = {
    "headgate extract pause": "RUNNING",
    "headgate extract resume": "PAUSED",
    "headgate extract cancel": "RUNNING",
}
"""The state in which the passes 5 and 6 must be for an example that begins so."""
WRITES_A_FILE = ("headgate extract detect", "headgate extract import")
BEFORE = {
    "headgate export 3 --check results.xlsx": "headgate export 3 results.xlsx",
    "headgate jobs export 3 --check results.xlsx": "headgate export 3 results.xlsx",
    "headgate jobs resume 3": "headgate jobs pause 3",
    "headgate queue resume --queue nightly": "headgate queue pause --queue nightly",
    "headgate users token ann": "headgate users add ann",
    "headgate users token ann --label ci --expires 90d": "headgate users add ann",
    "headgate users enable ann": "headgate users add ann",
    "headgate users revoke 3f9c2a7d10b4": "headgate users add ann",
    "headgate users revoke --user ann": "headgate users add ann",
}
NO_STORE = "rm -f headgate.db*"
WITHOUT_KEY = "headgate run lookup.py:price products.csv --"
"""Job 3 has a key, and another key over the same file is refused: these begin with no store."""
FAILED_ITEMS = ("headgate run lookup.py:price ", "headgate run --job 3 ")
DAEMONS = ("headgate worker", "headgate worker -q &", "headgate queue run")
TOKEN = "3f9c2a7d10b4"
EXAMPLES = [
    line.removeprefix("$ ") for command in load_generator().commands() for line in command.examples
]


class Ended(NamedTuple):
    out: str
    err: str
    code: int


def start(command: str, folder: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), str(folder), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if "HEADGATE" not in name}
    added = json.loads((folder / "environment.json").read_text())
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**kept, **added, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def shell(command: str, folder: Path) -> Ended:
    with start(command, folder) as process:
        return Ended(*process.communicate(timeout=120), process.returncode)


def interrupted(command: str, folder: Path) -> Ended:
    """What a command did that would continue forever: SIGINT is sent when it has begun to work."""
    known = began(folder)
    with start(f"exec {command.removesuffix('&')}", folder) as process:
        until(lambda: process.poll() is not None or began(folder) > known, what=command)
        process.send_signal(signal.SIGINT)
        return Ended(*process.communicate(timeout=120), process.returncode)


def began(folder: Path) -> int:
    """Counts with each worker process, and with each job that takes up a file."""
    with contextlib.closing(sqlite3.connect(folder / "headgate.db")) as store:
        (count,) = store.execute(
            "SELECT (SELECT count(*) FROM workers) + (SELECT count(*) FROM jobs)"
        ).fetchone()
        return int(count)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    (folder / "lookup.py").write_text(LOOKUP)
    (folder / "mypkg").mkdir()
    (folder / "mypkg" / "enrich.py").write_text(ENRICH)
    (folder / "src").mkdir()
    (folder / "src" / "lookup.py").write_text(LOOKUP)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(b"sku\nP-101\n"))
    (folder / "people.jsonl").write_text('{"name": "Ada"}\n')
    (folder / "new.jsonl").write_text('{"sku": "new"}\n')
    (folder / "secret").write_text("correct horse battery\n")
    (folder / "in").mkdir()
    (folder / "in" / "new.csv").write_text("sku\nP-102\n")
    os.utime(folder / "in" / "new.csv", (0, 0))  # a file that has just changed is left alone
    (folder / "producer").write_text(PRODUCER)
    (folder / "producer").chmod(0o755)
    (folder / "target-jsonl").write_text(TARGET)
    (folder / "target-jsonl").chmod(0o755)
    (folder / "manifest.yaml").write_text(MANIFEST)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "state.json").write_text('{"bookmarks": {}}')
    for name in ("default", "nightly"):
        lines = [json.dumps({"sku": f"{name} {number}"}) for number in range(5)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    rows = [f"P-{number:03}" for number in range(1, 21)]
    (folder / "products.csv").write_text("\n".join(["sku", *rows]))
    with Services() as services, LookerServer() as looker, ListingService() as listing:
        source = SOURCE.replace("URL", listing.url(""))
        (folder / "source.toml").write_text(source)
        (folder / "listing").write_text(listing.url("/books"))
        known = {**looker.environment, "SHOP_TOKEN": "a-token"}
        (folder / "environment.json").write_text(json.dumps(known))
        places = ["[places]", f'roots = ["{folder}"]']
        settings = ["[net]", "allow_private = true", *places, *asking(services)]
        (folder / "headgate.toml").write_text("\n".join(settings))
        (folder / "urls.txt").write_text("\n".join(services.urls(Case.SEVERAL)))
        (folder / "dois.csv").write_text(f"doi\n{doi_of(Case.FOUND)}\n")
        for command in MAKE:
            made = shell(command, folder)
            assert made.code == 0, made.err
        shutil.copyfile(folder / "headgate.db", folder / "pristine")
        yield folder


def asking(services: Services) -> Iterator[str]:
    """Settings that make every service a local one; no landing page is fetched."""
    for name in RESOLVERS.keys() - {"direct", "landing_page"}:
        yield f'[download.resolvers.{name}]\nbase_url = "{services.base_url(name)}"'
    yield "[download.resolvers.landing_page]\nenabled = false"


@pytest.fixture
def folder(furnished):
    """The same folder for all, because jobs know their handler by its path; the store is reset."""
    for leftover in furnished.glob("headgate*.db*"):
        leftover.unlink()
    shutil.copyfile(furnished / "pristine", furnished / "headgate.db")
    return furnished


def prepared(example: str, folder: Path) -> str:
    """The example with its placeholders filled in, and with an end if it has none."""
    if example.startswith("headgate serve"):
        command = f"{example.replace('8080', '0')} > serve.out 2>&1 & server=$!"
        # What the example before has left would tell of a server that is gone.
        command = f"rm -f serve.out; {command}"
        opened = "until grep -qs http serve.out; do sleep 0.1; done"
        return f"{command}; {opened}; kill -TERM $server; wait $server"
    if TOKEN in example:
        users = json.loads(shell("headgate users ls --json", folder).out)
        return example.replace(TOKEN, users["tokens"][0]["id"])
    if example.startswith(WRITES_A_FILE):
        listing = (folder / "listing").read_text()
        example = re.sub(r"'?https://api.example.org/\S+", f"'{listing}?limit=10'", example)
        return f"{re.sub('--out [a-z.]+', '', example)} --out written.toml --force"
    if "CURSOR" in example:
        page = shell("headgate items ls 3 --limit 1 --json", folder)
        return example.replace("CURSOR", json.loads(page.out)["next"]) + " --limit 1"
    if shutil.which("jq") is None:
        example = example.partition(" | jq")[0]
    return example.replace("postgresql://me@db/hg", "sqlite:///hg.db")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_works(example, folder):
    needed = NO_STORE if _has_no_key(example) else BEFORE.get(example)
    if needed is not None:
        assert shell(needed, folder).code == 0
    state = UNFINISHED.get(" ".join(example.split()[:3]))
    if state is not None:
        with contextlib.closing(sqlite3.connect(folder / "headgate.db")) as store, store:
            command = "UPDATE jobs SET state = ?, finished_at = NULL WHERE id IN (5, 6)"
            store.execute(command, (state,))
    endless = example in DAEMONS or example.startswith("headgate watch")
    ended = (interrupted if endless else shell)(prepared(example, folder), folder)
    expected = 3 if example.startswith(FAILED_ITEMS) else 0
    assert ended.code == expected, ended.out + ended.err


def _has_no_key(example: str) -> bool:
    return example.startswith(WITHOUT_KEY) and " --key " not in example


def test_every_command_has_an_example():
    commands = load_generator().commands()
    assert [command.path for command in commands if not command.examples] == []
