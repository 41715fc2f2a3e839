"""Files in buckets of S3 and compatible services, through s3fs.

The address check is in aiohttp's connector: it applies to every resolved name and every
socket, wherever a bucket's redirects point.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

import botocore.exceptions  # type: ignore[import-untyped]
from aiohttp import ClientError
from aiohttp.abc import AbstractResolver, ResolveResult
from fsspec.asyn import sync  # type: ignore[import-untyped]
from s3fs import S3FileSystem  # type: ignore[import-untyped]

from headgate.core.address import address_refusal
from headgate.core.errors import BadSource
from headgate.ports.source import FoundFile
from headgate.transfer.places.address import is_plain, plain_name
from headgate.transfer.places.driver import BLOCK, KeptCopy, Opening, start_of
from headgate.transfer.places.settings import bucket_and_key
from headgate.transfer.places.sockets import AddressInfo, GuardedSockets, refused

FINISH_S: Final = 5.0
_DENIED: Final = "the access keys were not accepted, or do not grant access"


class S3Driver:
    def __init__(self, dialer: GuardedSockets) -> None:
        self._dialer = dialer
        self._settings = dialer.settings

    def find(self, url: str) -> FoundFile:
        bucket, key = self._parsed(url)
        with _as_os_errors(), self._client() as call:
            return _found(url, call("head_object", Bucket=bucket, Key=_file_key(key)))

    def files(self, url: str) -> Iterator[FoundFile]:
        bucket, key = self._parsed(url)
        folder = f"{key.rstrip('/')}/" if key else ""
        with _as_os_errors(), self._client() as call:
            page: dict[str, Any] = {"IsTruncated": True}
            more: dict[str, str] = {}
            while page.get("IsTruncated"):
                page = call("list_objects_v2", Bucket=bucket, Prefix=folder, Delimiter="/", **more)
                more = {"ContinuationToken": page.get("NextContinuationToken", "")}
                for entry in page.get("Contents", ()):
                    if is_plain(entry["Key"].removeprefix(folder)):
                        yield _found(f"s3://{bucket}/{entry['Key']}", entry)

    @contextmanager
    def open(self, url: str, kept: KeptCopy) -> Iterator[Opening]:
        """Begin to read; the server ensures that the version is the one that was found."""
        bucket, key = self._parsed(url)
        with _as_os_errors(), self._client() as call:
            found = _found(url, call("head_object", Bucket=bucket, Key=_file_key(key)))
            offset = start_of(found, kept)
            if offset == found.size:
                yield Opening(found, offset, iter(()))
                return
            part = {"Range": f"bytes={offset}-"} if offset else {}
            answer = call("get_object", Bucket=bucket, Key=key, IfMatch=found.version, **part)
            read = partial(call.wait, answer["Body"].read, BLOCK)
            try:
                yield Opening(found, offset, iter(read, b""))
            finally:
                call.finish(_closed, answer["Body"])

    def _parsed(self, url: str) -> tuple[str, str]:
        return bucket_and_key(url, self._settings)

    @contextmanager
    def _client(self) -> Iterator["_Caller"]:
        caller = _Caller(self._filesystem(), self._dialer)
        try:
            yield caller
        finally:
            caller.close()

    def _filesystem(self) -> Any:
        settings = self._settings
        # Self-hosted servers usually have no host name for each bucket.
        style = {"addressing_style": "path"} if settings.s3_endpoint else {}
        connector = {"resolver": _PublicNames(), "socket_factory": _public_socket}
        filesystem = S3FileSystem(
            anon=settings.s3_anonymous,
            endpoint_url=settings.s3_endpoint or None,
            client_kwargs={
                "region_name": settings.s3_region or None,
                "verify": settings.ca_file or None,
            },
            config_kwargs={
                "connect_timeout": settings.connect_s,
                "read_timeout": settings.read_s,
                "retries": {"total_max_attempts": 1},  # the caller retries
                "s3": style,
                "connector_args": {} if settings.allow_private else connector,
            },
            skip_instance_cache=True,
            use_listings_cache=False,
            **({"profile": settings.s3_profile} if settings.s3_profile else {}),
        )
        filesystem.retries = 1
        return filesystem


class _Caller:
    """Calls the S3 API from a thread, with a time limit."""

    def __init__(self, filesystem: Any, dialer: GuardedSockets) -> None:
        self._filesystem = filesystem
        self._dialer = dialer

    def __call__(self, method: str, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.wait(self._filesystem._call_s3, method, **arguments)  # noqa: SLF001 (its own synchronous form has no time limit)
        return answer

    def wait(self, work: Callable[..., Awaitable[Any]], *words: Any, **named: Any) -> Any:
        self._dialer.check()
        return sync(
            self._filesystem.loop, work, *words, timeout=self._dialer.settings.look_s, **named
        )

    def finish(self, work: Callable[..., Awaitable[Any]], *words: Any) -> None:
        sync(self._filesystem.loop, work, *words, timeout=FINISH_S)

    def close(self) -> None:
        creator = getattr(self._filesystem, "_s3creator", None)
        if creator is not None:
            self.finish(creator.__aexit__, None, None, None)


class _PublicNames(AbstractResolver):
    """Resolves names to public addresses only."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        public = [info for info in found if address_refusal(str(info[4][0])) is None]
        if found and not public:
            raise refused(host, str(address_refusal(str(found[0][4][0]))))
        return [_resolved(host, info) for info in public]

    async def close(self) -> None:
        """Do nothing: the resolver has no resources."""


def _resolved(host: str, info: AddressInfo) -> ResolveResult:
    family, _, protocol, _, place = info
    return ResolveResult(
        hostname=host,
        host=place[0],
        port=place[1],
        family=family,
        proto=protocol,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


def _public_socket(info: AddressInfo) -> socket.socket:
    """A socket for a public address; BadSource for any other, however it was resolved."""
    family, kind, protocol, _, place = info
    refusal = address_refusal(str(place[0]))
    if refusal is not None:
        raise refused(str(place[0]), refusal)
    return socket.socket(family, kind, protocol)


async def _closed(body: Any) -> None:
    body.close()


def _file_key(key: str) -> str:
    if not key or key.endswith("/"):
        raise IsADirectoryError
    return key


def _found(url: str, entry: dict[str, Any]) -> FoundFile:
    size = entry.get("ContentLength", entry.get("Size"))
    modified: datetime | None = entry.get("LastModified")
    modified_at = int(modified.timestamp() * 1_000_000) if modified else None
    return FoundFile(url, plain_name(url), size, entry.get("ETag", ""), modified_at, whole=True)


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except PermissionError:
        raise PermissionError(_DENIED) from None
    except botocore.exceptions.NoCredentialsError:
        raise BadSource(
            "S3 needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"
            " or places.s3_profile, or places.s3_anonymous"
        ) from None
    except (botocore.exceptions.ReadTimeoutError, botocore.exceptions.ConnectTimeoutError):
        raise TimeoutError from None
    except (botocore.exceptions.BotoCoreError, ClientError) as error:
        refusal = _cause(error)
        raise refusal or ConnectionError("S3 did not answer as expected") from None


def _cause(error: BaseException | None) -> BadSource | None:
    """The refusal of the address check, if it is wrapped in the error."""
    while error is not None:
        inner = getattr(error, "kwargs", {}).get("error")
        if isinstance(inner, BadSource):
            return inner
        error = error.__cause__ or error.__context__
    return None
