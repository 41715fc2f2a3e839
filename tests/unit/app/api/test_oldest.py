from headgate.app.api.oldest import oldest_at_providers
from headgate.app.api.wire import moment
from headgate.core.status import ItemStatus
from headgate.ports.reads import ItemRow

MINUTE = 60_000_000


def row(
    item_id: int, at: int, *, job_id: int = 1, handler: str = "shop", gate: str = ""
) -> ItemRow:
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
        handler=handler,
        gate=gate,
    )


def test_an_item_waits_for_its_own_gate_or_for_its_handlers_provider():
    rows = [
        row(1, 30),
        row(2, 20, job_id=2),
        row(3, 10, gate="host:shop.example"),
        row(4, 5, gate="credential:wikidata/key-1"),
        row(5, 6, job_id=2, gate="provider:wikidata"),
        row(6, 1, handler="nobody asked"),
    ]
    told = oldest_at_providers(rows, {"shop": "prices"})
    assert [(each.name, each.jobs, each.item_id) for each in told] == [
        ("wikidata", 2, "4"),
        ("shop.example", 1, "3"),
        ("prices", 2, "2"),
    ]
    assert told[0].oldest_at == moment(5 * MINUTE)
