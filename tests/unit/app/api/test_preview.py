"""A look at a source elsewhere takes little of the server's room and time."""

import socket
from pathlib import Path

import pytest

from headgate.app.api import preview
from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.settings import PlaceSettings
from tests.kit.scripted import ScriptedServer, head_of

HERE = PlaceSettings(allow_private=True)
ROWS = b"id\n" + b"1\n" * 100


def sent(connection: socket.socket) -> None:
    head_of(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + ROWS)


def test_a_source_is_copied_under_its_name(tmp_path: Path):
    with ScriptedServer(sent) as server:
        path = preview.copy_for_preview(server.url("rows.csv"), HERE, tmp_path)
    assert (path.name, path.read_bytes()) == ("rows.csv", ROWS)


def test_a_large_source_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(preview, "LOOKED_AT_BYTES", len(ROWS) - 1)
    with ScriptedServer(sent) as server, pytest.raises(BadSource, match="larger than"):
        preview.copy_for_preview(server.url("rows.csv"), HERE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_comes_in_drops_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def drip(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while not server.over.wait(0.01):
            connection.sendall(b"1\n")

    monkeypatch.setattr(preview, "PATIENCE_S", 0.3)
    with (
        ScriptedServer(drip) as server,
        pytest.raises(SourceUnreachable, match=r"took longer than 0\.3 s"),
    ):
        preview.copy_for_preview(server.url("rows.csv"), HERE, tmp_path)


def test_a_source_at_a_local_address_is_refused(tmp_path: Path):
    with ScriptedServer(sent) as server, pytest.raises(BadSource, match="address refused"):
        preview.copy_for_preview(server.url("rows.csv"), PlaceSettings(), tmp_path)
