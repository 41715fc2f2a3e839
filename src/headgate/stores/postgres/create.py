"""Makes jobs within an owner's caps, and only once for each idempotency key."""

import msgspec

from headgate.core.job import Job, NewJob, Once, OwnerCaps
from headgate.ports.access import Usage
from headgate.stores.messages import job_is_gone, require_room, require_same_request
from headgate.stores.postgres.connection import PostgresSession
from headgate.stores.postgres.records import add_event, as_json, as_json_or_none, fitting, job_from


async def usage_of(session: PostgresSession, owner: str) -> Usage:
    return Usage(*await session.row("usage", owner=owner))


async def create(session: PostgresSession, new: NewJob) -> Job:
    """The job that was made now, or before under the same key."""
    if new.once is not None or new.newest is not None or new.caps != OwnerCaps():
        # Two requests at once are answered one after the other.
        await session.rows("lock_owner", **fitting(owner=new.owner))
    if new.once is not None and (made := await _made_before(session, new.owner, new.once)):
        return made
    if new.newest is not None and (made := await _made_meanwhile(session, new)):
        return made
    if new.caps != OwnerCaps():
        require_room(new.owner, new.caps, await usage_of(session, new.owner))
    job = await _insert(session, new)
    if new.once is not None:
        values = fitting(owner=new.owner, key=new.once.key, digest=new.once.digest)
        await session.change("insert_made_once", job_id=job.id, **values)
    await add_event(session, "job_state", f"created as {job.state}", job.id)
    return job


async def _made_before(session: PostgresSession, owner: str, once: Once) -> Job | None:
    found = await session.rows("made_once", **fitting(owner=owner, key=once.key))
    if not found:
        return None
    digest, job_id = found[0]
    require_same_request(once.key, once.digest, digest)
    record = await session.record("job", job_id=job_id)
    if record is None:
        raise job_is_gone(once.key)
    return msgspec.structs.replace(job_from(record), made_before=True)


async def _made_meanwhile(session: PostgresSession, new: NewJob) -> Job | None:
    values = fitting(owner=new.owner, handler=new.handler, source=new.source)
    record = await session.record("find_jobs", **values)
    if record is None or record["id"] == new.newest:
        return None
    return msgspec.structs.replace(job_from(record), made_before=True)


async def _insert(session: PostgresSession, new: NewJob) -> Job:
    values = msgspec.structs.asdict(new) | {
        "key_columns": as_json(new.key_columns),
        "config": as_json(new.config),
        "columns": as_json(new.columns),
        "reading": as_json_or_none(new.reading),
        "options": as_json_or_none(new.options),
    }
    del values["once"], values["caps"], values["newest"]
    return job_from((await session.records("insert_job", **fitting(**values)))[0])
