"""Which item a name on the command line means: its number, or its key in a job."""

from collections.abc import Sequence

from headgate.app.service import ItemVerbs
from headgate.core.errors import UnknownItem, UsageError
from headgate.ports.reads import ItemRow

SHOWN = 5


async def item_id_of(items: ItemVerbs, name: str, job_id: int | None = None) -> int:
    """The number of the item that is meant, or UnknownItem, or UsageError if it is not clear.

    A number alone is an item's number. With a job it is a key of that job, as is any other text.
    """
    number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else None
    if number is not None and job_id is None:
        return number
    found = await items.by_key(name, job_id)
    if len(found) == 1:
        return found[0].id
    if found:
        raise UsageError(_several(name, found))
    where = "" if job_id is None else f" in job {job_id}"
    raise UnknownItem(
        f"there is no item with the key {name!r}{where}; `headgate items ls JOB --search TEXT`"
        " looks for a part of it"
    )


def _several(name: str, found: Sequence[ItemRow]) -> str:
    jobs = ", ".join(str(row.job_id) for row in found[:SHOWN])
    more = ", …" if len(found) > SHOWN else ""
    return (
        f"the key {name!r} is in several jobs ({jobs}{more}): say which with --job, as in"
        f" --job {found[0].job_id}"
    )
