from headgate.app.api.pending import oldest_at_providers
from headgate.core.status import ItemStatus
from headgate.core.time_text import moment
from headgate.ports.reads import ItemRow

MINUTE = 60_000_000


def row(item_id: int, at: int, *, job_id: int = 1, gate: str = "") -> ItemRow:
    return ItemRow(
        id=item_id,
        job_id=job_id,
        key=str(item_id),
        line=item_id,
        status=ItemStatus.PENDING,
        summary="",
        attempts=0,
        crashes=0,
        error_class=None,
        last_error=None,
        due_at=0,
        locked_by=None,
        updated_at=at * MINUTE,
        gate=gate,
    )


def test_an_item_waits_for_its_own_gate_or_for_that_of_its_job():
    rows = [
        row(1, 30),
        row(2, 20, job_id=2),
        row(3, 10, gate="shop.example:80"),
        row(4, 5, gate="wikidata"),
        row(5, 6, job_id=2, gate="wikidata"),
        row(6, 1, job_id=3),
    ]
    told = oldest_at_providers(rows, {1: "prices", 2: "prices", 3: ""})
    assert [(each.name, each.jobs, each.item_id) for each in told] == [
        ("wikidata", 2, "4"),
        ("shop.example:80", 1, "3"),
        ("prices", 2, "2"),
    ]
    assert told[0].oldest_at == moment(5 * MINUTE)
