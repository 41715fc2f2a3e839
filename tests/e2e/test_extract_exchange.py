"""What mirrors exchange with other tools, through the real command: import, detect, tap, tables."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.kit.answers import Answer, Request
from tests.kit.cli import Cli
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow
TOKEN = "a secret of the test"
MANIFEST = """
type: DeclarativeSource
streams:
  - type: DeclarativeStream
    name: orders
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: URL
        path: /orders
        authenticator: {type: BearerAuthenticator, api_token: "{{ config['api_key'] }}"}
      record_selector:
        type: RecordSelector
        extractor: {type: DpathExtractor, field_path: [data]}
      paginator:
        type: DefaultPaginator
        page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
        page_size_option: {type: RequestOption, inject_into: request_parameter, field_name: size}
        pagination_strategy: {type: PageIncrement, page_size: 10, start_from_page: 1}
  - type: DeclarativeStream
    name: odd
    primary_key: id
    retriever: {type: CustomRetriever, class_name: odd.Odd}
"""
CONFIG = {
    "client": {
        "base_url": "URL",
        "auth": {"type": "bearer", "token": TOKEN},
        "paginator": {
            "type": "page_number",
            "base_page": 1,
            "page_param": "page",
            "total_path": None,
        },
    },
    "resources": [
        {
            "name": "orders",
            "primary_key": "id",
            "endpoint": {"path": "/orders", "params": {"size": 10}, "data_selector": "data"},
        }
    ],
}


class Shop(Provider):
    """`/orders` by page number; each request needs the token."""

    def __init__(self) -> None:
        self.orders = {n: {"id": n, "sum": n / 2, "paid": n % 2 == 0} for n in range(1, 26)}
        super().__init__(self._reply)

    def _reply(self, request: Request) -> Answer:
        headers = {name.lower(): value for name, value in dict(request.headers).items()}
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return Answer(401)
        query = {name: texts[0] for name, texts in parse_qs(urlsplit(request.target).query).items()}
        size, page = int(query.get("size", 10)), int(query.get("page", 1))
        rows = list(self.orders.values())[(page - 1) * size : page * size]
        reply = {"data": rows, "page": page, "total": len(self.orders)}
        return Answer(200, [], json.dumps(reply).encode())


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as service:
        yield service


@pytest.fixture
def cli(tmp_path: Path, shop: Shop) -> Cli:
    secrets = {"SHOP_API_KEY": TOKEN, "SHOP_TOKEN": TOKEN}
    return Cli(tmp_path, {"HEADGATE_DATABASE_URL": f"sqlite:///{tmp_path}/headgate.db", **secrets})


def imported(cli: Cli, shop: Shop) -> None:
    cli.write("manifest.yaml", MANIFEST.replace("URL", shop.url("")))
    said = cli("extract", "import", "airbyte", "manifest.yaml", "--out", "shop.toml", "--json")
    assert said.code == 6, said.err
    assert said.json["left_out"] == [{"stream": "odd", "reason": "CustomRetriever"}]


def extracted(cli: Cli, *more: str) -> None:
    said = cli("extract", "shop.toml", "--full", "--accept-unproven", "--quiet", *more)
    assert said.code == 0, said.err


def messages(cli: Cli, *more: str) -> list[dict]:
    said = cli("extract", "tap", "shop", *more)
    assert said.code == 0, said.err
    return [json.loads(line) for line in said.out.splitlines()]


def test_an_imported_manifest_is_mirrored_with_the_requests_that_it_describes(cli, shop):
    imported(cli, shop)
    extracted(cli)
    targets = {each.request.target for each in shop.seen}
    assert {"/orders?size=10&page=1", "/orders?size=10&page=3"} <= {
        target.replace("page=1&size=10", "size=10&page=1") for target in targets
    }
    said = cli("extract", "export", "orders", "--out", "-", "--format", "jsonl")
    assert [json.loads(line) for line in said.out.splitlines()] == list(shop.orders.values())


def test_a_configuration_of_dlt_is_mirrored(cli, shop):
    cli.write("config.json", json.dumps(CONFIG).replace("URL", shop.url("")))
    said = cli("extract", "import", "dlt", "config.json", "--out", "shop.toml")
    assert said.code == 0, said.err
    assert TOKEN not in (cli.folder / "shop.toml").read_text()
    extracted(cli)
    said = cli("extract", "export", "shop", "--all", "--out", "shop.sqlite", "--json")
    assert said.json["rows"] == {"orders": 25}


def test_a_file_that_may_have_been_edited_is_not_replaced_without_force(cli, shop):
    cli.write("shop.toml", "# mine")
    cli.write("config.json", json.dumps(CONFIG).replace("URL", shop.url("")))
    words = ("extract", "import", "dlt", "config.json", "--out", "shop.toml")
    said = cli(*words)
    assert (said.code, "--force" in said.err) == (2, True)
    assert (cli.folder / "shop.toml").read_text() == "# mine"
    assert cli(*words, "--force").code == 0


def test_a_detected_source_is_mirrored(cli, shop):
    url = shop.url("/orders?page=1&size=10")
    said = cli("extract", "detect", url, "--out", "shop.toml", "--token-env", "SHOP_TOKEN")
    assert said.code == 0, said.err
    assert cli("extract", "check", "shop.toml").code == 0
    extracted(cli)
    said = cli("extract", "export", "shop", "--all", "--out", "shop.sqlite", "--json")
    assert said.json["rows"] == {"orders": 25}


def test_detect_says_what_a_refused_request_may_lack(cli, shop):
    said = cli("extract", "detect", shop.url("/orders"), "--out", "shop.toml")
    assert said.code == 2
    assert "answered 401" in said.err
    assert "--token-env" in said.err


def test_a_mirror_is_written_as_one_typed_sqlite_file(cli, shop):
    imported(cli, shop)
    extracted(cli)
    said = cli("extract", "export", "shop", "--all", "--out", "shop.sqlite")
    assert (said.code, "1 table, 25 rows" in said.err) == (0, True), said.err
    with closing(sqlite3.connect(cli.folder / "shop.sqlite")) as connection:
        rows = connection.execute("SELECT id, sum, paid FROM orders ORDER BY id").fetchall()
    assert rows == [(each["id"], each["sum"], each["paid"]) for each in shop.orders.values()]


def test_a_tap_tells_only_what_has_changed_since_its_state(cli, shop):
    imported(cli, shop)
    extracted(cli)
    first = messages(cli)
    assert first[0]["key_properties"] == ["id"]
    assert sum(each["type"] == "RECORD" for each in first) == 25
    cli.write("state.json", json.dumps(first[-1]["value"]))
    shop.orders[3]["paid"] = True
    shop.orders[26] = {"id": 26, "sum": 13.0, "paid": True}
    extracted(cli)
    told = [each for each in messages(cli, "--state", "state.json") if each["type"] == "RECORD"]
    assert sorted(each["record"]["id"] for each in told) == [3, 26]
    assert all(each["record"]["_sdc_deleted_at"] is None for each in told)


def test_a_state_of_another_tap_is_refused(cli, shop):
    imported(cli, shop)
    extracted(cli)
    cli.write("state.json", '{"bookmarks": {"orders": {"updated_at": "2026"}}}')
    said = cli("extract", "tap", "--state", "state.json")
    assert (said.code, said.out) == (2, "")
    assert "be told everything" in said.err
