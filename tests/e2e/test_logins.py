"""A job whose provider wants a login, through the real command and against a real server."""

from pathlib import Path

import pytest

from tests.kit.answers import Answer, Request
from tests.kit.cli import Cli
from tests.kit.login_service import SECRET, TOKEN, LoginService
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow

ROWS = 40
READ = """
from headgate import handler

@handler("read", provider="library")
async def read(item, ctx):
    reply = await ctx.http.get(item.input["url"], fresh=True)
    return {"text": reply.raise_for_status().text}
"""


@pytest.fixture
def cli(tmp_path: Path, provider: Provider) -> Cli:
    cli = Cli(tmp_path, {"LIBRARY_SECRET": SECRET, "HEADGATE_LOG__LEVEL": "debug"})
    cli.write("read.py", READ)
    urls = [provider.url(f"/{row}\n") for row in range(ROWS)]
    cli.write("urls.csv", "url\n" + "".join(urls))
    cli.write(
        "headgate.toml",
        f"""
        [providers.library]
        hosts = ["127.0.0.1:{provider.port}"]
        concurrency = 8

        [providers.library.credentials.main.login]
        url = "{provider.url("/login")}"
        form = {{user = "me", password = {{env = "LIBRARY_SECRET"}}}}
        """,
    )
    return cli


def files_with(folder: Path, text: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text.encode() in path.read_bytes()]


def test_a_token_that_ends_in_the_middle_costs_one_login_and_no_attempt(
    cli: Cli, provider: Provider
):
    service = LoginService(provider)
    pages: list[Request] = []

    def revoked_in_the_middle(request: Request) -> Answer:
        pages.append(request)
        if len(pages) == ROWS // 2:
            service.revoke()
        return service.page(request)

    service.on_page = revoked_in_the_middle
    said = cli("run", "read.py:read", "urls.csv", "--json", "--out", "out.csv")
    assert said.code == 0, said.err
    assert said.json["done"] == ROWS
    assert len(service.logins) == 2
    for secret in (SECRET, TOKEN):
        assert secret not in said.out + said.err
        assert files_with(cli.folder, secret) == []


def test_a_wrong_secret_is_named_in_the_error_of_a_row(cli: Cli, provider: Provider):
    service = LoginService(provider)
    service.on_login = lambda _: Answer(401, body=b'{"error": "invalid_client"}')
    said = cli("run", "read.py:read", "urls.csv", "--json", "--quiet")
    assert said.code == 3, said.err
    shown = cli("items", "show", "1", "--json")
    assert "answered 401 (invalid_client); check the environment variable" in shown.out
    assert {seen.request.path for seen in provider.seen} == {"/login"}
    assert files_with(cli.folder, SECRET) == []
