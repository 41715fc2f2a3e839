"""Settings of the places that sources are read from."""

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from headgate.core.body_limits import MinimumPace
from headgate.core.bounds import Count, Pace, Seconds
from headgate.core.errors import BadSource
from headgate.core.redact_values import without_secrets
from headgate.transfer.places.address import checked

Bytes = Annotated[int, Meta(ge=1, le=10**15)]


class PlaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the places that jobs may use as sources. None of them contains a secret."""

    allow_private: bool = False
    """Allow sources at private, local and other special addresses."""
    roots: tuple[str, ...] | None = ()
    """Folders of this machine that `file:` sources may be in; by default none."""
    max_bytes: Bytes = 10_000_000_000
    """Largest source in bytes; a larger one is refused."""
    max_files: Count = 10_000
    """Most files in a folder; a folder with more is refused."""
    connect_s: Seconds = 10.0
    """Seconds to wait for a connection."""
    read_s: Seconds = 30.0
    """Seconds to wait for a server that sends nothing."""
    look_s: Seconds = 120.0
    """Seconds that finding a file or listing a folder may take."""
    fetch_s: Seconds = 21_600.0
    """Seconds that one attempt to copy a file may take; the next one continues where it ended."""
    min_bytes_per_s: Pace = 1_000.0
    """Slowest average speed, in bytes per second. 0: only a silent source is given up."""
    slow_s: Seconds = 30.0
    """Seconds over which the average speed is taken."""
    ca_file: str = ""
    """PEM file of certificates to trust, in addition to the system's; for S3, instead of them."""
    s3_endpoint: str = ""
    """URL of the S3 service; unset: Amazon."""
    s3_region: str = ""
    """Region of the buckets; unset: from the environment."""
    s3_profile: str = ""
    """AWS profile with the keys for the buckets; unset: `AWS_…` in the environment."""
    s3_anonymous: bool = False
    """Read buckets without keys."""
    s3_buckets: tuple[str, ...] = ()
    """Buckets that sources may be in; by default none. `*`: all that the keys can read."""
    sftp_known_hosts: str = ""
    """File of known host keys; unset: `~/.ssh/known_hosts`."""
    sftp_fingerprints: tuple[str, ...] = ()
    """Fingerprints of host keys to trust on any host, `SHA256:…`."""
    sftp_key_file: str = ""
    """Private key for logins without a password in the URL; it must not have a passphrase."""

    @property
    def minimum_pace(self) -> MinimumPace:
        return MinimumPace(self.min_bytes_per_s, self.slow_s)


ALL: Final = "*"
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def bucket_and_key(url: str, settings: PlaceSettings) -> tuple[str, str]:
    """Bucket and key of an `s3:` URL, the key unchanged; BadSource if the bucket is not allowed."""
    bucket, _, key = checked(url).partition("://")[2].partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise BadSource(
            f"{without_secrets(url)} has no valid bucket; write s3://BUCKET/KEY, without a password"
        )
    if bucket not in settings.s3_buckets and ALL not in settings.s3_buckets:
        raise BadSource(f"the bucket {bucket} is not allowed: add it to places.s3_buckets")
    return bucket, key
