"""Turns the description of a lookup into a handler."""

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.fault import AttemptOver
from headgate.core.identity import result_digest
from headgate.core.item import Item
from headgate.core.outcome import NotFound, Outcome
from headgate.core.provider import ProviderPolicy
from headgate.core.url import parse_origin, split_origin
from headgate.handlers.lookup.description import (
    Description,
    Name,
    Secret,
    parse_description,
)
from headgate.handlers.lookup.normalize import EVERY, Normalizer
from headgate.handlers.lookup.price import price_of
from headgate.handlers.lookup.reply import ReplyReader
from headgate.handlers.lookup.request import (
    LookupRequest,
    lookup_request,
    missing_secret,
    secrets_in,
    varied,
)
from headgate.handlers.words.parsing import MOST_BYTES
from headgate.handlers.words.template import NoValue, Unasked
from headgate.ports.handler import Context, HandlerSpec

NAME = "http.lookup"
PACE = frozenset({"about", "rate", "burst", "concurrency", "timeout"})
"""Keys of a description that may change while a job is under way."""
KEY = "lookup"
"""The key of the description in a job's config."""


class Lookup:
    """Sends the request for one row, and reads the reply."""

    def __init__(self, description: Description, *, trusted: bool) -> None:
        options = {"host_from_data": description.host_from_data, "trusted": trusted}
        names = _variant_names(description)
        requests = [varied(description.request, each) for each in description.variants]
        questions = [lookup_request(each, **options) for each in requests or [description.request]]
        strategies: list[str | None] = [*names] or [None]
        self._questions: dict[str | None, LookupRequest] = dict(
            zip(strategies, questions, strict=True)
        )
        self._reading = ReplyReader(description)
        self._price = price_of(description)
        self._reply_bytes = description.reply_bytes
        self.strategies = tuple(names)
        columns = [each.columns for each in questions]
        self.columns = list(dict.fromkeys(name for each in columns for name in each))
        self.needs = [
            name for name in self.columns if not any(each.get(name, 1) for each in columns)
        ]
        self.needs += [name for name in self._price_columns() if name not in self.needs]
        self.asks = [each.address.fixed for each in questions if each.address.fixed]
        self.paths = self._reading.paths
        self.secrets: list[Secret] = [found for each in questions for found in secrets_in(each)]

    def _price_columns(self) -> list[str]:
        return self._price.columns if self._price else []

    def host_of(self, row: Mapping[str, Any]) -> str:
        """The host that a row waits for; empty if it is unknown."""
        first = next(iter(self._questions.values()))
        try:
            return parse_origin(split_origin(first.address.url(row))[0]).key
        except (AttemptOver, UnicodeEncodeError):
            return ""  # the error is reported when the row is processed

    async def __call__(self, item: Item, ctx: Context) -> Outcome:
        """Process one item; a permanent fault if the row or the reply is unusable."""
        question = self._questions[ctx.strategy]
        row = {**item.input, **(item.normalized or {})}
        try:
            url = question.address.url(row)
            options = await question.options(row, ctx)
        except NoValue as problem:
            if not self.strategies:
                raise
            return NotFound(str(problem))  # another variant may not need that column
        except UnicodeEncodeError:
            raise Unasked("the row contains an unpaired surrogate and cannot be encoded") from None
        options["max_bytes"] = self._reply_bytes
        if self._price is not None:
            options["cost"] = self._price.estimate(row)
        reply = await ctx.http.request(question.method, url, **options)
        if self._price is not None:
            self._price.settle(reply, ctx, self._reading)
        return self._reading.outcome(reply)


def of_file(path: Path) -> HandlerSpec:
    """The handler of a TOML file; UnknownHandler if the file is not valid."""
    path = path.expanduser().resolve()
    try:
        tree = _read(path)
        name = tree.get("name") or path.stem
        description = parse_description(tree)
        return _spec(description, _named(name), str(path), trusted=True)
    except UsageError as error:
        raise UnknownHandler(f"{path}: {error}") from None


def of_config(config: Mapping[str, Any]) -> HandlerSpec:
    """The handler of a job; UsageError if its config is not valid."""
    if KEY not in config:
        raise UsageError(
            f"{NAME} needs its description in the job's config, under `{KEY}`: an object with"
            " `request` and `columns`",
        )
    try:
        description = parse_description(config[KEY])
        _check_hints(description)
        return _spec(description, NAME, NAME, trusted=False)
    except UsageError as error:
        raise UsageError(f"{KEY}: {error}") from None


