"""Turns the description of a source into a handler of its pages."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from headgate.core.errors import UsageError
from headgate.core.item import Item
from headgate.core.job import LOCAL_OWNER
from headgate.core.mirror import FollowUp
from headgate.core.outcome import Done, Outcome
from headgate.core.provider import ProviderPolicy
from headgate.handlers.extract.auth import secrets_of
from headgate.handlers.extract.closing import close_stream
from headgate.handlers.extract.description import EnvValue, SourceDescription
from headgate.handlers.extract.detail import fetch_detail
from headgate.handlers.extract.listing import list_pages
from headgate.handlers.extract.pages import BadPage, Evidence, PageItem, as_result
from headgate.handlers.extract.policy import provider_name, provider_policy
from headgate.handlers.extract.request import SourceClient, source_client
from headgate.handlers.extract.source import (
    NAME,
    parse_source,
    shipped_names,
    shipped_source,
    source_digest,
    texts_in,
)
from headgate.handlers.extract.stream import StreamSource, link_children
from headgate.handlers.words.template import parse_template
from headgate.ports.handler import Context, HandlerSpec

SOURCE = "source"
"""The key of the description in a job's config: a tree, or the name of a shipped source."""
SET = "set"
"""The key of the values for `{name}`."""


class BoundSource(NamedTuple):
    """A source with its values and secrets, ready to be listed."""

    description: SourceDescription
    values: Mapping[str, str]
    client: SourceClient
    streams: Mapping[str, StreamSource]
    provider: str
    policy: ProviderPolicy | None
    """None: the operator's settings have it."""

    @property
    def digest(self) -> str:
        return source_digest(self.description, self.values)

    @property
    def reads_secrets(self) -> bool:
        """Whether it uses variables of the environment, or files, of the process that lists it."""
        named = any(name.startswith("env.") for name in self.client.fixed)
        return named or any(True for _ in secrets_of(self.description.client.auth))


class Extraction:
    """Runs the items of a pass: pages, details and closings."""

    def __init__(self, source: BoundSource, *, shipped: bool = False) -> None:
        self._streams = source.streams
        self._for_operator = source.reads_secrets and not shipped

    async def __call__(self, item: Item, ctx: Context) -> Outcome:
        if self._for_operator and ctx.job.owner != LOCAL_OWNER:
            # Its author could send any variable of the workers anywhere.
            raise BadPage(
                "the source of a user may not read the environment or files of the workers; use a"
                " shipped source, or have the operator begin the pass"
            )
        page = _page(item)
        stream = self._streams.get(page.stream)
        if stream is None:
            raise BadPage(f"the source has no stream {page.stream!r} any more; begin a new pass")
        if page.kind == "detail":
            return await fetch_detail(stream, page, ctx)
        if page.kind == "children":
            follow = [FollowUp(*each) for each in page.at["items"]]
            return Done(as_result(Evidence(detail=True)), items=follow)
        if page.kind == "closing":
            return await close_stream(stream, page, ctx)
        return await list_pages(stream, page, ctx)


