"""`download`: an item is an identifier, and becomes a verified file in the job's folder."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

import msgspec

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, JobHalted
from headgate.core.item import Item
from headgate.core.outcome import Done, Outcome, Skipped
from headgate.core.provider import PRESETS, ProviderPolicy
from headgate.core.url import parse_origin, split_origin
from headgate.handlers.download.attempts import Miss, PlanFailed, bad_row, miss_of, outcome_of
from headgate.handlers.download.config import NAME, DownloadConfig, parse
from headgate.handlers.download.expected import BadChecksum, ExpectedFile, RowExpectations
from headgate.handlers.download.fetch import Fetch, FetchedFile, FetchTarget
from headgate.handlers.download.identifier import (
    BadIdentifier,
    Identifier,
    IdentifierKind,
    identifier_of,
)
from headgate.handlers.download.plan import Plan
from headgate.handlers.download.resolve import Resolution
from headgate.handlers.download.resolvers.options import ResolverPolicy
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.selection import ResolverSelection
from headgate.ports.artifacts import FolderTrouble
from headgate.ports.handler import Context, HandlerSpec
from headgate.ports.http import Http

HOSTS: Final = "files"
"""The provider whose settings hold for every host that no other provider has."""
UNCHANGED: Final = "unchanged"


class DownloadDeps(msgspec.Struct, frozen=True):
    policy: ResolverPolicy = ResolverPolicy()
    providers: Mapping[str, ProviderPolicy] = PRESETS
    environment: Mapping[str, str] = {}
    user_agent: str = ""


class Download:
    def __init__(
        self,
        config: DownloadConfig,
        selection: ResolverSelection,
        headers: Mapping[str, str],
        capped: frozenset[str] = frozenset(),
    ) -> None:
        """`capped` are providers whose `concurrency` also limits files that they only name."""
        self._config = config
        self._capped = capped
        self._row_expectations = RowExpectations(config.allowed, config.bounds)
        self._selection = selection
        self._headers = headers

    @property
    def left_out(self) -> Mapping[str, str]:
        """Resolvers that are not asked, and why."""
        return self._selection.left_out

    def search(self, identifier: Identifier, http: Http) -> Resolution:
        return Resolution(identifier, self._selection, http, self._headers)

    async def __call__(self, item: Item, ctx: Context) -> Outcome:
        """Try plan after plan until one leads to a file; AttemptOver if none does."""
        try:
            identifier = identifier_of(item.input)
            wanted = ExpectedFile(self._row_expectations, item.input)
        except (BadIdentifier, BadChecksum) as bad:
            raise bad_row(bad) from None
        search = self.search(identifier, ctx.http)
        try:
            folder = await ctx.folder(self._config.out)
            subject = FetchTarget(identifier, self._config, wanted, ctx.http, folder, self._headers)
            async for plan in search.plans():
                fetched = await self._tried(subject, plan, search.misses)
                if fetched is not None:
                    return _success(plan, fetched, search.misses)
        except FolderTrouble as trouble:
            raise JobHalted(str(trouble)) from trouble
        ending = outcome_of(search.misses, _url_of(identifier))
        raise AttemptOver(ending)

    async def _tried(
        self, subject: FetchTarget, plan: Plan, misses: list[Miss]
    ) -> FetchedFile | None:
        """Return the file of a plan; on failure, add a miss and return None."""
        provider = RESOLVERS[plan.resolver].provider
        through = provider if provider in self._capped else ""
        try:
            return await Fetch(subject, plan, through).run()
        except PlanFailed as failed:
            misses.append(failed.miss(plan.resolver, plan.url))
        except AttemptOver as over:
            misses.append(miss_of(over, plan.resolver, plan.url))
        return None


def _success(plan: Plan, fetched: FetchedFile, misses: list[Miss]) -> Outcome:
    note = fetched.note
    result = {
        "reason": UNCHANGED if fetched.unchanged else None,
        "resolver": plan.resolver,
        "url": plan.url,
        "final_url": fetched.final_url,
        "content_type": note.content_type,
        "bytes": note.bytes,
        "sha256": note.sha256,
        "path": note.path,
        "cache": fetched.kind,
        "tried": [miss.record() for miss in misses],
    }
    return Skipped(UNCHANGED, result) if fetched.unchanged else Done(result)


def _url_of(identifier: Identifier) -> str:
    return identifier.value if identifier.kind is IdentifierKind.URL else ""


def key_of(row: Mapping[str, Any]) -> str:
    """The key of a row's identifier, the same for all spellings."""
    return identifier_of(row).key


def host_of(row: Mapping[str, Any]) -> str:
    """The host that a row waits for; empty if a resolver must be asked first."""
    try:
        identifier = identifier_of(row)
    except BadIdentifier:
        return ""  # the error is reported when the row is processed
    url = _url_of(identifier)
    return parse_origin(split_origin(url)[0]).key if url else ""


NO_SETTINGS: Final = DownloadDeps()


def of_config(config: Mapping[str, Any], deps: DownloadDeps = NO_SETTINGS) -> HandlerSpec:
    """The handler of a job; UsageError if its config is not valid."""
    parsed = parse(config)
    email = parsed.email or deps.policy.email
    policy = msgspec.structs.replace(deps.policy, email=email)
    selection = ResolverSelection(policy, parsed.resolvers, deps.environment, deps.providers)
    headers = _introduction(email, deps.user_agent)
    download = Download(parsed, selection, headers, _capped(deps.providers))
    return msgspec.structs.replace(
        DOWNLOAD,
        call=download,
        timeout_s=2 * parsed.timeout_s,
        providers=selection.providers(),
        for_job=None,
    )


def _capped(providers: Mapping[str, ProviderPolicy]) -> frozenset[str]:
    """Providers whose cap was set in the settings.

    The presets hold the limits that services ask for; they do not concern files elsewhere.
    """
    shipped = {name: policy.concurrency for name, policy in PRESETS.items()}
    return frozenset(
        name
        for name, policy in providers.items()
        if policy.concurrency and policy.concurrency != shipped.get(name)
    )


def _introduction(email: str, user_agent: str) -> dict[str, str]:
    """The User-Agent header with the contact; empty if the client's own is enough."""
    if not email or not email.isascii():
        return {}
    name = user_agent or f"headgate/{version('headgate')}"
    return {"user-agent": f"{name} ({email})"}


async def _unconfigured(item: Item, ctx: Context) -> Outcome:  # noqa: ARG001 (as handlers are called)
    raise UsageError(f"{NAME} works only with a job's config")


def _schema() -> dict[str, Any]:
    _, parts = msgspec.json.schema_components([DownloadConfig], ref_template="#/$defs/{name}")
    return {**parts.pop(DownloadConfig.__name__), "$defs": parts}


DOWNLOAD: Final = HandlerSpec(
    name=NAME,
    reference=NAME,
    call=_unconfigured,
    is_async=True,
    provider=HOSTS,
    gate_of=host_of,
    key_of=key_of,
    guarded=True,
    about="Finds the file of a DOI, an arXiv id, a PMCID or a URL, and keeps it verified.",
    config_schema=_schema(),
    for_job=of_config,
)
