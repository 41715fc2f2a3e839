"""A look at a source elsewhere takes little of the server's room and time."""

from pathlib import Path

import pytest

from headgate.app.api import preview
from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.settings import PlaceSettings
from tests.kit.tcp_server import TcpServer, repeating, replying

HERE = PlaceSettings(allow_private=True)
ROWS = b"id\n" + b"1\n" * 100
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
sent = replying(HEAD + ROWS)


def test_a_source_is_copied_under_its_name(tmp_path: Path):
    with TcpServer(sent) as server:
        path = preview.copy_for_preview(server.url("/rows.csv"), HERE, tmp_path)
    assert (path.name, path.read_bytes()) == ("rows.csv", ROWS)


def test_a_large_source_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(preview, "LOOKED_AT_BYTES", len(ROWS) - 1)
    with TcpServer(sent) as server, pytest.raises(BadSource, match="larger than"):
        preview.copy_for_preview(server.url("/rows.csv"), HERE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_sends_too_slowly_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(preview, "PATIENCE_S", 0.3)
    with (
        TcpServer(repeating(b"1\n", 0.01, first=HEAD)) as server,
        pytest.raises(SourceUnreachable, match=r"took longer than 0\.3 s"),
    ):
        preview.copy_for_preview(server.url("/rows.csv"), HERE, tmp_path)


def test_a_source_at_a_local_address_is_refused(tmp_path: Path):
    with TcpServer(sent) as server, pytest.raises(BadSource, match="address refused"):
        preview.copy_for_preview(server.url("/rows.csv"), PlaceSettings(), tmp_path)
