"""Makes jobs within an owner's caps, and only once for each idempotency key."""

import msgspec

from headgate.core.job import Job, NewJob, Once, OwnerCaps
from headgate.ports.access import Usage
from headgate.stores.messages import job_is_gone, require_room, require_same_request
from headgate.stores.rows import as_json, as_json_or_none, job_from
from headgate.stores.transaction import Transaction


async def usage_of(tx: Transaction, owner: str) -> Usage:
    [row] = await tx.rows("usage", owner=owner)
    return Usage(*row)


async def create(tx: Transaction, new: NewJob) -> Job:
    """The job that was made now, or before under the same key."""
    if new.once is not None or new.newest is not None or new.caps != OwnerCaps():
        # Two requests at once are answered one after the other.
        await tx.lock("owner", owner=new.owner)
    if new.once is not None and (made := await _made_before(tx, new.owner, new.once)):
        return made
    if new.newest is not None and (made := await _made_meanwhile(tx, new)):
        return made
    if new.caps != OwnerCaps():
        require_room(new.owner, new.caps, await usage_of(tx, new.owner))
    job = await _insert(tx, new)
    if new.once is not None:
        values = {"owner": new.owner, "key": new.once.key, "digest": new.once.digest}
        await tx.change("insert_made_once", job_id=job.id, **values)
    await tx.add_event("job_state", f"created as {job.state}", job.id)
    return job


async def _made_before(tx: Transaction, owner: str, once: Once) -> Job | None:
    found = await tx.rows("made_once", owner=owner, key=once.key)
    if not found:
        return None
    digest, job_id = found[0]
    require_same_request(once.key, once.digest, digest)
    row = await tx.record("job", job_id=job_id)
    if row is None:
        raise job_is_gone(once.key)
    return msgspec.structs.replace(job_from(row), made_before=True)


async def _made_meanwhile(tx: Transaction, new: NewJob) -> Job | None:
    row = await tx.record("find_jobs", owner=new.owner, handler=new.handler, source=new.source)
    if row is None or row["id"] == new.newest:
        return None
    return msgspec.structs.replace(job_from(row), made_before=True)


async def _insert(tx: Transaction, new: NewJob) -> Job:
    values = msgspec.structs.asdict(new) | {
        "key_columns": as_json(new.key_columns),
        "config": as_json(new.config),
        "columns": as_json(new.columns),
        "reading": as_json_or_none(new.reading),
        "options": as_json_or_none(new.options),
    }
    del values["once"], values["caps"], values["newest"]
    [row] = await tx.records("insert_job", **values)
    return job_from(row)
