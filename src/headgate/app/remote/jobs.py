"""Jobs of a server."""

from headgate.app.remote.values import event_of, group_of, job_of, stand_of, wait_of
from headgate.app.service import SHOWN_EVENTS, JobAccount, JobStand
from headgate.client import Client, Filter, Reprocess
from headgate.core.job import Job
from headgate.ports.items import RequeueRequest

LARGEST_PAGE = 1_000


class RemoteJobs:
    """Implements JobVerbs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ls(self, after: int, limit: int) -> list[JobStand]:
        """Jobs older than `after` (0: all), newest first."""
        found: list[JobStand] = []
        # A cursor of the server's cannot be made from a number: what is newer is passed over.
        page_size = LARGEST_PAGE if after else min(limit, LARGEST_PAGE)
        async for job in self._client.jobs.all(page_size=page_size):
            if after and int(job.id) >= after:
                continue
            found.append(stand_of(job))
            if len(found) == limit:
                break
        return found

    async def get(self, job_id: int) -> JobStand:
        """One job, or UnknownJob."""
        return stand_of(await self._client.jobs.get(str(job_id)))

    async def account(self, job_id: int) -> JobAccount:
        """One job with everything."""
        name = str(job_id)
        job = await self._client.jobs.get(name)
        events = (await self._client.events.page(name, page_size=SHOWN_EVENTS)).items
        failures = await self._client.jobs.errors(name)
        stand = stand_of(job)
        return JobAccount(
            job=stand.job,
            counts=stand.counts,
            limit=wait_of(job.limited_by),
            at_work=True,
            failures=[group_of(group) for group in failures],
            events=[event_of(event) for event in reversed(events)],
        )

    async def pause(self, job_id: int) -> Job:
        """Stop new work on it."""
        return job_of(await self._client.jobs.pause(str(job_id)))

    async def resume(self, job_id: int) -> Job:
        """Let it go on."""
        return job_of(await self._client.jobs.resume(str(job_id)))

    async def cancel(self, job_id: int) -> Job:
        """End it."""
        return job_of(await self._client.jobs.cancel(str(job_id)))

    async def set_priority(self, job_id: int, priority: int) -> Job:
        """Change its share."""
        return job_of(await self._client.jobs.set_priority(str(job_id), priority))

    async def remove(self, job_id: int) -> None:
        """Delete it with everything that belongs to it."""
        await self._client.jobs.delete(str(job_id))

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        """Bring finished items back, or only count them."""
        what = Reprocess(
            statuses=sorted(request.statuses),
            error_class=request.error_class,
            filter=Filter(q=request.text, signature=request.signature),
            item_ids=None if request.ids is None else [str(each) for each in request.ids],
            reset_attempts=request.reset_attempts,
            dry_run=dry_run,
        )
        return await self._client.jobs.reprocess(str(request.job_id), what)