def bound_source(
    source: object, values: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> BoundSource:
    """The source with its values; UsageError for a wrong word or a missing value or secret.

    `source` is a tree, or the name of a shipped source. Nothing is fetched.
    """
    tree = shipped_source(source) if isinstance(source, str) else source
    description = parse_source(tree)
    environment = os.environ if environment is None else environment
    _check_secrets(description, environment)
    fixed = {**description.values, **values, **_environment(description, environment)}
    client = source_client(description.client, fixed)
    streams = {
        each.name: StreamSource(each, client, description.client) for each in description.resources
    }
    link_children(streams)
    policy = provider_policy(description, client)
    provider = provider_name(description.client, client)
    return BoundSource(description, dict(values), client, streams, provider, policy)


def of_config(config: Mapping[str, Any]) -> HandlerSpec:
    """The handler of a job; UsageError if its config is not valid."""
    if SOURCE not in config:
        raise UsageError(
            f"{NAME} needs its source in the job's config, under `{SOURCE}`: an object with"
            " `client` and `resources`, or the name of a shipped source"
        )
    try:
        source = bound_source(config[SOURCE], _values(config.get(SET, {})))
    except UsageError as error:
        raise UsageError(f"{SOURCE}: {error}") from None
    shipped = isinstance(config[SOURCE], str)
    return HandlerSpec(
        name=NAME,
        reference=NAME,
        call=Extraction(source, shipped=shipped),
        is_async=True,
        provider=source.provider,
        timeout_s=source.description.client.timeout,
        limits=source.policy,
        described=not shipped,
        about=source.description.about,
        version=source.digest,
        asks=(source.client.base_url,),
    )


def _values(given: object) -> dict[str, str]:
    try:
        return msgspec.convert(given, dict[str, str])
    except msgspec.ValidationError:
        raise UsageError(f"{SET}: it is an object of texts, as --set name=value gives it") from None


def _page(item: Item) -> PageItem:
    try:
        return msgspec.convert(item.input, PageItem)
    except msgspec.ValidationError as error:
        raise BadPage(f"this item is not a page of a pass: {error}") from None


def _check_secrets(description: SourceDescription, environment: Mapping[str, str]) -> None:
    for secret in secrets_of(description.client.auth):
        value = environment.get(secret.env, "").strip()
        if secret.env and not (value and value.isprintable()):
            raise UsageError(
                f"client.auth: the environment variable {secret.env} is not set, or is not one line"
                " of text"
            )
        if secret.file and not Path(secret.file).expanduser().is_file():
            raise UsageError(f"client.auth: there is no file {secret.file}")


def secrets_named(description: SourceDescription) -> list[str]:
    """The environment variables and files of this machine that a source names, by name."""
    credentials = (each.env or each.file for each in secrets_of(description.client.auth))
    return sorted({*filter(None, credentials), *_variable_names(description)})


def _environment(description: SourceDescription, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that the templates of a source name, as `env.NAME`, where they are set."""
    return {
        f"env.{name}": value
        for name in _variable_names(description)
        if _usable(value := environment.get(name, "").strip())
    }


def _variable_names(description: SourceDescription) -> set[str]:
    names = {name for text in texts_in(description) for name in _variables(text)}
    return names | {found.env for found in _env_values(description)}


def _variables(text: str) -> Iterator[str]:
    if "{env." not in text:
        return
    for each in parse_template(text, "the source").placeholders:
        if each.column.startswith("env."):
            yield each.column.removeprefix("env.")


def _env_values(tree: Any) -> Iterator[EnvValue]:
    if isinstance(tree, EnvValue):
        yield tree
    elif isinstance(tree, Mapping):
        for value in tree.values():
            yield from _env_values(value)
    elif isinstance(tree, tuple | list):
        for value in tree:
            yield from _env_values(value)
    elif isinstance(tree, msgspec.Struct):
        for name in tree.__struct_fields__:
            yield from _env_values(getattr(tree, name))


def _usable(value: str) -> bool:
    value = value.strip()
    return bool(value and value.isascii() and value.isprintable())


async def _undescribed(item: Item, ctx: Context) -> Outcome:  # noqa: ARG001 (as handlers are called)
    raise UsageError(f"{NAME} works only with a source in the job's config")


def _schema() -> dict[str, Any]:
    # The words of a source have shorter forms, which only `parse_source` knows.
    name = {"type": "string", "enum": shipped_names()}
    tree = {"type": "object", "required": ["client", "resources"]}
    values = {"type": "object", "additionalProperties": {"type": "string"}}
    return {
        "type": "object",
        "properties": {SOURCE: {"anyOf": [name, tree]}, SET: values},
        "required": [SOURCE],
    }


EXTRACT = HandlerSpec(
    name=NAME,
    reference=NAME,
    call=_undescribed,
    is_async=True,
    about="Lists a paginated API page by page into a mirror, as the job's config describes.",
    config_schema=_schema(),
    for_job=of_config,
)