def check_config(config: Mapping[str, Any]) -> None:
    """Raise UsageError if a job's config is not valid. Pure."""
    of_config(config)


def _spec(description: Description, name: str, reference: str, *, trusted: bool) -> HandlerSpec:
    version = result_digest(NAME, "", _deciding(description))
    lookup = Lookup(description, trusted=trusted)
    limits = _limits(description)
    # A description in a job's config sets limits for that job only, not for a shared provider.
    whole = result_digest(NAME, "", msgspec.to_builtins(description))
    own = name if trusted else f"lookup-{whole[:12]}"
    spec = HandlerSpec(
        name=name,
        reference=reference,
        call=lookup,
        is_async=True,
        provider=description.provider or (own if limits else None),
        strategies=lookup.strategies,
        gate_of=lookup.host_of if description.host_from_data else None,
        normalize=_normalizer(description, lookup),
        timeout_s=description.timeout,
        limits=limits,
        guarded=True,
        described=not trusted,
        about=description.about,
        version=version,
        needs=tuple(lookup.needs),
        asks=tuple(dict.fromkeys(lookup.asks)),
        paths=lookup.paths,
    )
    if not lookup.secrets:
        return spec
    return msgspec.structs.replace(spec, for_job=partial(_with_secrets, spec, lookup.secrets))


def _deciding(description: Description) -> dict[str, Any]:
    """The keys of a description that decide the result; the pace does not."""
    tree: dict[str, Any] = msgspec.to_builtins(description)
    return {name: value for name, value in tree.items() if name not in PACE}


def _with_secrets(spec: HandlerSpec, secrets: list[Secret], _: Mapping[str, Any]) -> HandlerSpec:
    """Check before the first row that all environment variables are set."""
    if missing := missing_secret(secrets):
        raise UsageError(
            f"{spec.name}: the environment variable {missing} is not set, or is not one"
            " line of plain text",
        )
    return spec


def _normalizer(description: Description, lookup: Lookup) -> Normalizer | None:
    steps = description.normalize
    unknown = [name for name in steps if name != EVERY and name not in lookup.columns]
    if unknown:
        raise UsageError(
            f"normalize.{unknown[0]}: no request uses this column; they use"
            f" {', '.join(lookup.columns) or 'none'}",
        )
    return Normalizer(steps, lookup.columns) if steps else None


def _check_hints(description: Description) -> None:
    if description.provider and _hints(description):
        raise UsageError(
            "provider: the settings hold the limits of a provider; leave out `rate`, `burst`"
            " and `concurrency`, or the provider",
        )


def _hints(description: Description) -> dict[str, Any]:
    given = {name: getattr(description, name) for name in ("rate", "burst", "concurrency")}
    return {name: value for name, value in given.items() if value}


def _limits(description: Description) -> ProviderPolicy | None:
    hints = _hints(description)
    try:
        return msgspec.convert(hints, ProviderPolicy) if hints else None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _variant_names(description: Description) -> list[str]:
    names = [
        variant.name or f"variant {number}"
        for number, variant in enumerate(description.variants, 1)
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"variants: two have the name {twice!r}")
    return names


def _named(name: Any) -> str:
    try:
        return msgspec.convert(name, Name)
    except msgspec.ValidationError:
        raise UsageError(
            f"name: {name!r} is not a valid name; use up to 64 letters, digits, dots, _ and -",
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise UsageError(f"the file has more than {MOST_BYTES:,} bytes")
        return tomllib.loads(text.decode())
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the file is not valid TOML: {error}") from None


async def _undescribed(item: Item, ctx: Context) -> Outcome:  # noqa: ARG001 (as handlers are called)
    raise UsageError(f"{NAME} works only with a description in the job's config")


def _schema() -> dict[str, Any]:
    (schema,), parts = msgspec.json.schema_components([Description], ref_template="#/$defs/{name}")
    return {
        "type": "object",
        "properties": {KEY: schema},
        "required": [KEY],
        "$defs": parts,
    }


HTTP_LOOKUP = HandlerSpec(
    name=NAME,
    reference=NAME,
    call=_undescribed,
    is_async=True,
    guarded=True,
    about="Asks a service on the web about each row, as the job's config describes.",
    config_schema=_schema(),
    for_job=of_config,
)
