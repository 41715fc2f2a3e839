"""Which store a URL opens."""

import sys
from pathlib import Path

import pytest

from headgate.app.settings import Settings
from headgate.app.wiring import missing_file, open_store, sqlite_path, store_kind
from headgate.core.errors import BadSetting
from headgate.stores.sqlite.store import SqliteStore


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("sqlite:///a.db", "sqlite"),
        ("a.db", "sqlite"),
        ("/var/lib/a.db", "sqlite"),
        ("postgresql://me@host/db", "postgresql"),
        ("postgres://me@host/db", "postgresql"),
    ],
)
def test_the_scheme_decides(url: str, kind: str):
    assert store_kind(url) == kind


@pytest.mark.parametrize("url", ["", "mysql://me:pw@host/db", "http://x"])
def test_others_are_refused_without_showing_secrets(url: str):
    with pytest.raises(BadSetting, match="unknown store") as caught:
        store_kind(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///headgate.db", "headgate.db"),
        ("sqlite:///folder/my%20file.db", "folder/my file.db"),
        ("sqlite:////var/lib/headgate.db", "/var/lib/headgate.db"),
        ("./x.db", "./x.db"),
    ],
)
def test_paths_of_sqlite(url: str, path: str):
    assert sqlite_path(url) == path


def test_a_url_without_a_file_is_refused():
    with pytest.raises(BadSetting, match="has no file name"):
        sqlite_path("sqlite://")


def test_sqlite_needs_no_extra(tmp_path: Path):
    settings = Settings(database_url=f"sqlite:///{tmp_path}/a.db")
    assert isinstance(open_store(settings), SqliteStore)
    assert missing_file(settings) == tmp_path / "a.db"


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("headgate.stores.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(BadSetting, match=r'pip install "headgate\[postgres\]"'):
        open_store(Settings(database_url="postgresql://me@host/db"))
