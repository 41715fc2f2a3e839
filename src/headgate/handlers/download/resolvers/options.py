"""What a user says about resolvers, and what one of them is asked with."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from headgate.core.provider import Line, Name
from headgate.core.url import BadUrl, normalize

Email = Annotated[str, Meta(max_length=254, pattern=r"^([^\s@<>]+@[^\s@<>]+\.[^\s@<>]+)?$")]


class ResolverOptions(msgspec.Struct, frozen=True):
    """What one resolver is asked with."""

    base_url: str
    """Where its service is, without a slash at the end."""
    email: str = ""


class ResolverSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[download.resolvers.NAME]`."""

    enabled: bool | None = None
    """Ask it, or do not; left out, it is as the table of resolvers says."""
    base_url: str = ""
    """Another place of the service: a mirror, or a server for tests."""
    key_env: Line = ""
    """The environment variable that holds its key."""

    def __post_init__(self) -> None:
        if self.base_url:
            try:
                normalize(self.base_url)
            except BadUrl as error:
                raise ValueError(f"base_url: {error}") from error


class ResolverPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user says about all of them."""

    email: Email = ""
    """Whom services may write to. Some answer nobody without one."""
    order: tuple[Name, ...] = ()
    """The resolvers to ask, in this order, and no others; left out, all, the likeliest first."""
    resolvers: Mapping[Name, ResolverSettings] = {}
    """`[download.resolvers.NAME]`: what holds for one, with `enabled`, `base_url` and `key_env`."""

    def settings(self, name: str) -> ResolverSettings:
        """What is said about one."""
        return self.resolvers.get(name, ResolverSettings())
