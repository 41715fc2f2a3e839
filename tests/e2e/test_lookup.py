"""Lookups without Python, from file to file, as a user runs them."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.kit.answers import Answer, Request
from tests.kit.cli import Cli
from tests.kit.pages import ROOT
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow

PRICES = {"A-1": 0.4, "Ä/ 2?": 0.6}
TOML = """
name = "shop.price"
[request]
url = "URL/prices/{sku}"
[columns]
price = "price"
asked = "path"
"""


def shop(request: Request) -> Answer:
    found = [price for sku, price in PRICES.items() if unquote(request.path) == f"/prices/{sku}"]
    body = {"price": found[0] if found else None, "path": request.path}
    return Answer(200 if found else 404, body=json.dumps(body).encode())


@pytest.fixture
def cli(tmp_path: Path, provider: Provider) -> Cli:
    provider.script = shop
    cli = Cli(tmp_path, {"HEADGATE_NET__ALLOW_PRIVATE": "true"})
    cli.write("prices.toml", TOML.replace("URL", provider.url("")))
    cli.write("rows.csv", "sku\nA-1\nÄ/ 2?\nA-9\n")
    return cli


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_description_is_enough_for_a_lookup(cli: Cli):
    said = cli("run", "prices.toml", "rows.csv", "--out", "out.csv", "--json", "--quiet")
    assert said.code == 0, said.err
    assert (said.json["done"], said.json["not_found"]) == (2, 1)
    rows = rows_of(cli.folder / "out.csv")
    assert [(row["sku"], row["price"], row["_status"]) for row in rows] == [
        ("A-1", "0.4", "DONE"),
        ("Ä/ 2?", "0.6", "DONE"),
        ("A-9", "", "NOT_FOUND"),
    ]
    again = cli("run", "./prices.toml", "rows.csv", "--json", "--quiet")
    assert again.json["resumed"] == 3


def test_a_set_of_the_settings_makes_it_a_name_for_every_process(cli: Cli):
    cli.write("headgate.toml", 'handlers = ["prices.toml"]\n')
    said = cli("run", "shop.price", "rows.csv", "--json", "--quiet", "--processes", "2")
    assert said.code == 0, said.err
    assert said.json["done"] == 2
    assert cli("jobs", "show", "1", "--json").json["handler"] == "shop.price"
    checked = cli("doctor", "--handler", "shop.price")
    assert "shop.price (async)" in checked.out


def test_a_description_may_stand_in_the_config(cli: Cli, provider: Provider):
    lookup = {"request": {"url": provider.url("/prices/{sku}")}, "columns": {"price": "price"}}
    config = json.dumps({"lookup": lookup})
    words = ("run", "http.lookup", "rows.csv", "--config", config, "--json", "--quiet")
    assert cli(*words).json["done"] == 2
    bad = json.dumps({"lookup": {**lookup, "columnz": {}}})
    refused = cli("run", "http.lookup", "rows.csv", "--config", bad, "--new")
    assert refused.code == 2
    assert "unknown key 'columnz'; did you mean 'columns'?" in refused.err


def test_a_job_that_is_configured_wrongly_fails_and_the_worker_continues(cli: Cli):
    cli.write("item.jsonl", '{"sku": "A-1"}\n')
    assert cli("queue", "import", "item.jsonl", "--handler", "http.lookup").code == 0
    words = ("queue", "import", "item.jsonl", "--handler", "prices.toml", "--queue", "good")
    assert cli(*words).code == 0
    drained = cli("worker", "--drain", "--max-stall", "20")
    assert drained.code == 0, drained.err
    bad, good = (cli("jobs", "show", str(job), "--json").json for job in (1, 2))
    assert bad["state"] == "FAILED"
    assert "http.lookup needs its description" in bad["last_error"]
    assert (good["counts"]["done"], bad["counts"]["pending"]) == (1, 1)


def test_rows_may_name_their_host_where_that_is_said(cli: Cli, provider: Provider):
    cli.write(
        "status.toml",
        'host_from_data = true\nrequest = { url = "{url}", method = "HEAD" }\n'
        "columns = { status = { status = true } }\n",
    )
    provider.script = lambda _: Answer(200)
    hosts = ["127.0.0.1", "localhost"] * 3
    cli.write("urls.csv", "url\n" + "".join(f"{provider.url('/', host)}\n" for host in hosts))
    said = cli("run", "status.toml", "urls.csv", "--json", "--quiet")
    assert said.json["done"] == 6
    assert {seen.request.method for seen in provider.seen} == {"HEAD"}
    assert {seen.request.host for seen in provider.seen} == {
        f"{host}:{provider.port}" for host in hosts
    }


def test_what_is_invalid_writes_nothing(cli: Cli):
    cli.write("prices.toml", TOML.replace("URL", "https://{host}"))
    refused = cli("run", "prices.toml", "rows.csv")
    assert refused.code == 2
    assert "prices.toml: request.url: a column is in the place of the host" in refused.err
    assert not (cli.folder / "headgate.db").exists()


def test_a_path_that_matches_nothing_is_warned_of(cli: Cli):
    cli.write("rows.csv", "sku\nA-1\n")
    cli.write("prices.toml", (cli.folder / "prices.toml").read_text().replace('"price"', '"prise"'))
    said = cli("run", "prices.toml", "rows.csv", "--out", "out.csv")
    assert said.code == 0
    assert (
        "warning: the column 'price' is empty in all of the first 1 result:"
        " does its path 'prise' match the reply?"
    ) in said.err
    assert "'asked'" not in said.err


def test_private_addresses_are_refused_unless_they_are_allowed(cli: Cli, provider: Provider):
    del cli.environment["HEADGATE_NET__ALLOW_PRIVATE"]
    fixed = cli("run", "prices.toml", "rows.csv", "--out", "out.csv")
    assert fixed.code == 2
    assert "which is loopback and not public" in fixed.err
    cli.write(
        "named.toml",
        'host_from_data = true\nrequest = { url = "{url}/prices/{sku}" }\n'
        'columns = { p = "price" }\n',
    )
    rows = "".join(f"{provider.url('')},{n}\n" for n in range(3))
    cli.write("named.csv", f"url,sku\n{rows}")
    said = cli("run", "named.toml", "named.csv", "--out", "out.csv", "--json", "--quiet")
    assert (said.code, said.json["error"]) == (3, 3)
    (reason,) = {row["_error"] for row in rows_of(cli.folder / "out.csv")}
    assert "address refused" in reason
    assert "net.allow_private permits it" in reason
    assert provider.connections == 0


def test_a_key_is_read_from_the_environment_and_shown_nowhere(cli: Cli, provider: Provider):
    headers = 'headers = { Authorization = { env = "SHOP_KEY", prefix = "Bearer " } }\n[columns]'
    cli.write("prices.toml", TOML.replace("URL", provider.url("")).replace("[columns]", headers))
    refused = cli("run", "prices.toml", "rows.csv")
    assert refused.code == 2
    assert "the environment variable SHOP_KEY is not set" in refused.err
    cli.environment["SHOP_KEY"] = "s3cret-of-the-shop"
    assert cli("run", "prices.toml", "rows.csv", "--quiet").code == 0
    sent = {seen.request.headers["authorization"] for seen in provider.seen}
    assert sent == {"Bearer s3cret-of-the-shop"}
    stored = b"".join(file.read_bytes() for file in cli.folder.rglob("*") if file.is_file())
    assert b"s3cret-of-the-shop" not in stored


def test_hostile_rows_and_replies_do_not_affect_other_rows(cli: Cli, provider: Provider):
    answers = {
        "/prices/huge": b'{"price": "' + b"x" * 5_000_000 + b'"}',
        "/prices/deep": b"[" * 200_000,
        "/prices/html": b"<html>",
        "/prices/good": b'{"price": "a\\u0000b", "path": "\xc3\xbc"}',
    }
    provider.script = lambda request: Answer(200, body=answers.get(request.path, b"{}"))
    skus = ["huge", "deep", "html", "../admin", "..", "a/../../b", "", "good"]
    lines = [json.dumps({"sku": sku}) for sku in skus] + ['{"sku": ["a"]}', '{"other": 1}']
    cli.write("rows.jsonl", "\n".join(lines))
    words = ("--out", "out.jsonl", "--json", "--quiet")
    said = cli("run", "prices.toml", "rows.jsonl", *words)
    assert (said.code, said.json["done"], said.json["error"]) == (3, 1, 9)
    rows = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert [row["_error"].rpartition("request.url: ")[2][:40] for row in rows[3:7]] == [
        "'../admin' would lead to another path",
        "'..' would lead to another path",
        "'a/../../b' would lead to another path",
        "the column 'sku' is empty",
    ]
    assert (rows[7]["price"], rows[7]["asked"]) == ("a\0b", "ü")
    asked = {seen.request.path for seen in provider.seen}
    assert asked == set(answers)


@pytest.fixture
def example(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """What an example prints when it is run in a folder of its own."""
    folder = tmp_path / "examples" / request.param
    ignored = shutil.ignore_patterns("results", "__pycache__")
    shutil.copytree(ROOT / "examples" / request.param, folder, ignore=ignored)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", str(folder / "run")],
        env={**os.environ, "PATH": path, "HEADGATE_WORKER__CONCURRENCY": "nonsense"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("example", ["lookup"], indirect=True)
def test_the_example_of_prices(example: str):
    header, *rows = csv.reader(example.splitlines())
    assert header == ["sku", "name", "price", "currency", "known_as", "_status", "_error"]
    assert [(row[0], row[2], row[5]) for row in rows] == [
        ("A-1", "0.4", "DONE"),
        ("A-9", "0.6", "DONE"),
        ("", "1.2", "DONE"),
        ("A-4", "3.9", "DONE"),
        ("A-5", "", "NOT_FOUND"),
    ]


@pytest.mark.parametrize("example", ["images"], indirect=True)
def test_the_example_of_images(example: str):
    rows = list(csv.DictReader(example.splitlines()))
    assert [(row["file"], row["label"], row["all"], row["_status"]) for row in rows] == [
        ("even.png", "square", "square, small", "DONE"),
        ("tall.png", "portrait", "portrait, small", "DONE"),
        ("wide.png", "landscape", "landscape, large", "DONE"),
    ]
    assert {row["seen_as"] for row in rows} == {"shapes 1"}
