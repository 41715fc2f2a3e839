"""Which buckets of S3 sources may lie in; known without a connection and without any key."""

import re
from typing import Final

from headgate.core.errors import BadSource
from headgate.core.redact_values import without_secrets
from headgate.transfer.places.address import checked
from headgate.transfer.places.settings import PlaceSettings

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
