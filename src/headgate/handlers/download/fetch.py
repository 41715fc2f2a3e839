"""Fetches one plan: requests the file, verifies it while it arrives, and stores it."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

import msgspec

from headgate.core.call import CallKind
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.verification import (
    BodyCheck,
    Flaw,
    Unfit,
    check_reply,
    range_start,
)
from headgate.handlers.download.attempts import PlanFailed, Weight, bad_status, unfit
from headgate.handlers.download.config import DownloadConfig
from headgate.handlers.download.expected import CachedFileNote, ExpectedFile, name_for, read_note
from headgate.handlers.download.identifier import Identifier
from headgate.handlers.download.plan import Plan
from headgate.ports.artifacts import (
    Artifacts,
    ArtifactTrouble,
    Draft,
    FileOrigin,
    FileTrouble,
    KeptPart,
)
from headgate.ports.http import Http, StreamedResponse

WINDOW_S: Final = 60.0
"""Seconds over which the speed of a transfer is measured."""


class TooSlow(AttemptOver):
    """The transfer is too slow to keep its slot among the transfers."""

    code = "too-slow"

    def __init__(self, least_bytes_s: float) -> None:
        words = f"less than {least_bytes_s:g} bytes per second arrived for {WINDOW_S:g} s"
        super().__init__(Fault(FaultClass.TIMEOUT, words))


async def write_body(
    reply: StreamedResponse, draft: Draft, inspection: BodyCheck, least_bytes_s: float
) -> None:
    """Write the body to the draft. Unfit as soon as a flaw shows, TooSlow below the limit."""
    time = asyncio.get_running_loop().time
    until_s, size = time() + WINDOW_S, inspection.size
    async for chunk in reply.aiter_bytes():
        if finding := inspection.feed(chunk):
            raise Unfit(finding)
        await draft.write(chunk)
        if time() >= until_s:
            if inspection.size - size < least_bytes_s * WINDOW_S:
                raise TooSlow(least_bytes_s)
            until_s, size = time() + WINDOW_S, inspection.size


WHOLE: Final = frozenset({200, 203})
PARTIAL: Final = 206
NOT_SATISFIABLE: Final = 416
_NO_HEAD: Final = frozenset({400, 401, 403, 405, 500, 501, 503})
"""Statuses with which servers refuse HEAD requests."""


class FetchTarget(msgspec.Struct, frozen=True):
    identifier: Identifier
    config: DownloadConfig
    wanted: ExpectedFile
    http: Http
    folder: Artifacts
    headers: Mapping[str, str]
    """The User-Agent header with a contact; empty: the client's own."""


class FetchedFile(msgspec.Struct, frozen=True):
    note: CachedFileNote
    final_url: str
    kind: CallKind
    """Source of the reply: network, cache or revalidation."""
    unchanged: bool = False
    """The folder had the file for this very input, and the server's file is the same."""


