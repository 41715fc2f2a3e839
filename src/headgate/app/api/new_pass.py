"""Begin a pass over a mirror: over a source in the request, or over the source of the last pass."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request, Response
from pydantic import Field, StringConstraints

from headgate.app.address_check import require_public
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.handlers import require_credentials
from headgate.app.api.identity import Principal, Writer, client_of
from headgate.app.api.mirrors import MirrorNumber
from headgate.app.api.models import RequestModel, Whole
from headgate.app.api.problems import documented
from headgate.app.api.state import AppState, State
from headgate.app.extract.opening import OpenedSource, SourceChanges, opened
from headgate.core.errors import UnknownJob, UsageError
from headgate.core.job import LOCAL_OWNER, OwnerCaps
from headgate.engine.passes import BegunPass, Passes, PassOrder, PassSource
from headgate.handlers.extract import parse_source, shipped_source
from headgate.handlers.extract.handler import SET, SOURCE, secrets_named
from headgate.ports.mirrors import Mirror, MirrorQuery, PassWish
from headgate.schema.mirrors import PassBegun

router = APIRouter(prefix="/api/mirrors", tags=["mirrors"], route_class=BoundedRoute)

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Short = Annotated[str, StringConstraints(max_length=2_000)]


class NextPassRequest(RequestModel):
    streams: list[Name] = Field(
        default_factory=list, max_length=1_000, description="Default: the selected streams."
    )
    full: bool = Field(default=False, description="List every row, not only what has changed.")
    since: Short | None = Field(
        None, description="List what has changed since this stamp of the source."
    )
    new_pass: bool = Field(
        default=False, description="Give an interrupted pass up instead of resuming it."
    )
    priority: Whole = Field(0, ge=-10, le=10)

    def wish(self) -> PassWish:
        if self.full and self.since is not None:
            raise UsageError("`full` lists everything and `since` does not: leave out one")
        return PassWish(tuple(self.streams), self.full, self.since)


class SourcePassRequest(NextPassRequest):
    source: Name | dict[str, Any] = Field(
        description="The name of a shipped source, or a description with `client` and `resources`."
    )
    name: Name | None = Field(None, description="Name of the mirror; default: of the source.")
    set: dict[Name, Short] = Field(
        default_factory=dict, description="Values of the `{name}` in the source."
    )
    rate: Name | None = Field(
        None, description="The most requests; default: as the source says.", examples=["100/min"]
    )
    batch_size: Whole | None = Field(None, ge=10, le=1_000, description="Rows of a page.")


@router.post("", status_code=202, responses=documented(409))
async def begin(
    asked: SourcePassRequest, request: Request, response: Response, who: Writer, app_state: State
) -> PassBegun:
    """Begin a pass over a source, or resume the one that was interrupted."""
    changes = SourceChanges(asked.set, asked.rate, asked.batch_size)
    owner = who.name
    source = await app_state.threads.bodies.run(
        _opened, app_state, owner, asked.source, asked.name, changes
    )
    starter = _Starter(app_state, who, owner, client_of(request, app_state))
    return await starter.begin(source, asked, response)


@router.post("/{mirrorId}/passes", status_code=202, responses=documented(409))
async def begin_next(
    mirror_id: MirrorNumber,
    asked: NextPassRequest,
    request: Request,
    response: Response,
    who: Writer,
    app_state: State,
) -> PassBegun:
    """Begin the next pass over a mirror, with the source of the last one, or resume that one."""
    mirror = await app_state.store.mirrors.find(MirrorQuery(mirror_id, owner=who.sees))
    config = await _last_config(app_state, mirror)
    changes = SourceChanges(config.get(SET, {}))
    tree = config.get(SOURCE, mirror.source)
    source = await app_state.threads.bodies.run(
        _opened, app_state, mirror.owner, tree, mirror.name, changes
    )
    starter = _Starter(app_state, who, mirror.owner, client_of(request, app_state))
    return await starter.begin(source, asked, response)


async def _last_config(app_state: AppState, mirror: Mirror) -> Mapping[str, Any]:
    """The config of the newest pass; empty if its job was deleted."""
    for job_id in await app_state.store.mirrors.passes(mirror.id, None, 1):
        try:
            return (await app_state.store.reads.job(job_id)).config
        except UnknownJob:
            break
    return {}


def _opened(
    app_state: AppState,
    owner: str,
    source: str | Mapping[str, Any],
    name: str | None,
    changes: SourceChanges,
) -> PassSource:
    """The source with its values, if its owner may list it. Runs in a thread."""
    tree = shipped_source(source) if isinstance(source, str) else source
    if owner != LOCAL_OWNER:
        _require_no_secrets(tree)
    found = opened(tree, name or "mirror", changes)
    require_credentials(app_state, found.bound.provider, owner)
    _require_public(app_state, found)
    return msgspec.structs.replace(found.for_pass, mirror=name or found.mirror)


def _require_no_secrets(tree: Mapping[str, Any]) -> None:
    """Refuse a user's source that would send values of the server's environment somewhere."""
    named = secrets_named(parse_source(tree))
    if named:
        raise UsageError(
            f"source: it names {named[0]} of the server's environment, which users cannot read; ask"
            " the operator to run this source, or to give its provider credentials `for_users`"
        )


class _Asking(msgspec.Struct, frozen=True):
    name: str
    asks: tuple[str, ...]
    guarded: bool = True  # as everything that a server requests


def _require_public(app_state: AppState, found: OpenedSource) -> None:
    handler = _Asking(f"the source {found.mirror}", found.spec.asks)
    require_public(handler, allow_private=app_state.settings.net.allow_private)


class _Starter:
    def __init__(self, app_state: AppState, who: Principal, owner: str, client: str) -> None:
        self._app_state = app_state
        self._who = who
        self._owner = owner
        self._client = client

    async def begin(
        self, source: PassSource, asked: NextPassRequest, response: Response
    ) -> PassBegun:
        policy = self._app_state.settings.server
        order = PassOrder(
            asked.wish(),
            owner=self._owner,
            by=self._who.name,
            new=asked.new_pass,
            priority=asked.priority,
            caps=OwnerCaps(policy.unfinished_jobs_per_user, policy.open_items_per_user),
            client=self._client,
        )
        begun = await Passes(self._app_state.store, self._app_state.clock).begin(source, order)
        await self._app_state.store.notifier.ring()
        response.headers["Location"] = f"/api/passes/{begun.job.id}"
        return begun_view(begun)


def begun_view(begun: BegunPass) -> PassBegun:
    return PassBegun(
        mirror_id=str(begun.job.mirror_id),
        job_id=str(begun.job.id),
        resumed=begun.is_resumed,
        notes=[*_notes(begun)],
    )


def _notes(begun: BegunPass) -> list[str]:
    notes = []
    if begun.given_up is not None:
        notes.append(f"pass {begun.given_up} was given up: {begun.reason}")
    if begun.has_changed:
        notes.append("the source is described differently than before: this is a full pass")
    if begun.retried:
        notes.append(f"{begun.retried:,} failed pages are tried again")
    return notes
