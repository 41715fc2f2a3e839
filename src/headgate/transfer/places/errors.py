"""Turn failures at a place into messages for the user who named it.

Every driver reports failures as OSErrors.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.core.redact_values import without_secrets
from headgate.transfer.places.sockets import GuardedSockets


@contextmanager
def as_source_errors(url: str, dialer: GuardedSockets) -> Iterator[None]:
    """Turn an OSError about `url` into BadSource, or SourceUnreachable if it may be temporary."""
    try:
        yield
        dialer.check()
    except OSError as error:
        # Without the cause: a library's message may contain the whole URL with its secrets.
        raise source_error(error, without_secrets(url), dialer) from None


def source_error(error: OSError, place: str, dialer: GuardedSockets) -> BadSource:
    if dialer.expired:
        return SourceUnreachable(f"{place} {dialer.over}")
    match error:
        case FileNotFoundError():
            return BadSource(f"{place} does not exist")
        case IsADirectoryError():
            return BadSource(f"{place} is a folder, not a file")
        case NotADirectoryError():
            return BadSource(f"{place} is a file, not a folder")
        case PermissionError():
            return BadSource(f"{place} may not be read: {_reason(error, 'access was denied')}")
        case ssl.SSLCertVerificationError():
            return BadSource(f"the certificate of {place} is not trusted: {error.verify_message}")
        case ssl.SSLError():
            return SourceUnreachable(f"no secure connection to {place}: {error.reason}")
        case socket.gaierror():
            return SourceUnreachable(f"no address is known for {place}")
        case TimeoutError():
            return SourceUnreachable(f"{place} did not answer in time")
        case _:
            return SourceUnreachable(f"{place} cannot be read: {_reason(error, 'it failed')}")


def _reason(error: OSError, otherwise: str) -> str:
    return error.strerror or (str(error.args[0]) if error.args else otherwise)