class Fetch:
    """Runs one plan. PlanFailed, or an AttemptOver of the client, if it leads to no file."""

    def __init__(self, subject: FetchTarget, plan: Plan, through: str) -> None:
        self._subject = subject
        self._plan = plan
        self._through = through
        self._checksum = subject.wanted.checksum(plan)
        self._begun = False
        """Whether the draft holds this plan's bytes; before, it may hold those of another plan."""
        # Encoded bodies cannot be resumed, and their length is unknown beforehand.
        self._headers = {**subject.headers, "accept-encoding": "identity", **plan.headers}
        if plan.referer:
            self._headers["referer"] = plan.referer

    async def run(self) -> FetchedFile:
        """Return the file. On any error no incomplete file has a name."""
        subject = self._subject
        if subject.config.head:
            await self._check_head()
        algorithms = (self._checksum.algorithm,) if self._checksum else ()
        draft = await subject.folder.begin(subject.identifier.key, algorithms)
        try:
            return await self._fill(draft)
        except FileTrouble as trouble:
            draft.abandon()
            raise PlanFailed("cannot-keep", Weight.UNFIT, str(trouble)) from trouble
        except (PlanFailed, ArtifactTrouble):
            if self._begun:
                draft.abandon()
            else:
                await draft.leave()
            raise
        except (AttemptOver, asyncio.CancelledError):
            # Cut off, too slow, or told to stop: another attempt can use the bytes.
            await draft.leave()
            raise

    async def _check_head(self) -> None:
        """Send a HEAD request, and stop if the body is not acceptable."""
        reply = await self._subject.http.head(self._plan.url, headers=self._headers)
        status = reply.status_code
        if status in _NO_HEAD:
            return
        if not reply.is_success:
            raise bad_status(status)
        expected = self._subject.wanted.expected(self._plan, status, reply.headers)
        finding = check_reply(200, expected)
        if finding is not None and finding.flaw is Flaw.TOO_LARGE:
            raise unfit(finding, status)

    async def _fill(self, draft: Draft) -> FetchedFile:
        kept = draft.kept
        if kept is not None and kept.origin.url == self._plan.url:
            fetched = await self._resume(draft, kept)
            if fetched is not None:
                return fetched
        async with self._stream(self._headers) as reply:
            if not reply.kept:
                return await self._receive(draft, reply)
            if existing := await self._existing(reply):
                draft.abandon()
                return existing
        async with self._stream(self._headers, refetch=True) as reply:
            return await self._receive(draft, reply)

    def _stream(
        self, headers: Mapping[str, str], *, refetch: bool = False
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        config = self._subject.config
        return self._subject.http.stream(
            "GET",
            self._plan.url,
            headers=headers,
            timeout=config.timeout_s,
            through=self._through,
            kept_in=config.out,
            refetch=refetch,
        )

    async def _existing(self, reply: StreamedResponse) -> FetchedFile | None:
        """The file of an earlier reply, if it is still in the folder."""
        subject, note = self._subject, read_note(reply.kept)
        if note is None or not subject.wanted.will_do(self._plan, note):
            return None
        if not await subject.folder.has(note.path, note.bytes):
            return None
        key = subject.identifier.key
        if more := note.known_to(key):
            await reply.keep(more.encoded())
        return FetchedFile(note, reply.url, reply.kind, unchanged=key in note.inputs)

    async def _resume(self, draft: Draft, kept: KeptPart) -> FetchedFile | None:
        """Fetch the rest of an earlier attempt; None if the whole file must be fetched."""
        condition = {"range": f"bytes={kept.size}-", "if-range": kept.origin.validator}
        async with self._stream({**self._headers, **condition}) as reply:
            status = reply.status_code
            # The bytes are useless if they do not fit the server's file.
            self._begun = status in {PARTIAL, NOT_SATISFIABLE}
            if status == PARTIAL and self._continues(reply, kept):
                inspection = BodyCheck(
                    self._subject.wanted.expected(self._plan, status, reply.headers)
                )
                async for block in draft.resume():
                    if finding := inspection.feed(block):
                        raise unfit(finding, status, resumed=True)
                return await self._keep(draft, reply, inspection)
            if status in {PARTIAL, NOT_SATISFIABLE}:
                return None
            return await self._receive(draft, reply)

    def _continues(self, reply: StreamedResponse, kept: KeptPart) -> bool:
        """Whether the reply is the rest of the draft; some servers send another range."""
        same = self._origin(reply).continues(kept.origin)
        return same and range_start(reply.headers) == kept.size

    async def _receive(self, draft: Draft, reply: StreamedResponse) -> FetchedFile:
        """Receive the whole file from its first byte."""
        status = reply.status_code
        if status not in WHOLE:
            raise bad_status(status)
        expected = self._subject.wanted.expected(self._plan, status, reply.headers)
        if finding := check_reply(status, expected):
            raise unfit(finding, status)
        self._begun = True
        draft.start(self._origin(reply))
        return await self._keep(draft, reply, BodyCheck(expected))

    async def _keep(
        self, draft: Draft, reply: StreamedResponse, inspection: BodyCheck
    ) -> FetchedFile:
        subject, status = self._subject, reply.status_code
        try:
            await write_body(reply, draft, inspection, subject.config.least_bytes_s)
            stored = await draft.finish(self._name(reply, inspection), inspection.accept)
        except Unfit as error:
            raise unfit(error.finding, status, resumed=status == PARTIAL) from None
        key = subject.identifier.key
        kind = inspection.content_type
        note = CachedFileNote(stored.path, stored.sha256, stored.size, kind, (key,))
        await reply.keep(note.encoded())
        return FetchedFile(note, reply.url, reply.kind)

    def _name(self, reply: StreamedResponse, inspection: BodyCheck) -> str:
        disposition = reply.headers.get("content-disposition", "")
        style, found = self._subject.config.names, inspection.content_type
        return name_for(self._subject.identifier, style, self._plan.url, disposition, found)

    def _origin(self, reply: StreamedResponse) -> FileOrigin:
        """The version of the file; without validators for an encoded body, which cannot resume."""
        headers = reply.headers
        if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
            return FileOrigin(self._plan.url)
        etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
        return FileOrigin(self._plan.url, etag, modified)
