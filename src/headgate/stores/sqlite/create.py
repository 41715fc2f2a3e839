"""Makes jobs within an owner's caps, and only once for each idempotency key."""

from msgspec.structs import replace

from headgate.core.job import Job, NewJob, Once
from headgate.ports.access import Usage
from headgate.stores.messages import job_is_gone, require_room, require_same_request
from headgate.stores.sqlite.connection import Transaction
from headgate.stores.sqlite.records import add_event, as_json, as_json_or_none, job_from


def create(tx: Transaction, new: NewJob) -> Job:
    """The job that was made now, or before under the same key."""
    if new.once is not None and (made := _made_before(tx, new.owner, new.once)):
        return made
    if new.newest is not None and (made := _made_meanwhile(tx, new)):
        return made
    require_room(new.owner, new.caps, usage_of(tx, new.owner))
    job = _insert(tx, new)
    if new.once is not None:
        tx.change(
            "insert_made_once",
            owner=new.owner,
            key=new.once.key,
            digest=new.once.digest,
            job_id=job.id,
        )
    add_event(tx, "job_state", f"created as {job.state}", job.id)
    return job


def usage_of(tx: Transaction, owner: str) -> Usage:
    return Usage(*tx.rows("usage", owner=owner)[0])


def _made_before(tx: Transaction, owner: str, once: Once) -> Job | None:
    found = tx.row("made_once", owner=owner, key=once.key)
    if found is None:
        return None
    digest, job_id = found
    require_same_request(once.key, once.digest, digest)
    row = tx.record("job", job_id=job_id)
    if row is None:
        raise job_is_gone(once.key)
    return replace(job_from(row), made_before=True)


def _made_meanwhile(tx: Transaction, new: NewJob) -> Job | None:
    row = tx.record("find_jobs", owner=new.owner, handler=new.handler, source=new.source)
    if row is None or row["id"] == new.newest:
        return None
    return replace(job_from(row), made_before=True)


def _insert(tx: Transaction, new: NewJob) -> Job:
    rows = tx.records(
        "insert_job",
        owner=new.owner,
        name=new.name,
        handler=new.handler,
        source=new.source,
        key_columns=as_json(new.key_columns),
        config=as_json(new.config),
        priority=new.priority,
        open=new.open,
        eager=new.eager,
        fingerprint=new.fingerprint,
        columns=as_json(new.columns),
        reading=as_json_or_none(new.reading),
        file=new.file,
        client=new.client,
        options=as_json_or_none(new.options),
    )
    return job_from(rows[0])
