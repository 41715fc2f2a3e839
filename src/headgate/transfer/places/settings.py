"""What places may be reached, and how."""

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Pace, Seconds
from headgate.core.errors import BadSource
from headgate.core.minimum_pace import MinimumPace
from headgate.core.redact_values import without_secrets
from headgate.transfer.places.address import checked

Bytes = Annotated[int, Meta(ge=1, le=10**15)]


class PlaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the places that jobs may name as their source. Secrets stand in none of them."""

    allow_private: bool = False
    """Let sources lie at private, local and other special addresses."""
    roots: tuple[str, ...] | None = ()
    """The folders of this machine that `file:` sources may lie in; none unless named."""
    max_bytes: Bytes = 10_000_000_000
    """A larger source is refused."""
    max_files: Count = 10_000
    """A folder with more files is not looked through."""
    connect_s: Seconds = 10.0
    """How long a connection may take."""
    read_s: Seconds = 30.0
    """How long a server may be silent."""
    look_s: Seconds = 120.0
    """How long it may take to look up a file or to list a folder."""
    fetch_s: Seconds = 21_600.0
    """How long one try to copy a file may take; the next goes on where it ended."""
    min_bytes_per_s: Pace = 1_000.0
    """A source that comes more slowly than this is given up. 0: only one that sends nothing is."""
    slow_s: Seconds = 30.0
    """The average is taken over this time, which every source has."""
    ca_file: str = ""
    """Certificates to trust, as PEM: besides those of the system; for S3 instead of them."""
    s3_endpoint: str = ""
    """Where S3 answers; unset: Amazon."""
    s3_region: str = ""
    """The region of the buckets; unset: as the environment says."""
    s3_profile: str = ""
    """The profile whose keys open the buckets; unset: `AWS_…` in the environment, as usual."""
    s3_anonymous: bool = False
    """Open buckets without any key."""
    s3_buckets: tuple[str, ...] = ()
    """The buckets that sources may lie in; none unless named. `*`: all that the keys open."""
    sftp_known_hosts: str = ""
    """The file of known host keys; unset: `~/.ssh/known_hosts`."""
    sftp_fingerprints: tuple[str, ...] = ()
    """Host keys to trust by their fingerprint, `SHA256:…`, wherever they are met."""
    sftp_key_file: str = ""
    """The private key to log in with where the URL has no password; it has no passphrase."""

    @property
    def minimum_pace(self) -> MinimumPace:
        """How slowly a source may come."""
        return MinimumPace(self.min_bytes_per_s, self.slow_s)


ALL: Final = "*"
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def bucket_and_key(url: str, settings: PlaceSettings) -> tuple[str, str]:
    """Both parts of an `s3:` URL, the key as it stands; BadSource if the bucket is not allowed."""
    bucket, _, key = checked(url).partition("://")[2].partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise BadSource(
            f"{without_secrets(url)} names no bucket; write s3://BUCKET/KEY, without a password"
        )
    if bucket not in settings.s3_buckets and ALL not in settings.s3_buckets:
        raise BadSource(
            f"sources may not lie in the bucket {bucket}: places.s3_buckets does not name it"
        )
    return bucket, key
