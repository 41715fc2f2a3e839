"""Find the driver for a URL's scheme."""

import importlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from headgate.core.errors import UsageError
from headgate.core.redact_values import without_secrets
from headgate.ports.source import Place
from headgate.transfer.places.disk import DiskDriver
from headgate.transfer.places.driver import Driver
from headgate.transfer.places.place import DriverPlace
from headgate.transfer.places.settings import PlaceSettings, bucket_and_key
from headgate.transfer.places.sockets import GuardedSockets

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


class DriverRecord(NamedTuple):
    module: str
    driver: str
    extra: str = ""


_HTTP = DriverRecord("headgate.transfer.places.web", "WebDriver")
_FTP = DriverRecord("headgate.transfer.places.ftp", "FtpDriver")
DRIVERS = {
    "http": _HTTP,
    "https": _HTTP,
    "ftp": _FTP,
    "ftps": _FTP,
    "sftp": DriverRecord("headgate.transfer.places.sftp", "SftpDriver", "sftp"),
    "s3": DriverRecord("headgate.transfer.places.s3", "S3Driver", "s3"),
}
_ON_DISK = {"", "file", "folder"}
SCHEMES = ("file", *DRIVERS)


def open_place(url: str, settings: PlaceSettings | None = None) -> Place:
    """The place for a URL, a `folder:` name or a plain path; UsageError for an unknown scheme.

    Nothing is connected yet. The place serves every URL of the same scheme.
    """
    settings = settings or PlaceSettings()
    return DriverPlace(_connector(url, settings), settings)


def require_allowed(url: str, settings: PlaceSettings) -> None:
    """Refuse a source that cannot be allowed, without connecting to it."""
    scheme = scheme_of(url)
    if not scheme:
        raise UsageError(f"a source begins with one of {', '.join(f'{one}:' for one in SCHEMES)}")
    if scheme in _ON_DISK:
        DiskDriver(settings.roots).require_allowed(url)
    if scheme == "s3":
        bucket_and_key(url, settings)
    _connector(url, settings)


def scheme_of(url: str) -> str:
    """The scheme in lower case; empty for a plain path."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def is_on_disk(url: str) -> bool:
    return scheme_of(url) in _ON_DISK


def _connector(url: str, settings: PlaceSettings) -> Callable[[GuardedSockets], Driver]:
    scheme = scheme_of(url)
    if is_on_disk(url):
        return lambda _dialer: DiskDriver(settings.roots)
    kind = DRIVERS.get(scheme)
    if kind is None:
        raise UsageError(
            f"{without_secrets(url)} cannot be read; use {', '.join(SCHEMES)} or a path"
        )
    driver: Callable[[GuardedSockets], Driver] = getattr(_loaded(kind, scheme), kind.driver)
    return driver


def _loaded(kind: DriverRecord, scheme: str) -> Any:
    try:
        return importlib.import_module(kind.module)
    except ModuleNotFoundError as error:
        if not kind.extra:
            raise
        raise UsageError(
            f'{scheme}: sources need {error.name}: pip install "headgate[{kind.extra}]"'
        ) from error
