"""The same files in every kind of place, put there by other means than ours."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from headgate.ports.source import Place
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.settings import PlaceSettings
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.ftps import FtpsServer
from tests.kit.s3 import BUCKET, S3Server
from tests.kit.service import Service
from tests.kit.sftp import SftpServer

QUICK = PlaceSettings(allow_private=True, connect_s=15.0, read_s=30.0)


class PlaceSite(NamedTuple):
    """One kind of place with a folder `in` of its own."""

    kind: str
    settings: PlaceSettings
    put: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    url: Callable[..., str]
    """The URL of a name in the folder; `host` is another name of the same server."""
    server: Service | None = None

    @property
    def place(self) -> Place:
        return open_place(self.url("x"), self.settings)

    @property
    def can_list(self) -> bool:
        return self.kind != "http"

    def with_settings(self, **changed: object) -> Place:
        """The same place under other settings."""
        return open_place(self.url("x"), msgspec.structs.replace(self.settings, **changed))


def on_disk(folder: Path) -> PlaceSite:
    root = folder / "root"
    put, remove = _in_folder(root / "in")
    settings = msgspec.structs.replace(QUICK, roots=(str(root),))
    return PlaceSite("disk", settings, put, remove, lambda name: (root / "in" / name).as_uri())


def over_ftp(server: FtpServer) -> PlaceSite:
    put, remove = _in_folder(server.files / "in")
    return PlaceSite(
        "ftp", QUICK, put, remove, lambda name, **more: server.url(f"in/{name}", **more), server
    )


def over_ftps(server: FtpsServer) -> PlaceSite:
    put, remove = _in_folder(server.files / "in")
    settings = msgspec.structs.replace(QUICK, ca_file=str(server.certificate))
    return PlaceSite(
        "ftps", settings, put, remove, lambda name, **more: server.url(f"in/{name}", **more), server
    )


def over_sftp(server: SftpServer) -> PlaceSite:
    put, remove = _in_folder(server.files / "in")
    settings = msgspec.structs.replace(
        QUICK,
        sftp_known_hosts=str(server.known_hosts()),
        sftp_key_file=str(server.key),
        sftp_fingerprints=(server.fingerprint(),),
    )
    return PlaceSite(
        "sftp", settings, put, remove, lambda name, **more: server.url(f"in/{name}", **more), server
    )


def over_http(server: FileServer) -> PlaceSite:
    put, remove = _in_folder(server.files / "in")
    return PlaceSite(
        "http", QUICK, put, remove, lambda name, **more: server.url(f"in/{name}", **more), server
    )


def over_s3(server: S3Server) -> PlaceSite:
    client = server.client()
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for entry in page.get("Contents", ()):
            client.delete_object(Bucket=BUCKET, Key=entry["Key"])
    settings = msgspec.structs.replace(
        QUICK, s3_endpoint=server.endpoint, s3_region="us-east-1", s3_buckets=("*",)
    )
    return PlaceSite(
        "s3",
        settings,
        lambda name, data: client.put_object(Bucket=BUCKET, Key=f"in/{name}", Body=data),
        lambda name: client.delete_object(Bucket=BUCKET, Key=f"in/{name}"),
        lambda name: f"s3://{BUCKET}/in/{name}",
        server,
    )


def _in_folder(folder: Path) -> tuple[Callable[[str, bytes], object], Callable[[str], object]]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def put(name: str, data: bytes) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)

    return put, lambda name: (folder / name).unlink()
