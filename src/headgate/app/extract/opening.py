"""Opens a source for a pass: a shipped one by name, or one of the user's own by its file."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.rate import parse_limits
from headgate.core.time_text import parse_span
from headgate.engine.passes import PassSource
from headgate.handlers.extract import EXTRACT, plan_pass, read_source, shipped_names, shipped_source
from headgate.handlers.extract.handler import SET, SOURCE, BoundSource, bound_source
from headgate.handlers.extract.overrides import with_page_size, with_rate
from headgate.ports.handler import HandlerSpec

ENDING = ".toml"


class SourceChanges(msgspec.Struct, frozen=True):
    """What a command changes in the description of a source."""

    values: Mapping[str, str] = {}
    """For `{name}` in the description."""
    rate: str | None = None
    page_rows: int | None = None


class OpenedSource(msgspec.Struct, frozen=True):
    bound: BoundSource
    spec: HandlerSpec
    """The handler of its pages."""
    for_pass: PassSource

    @property
    def mirror(self) -> str:
        return self.for_pass.mirror


def open_source(text: str, changes: SourceChanges | None = None) -> OpenedSource:
    """The source with this name or file; UsageError says what is wrong with it.

    Its secrets are read from the environment; nothing is fetched.
    """
    if Path(text).suffix == ENDING:
        tree, name = read_source(Path(text)), Path(text).stem
    elif "/" in text or Path(text).is_file():
        raise UsageError(f"{text}: the file of a source has a name that ends in {ENDING}")
    else:
        tree, name = _shipped(text), text
    try:
        return opened(tree, name, changes or SourceChanges())
    except UsageError as error:
        raise UsageError(f"{text}: {error}") from None


def opened(tree: Mapping[str, Any], name: str, changes: SourceChanges) -> OpenedSource:
    """A source from its tree; `name` is that of the mirror if the tree has none."""
    if changes.rate is not None:
        tree = with_rate(tree, _rate(changes.rate))
    if changes.page_rows is not None:
        tree = with_page_size(tree, changes.page_rows)
    bound = bound_source(tree, changes.values)
    description = bound.description
    config = {SOURCE: tree, **({SET: dict(changes.values)} if changes.values else {})}
    for_pass = PassSource(
        mirror=description.name or name,
        tree=tree,
        digest=bound.digest,
        handler=EXTRACT.reference,
        config=config,
        plan=partial(plan_pass, description),
        resume_within_s=parse_span(description.resume_within or "0s"),
    )
    return OpenedSource(bound, EXTRACT.configured(config), for_pass)


def _shipped(name: str) -> dict[str, Any]:
    if name not in shipped_names():
        raise UsageError(
            f"there is no source {name!r}: give the file of your own source ({name}{ENDING}), or"
            f" one of the shipped ones: {', '.join(shipped_names())}"
        )
    return shipped_source(name)


def _rate(text: str) -> str:
    try:
        parse_limits(text)
    except ValueError as error:
        raise UsageError(f"--rate {text!r}: {error}") from None
    return text
