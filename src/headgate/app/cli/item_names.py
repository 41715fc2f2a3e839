"""Finds the item that a command line names by its number or by its key."""

from collections.abc import Sequence

from headgate.app.service import ItemVerbs
from headgate.core.errors import UnknownItem, UsageError
from headgate.schema.items import ItemView

SHOWN = 5


async def item_id_of(items: ItemVerbs, name: str, job_id: int | None = None) -> int:
    """The item's number; UnknownItem if there is none, UsageError if several jobs have the key.

    Without `job_id`, digits are an item's number. With it, `name` is a key of that job.
    """
    number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else None
    if number is not None and job_id is None:
        return number
    found = await items.by_key(name, job_id)
    if len(found) == 1:
        return int(found[0].id)
    if found:
        raise UsageError(_several(name, found))
    where = "" if job_id is None else f" in job {job_id}"
    raise UnknownItem(
        f"no item has the key {name!r}{where}; `headgate items ls JOB --search TEXT`"
        " finds items by a part of the key"
    )


def _several(name: str, found: Sequence[ItemView]) -> str:
    jobs = ", ".join(str(row.job_id) for row in found[:SHOWN])
    more = ", …" if len(found) > SHOWN else ""
    return (
        f"the key {name!r} is in several jobs ({jobs}{more}): say which with --job, as in"
        f" --job {found[0].job_id}"
    )
