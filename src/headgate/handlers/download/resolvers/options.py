"""Settings of resolvers, and the options of one resolver."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from headgate.core.provider import Line, Name
from headgate.core.url import BadUrl, normalize

Email = Annotated[str, Meta(max_length=254, pattern=r"^([^\s@<>]+@[^\s@<>]+\.[^\s@<>]+)?$")]


class ResolverOptions(msgspec.Struct, frozen=True):
    base_url: str
    """Without a slash at the end."""
    email: str = ""


class ResolverSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[download.resolvers.NAME]`."""

    enabled: bool | None = None
    """Whether to ask this resolver; unset: the default in the table of resolvers."""
    base_url: str = ""
    """Another URL of the service: a mirror, or a server for tests."""
    key_env: Line = ""
    """The environment variable that holds its key."""

    def __post_init__(self) -> None:
        if self.base_url:
            try:
                normalize(self.base_url)
            except BadUrl as error:
                raise ValueError(f"base_url: {error}") from error


class ResolverPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of all resolvers."""

    email: Email = ""
    """A contact address for services. Some services require one."""
    order: tuple[Name, ...] = ()
    """The only resolvers to ask, in this order; unset: all, the likeliest first."""
    resolvers: Mapping[Name, ResolverSettings] = {}
    """`[download.resolvers.NAME]`: settings of one: `enabled`, `base_url` and `key_env`."""

    def settings(self, name: str) -> ResolverSettings:
        return self.resolvers.get(name, ResolverSettings())
