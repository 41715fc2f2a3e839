"""Jobs, items, events and workers as JSON: the names of `headgate.schema`, with ids as numbers."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.schema.events import EventView
from headgate.schema.items import AttemptView, ItemView, ItemWhole
from headgate.schema.jobs import JobResponse, WaitView
from headgate.schema.system import WorkerView

NUMBERS = frozenset(
    {
        *("id", "job_id", "item_id", "mirror_id", "stream_id", "number"),
        *("pass_id", "first_pass", "seen_pass", "full_pass"),
    }
)


def plain(value: Any) -> Any:
    """A value of the schema as JSON objects, with its names in Python."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.asdict(value)
        return {
            name: _number(field) if name in NUMBERS and field else plain(field)
            for name, field in fields.items()
        }
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    return value


def _number(text: str) -> int | str:
    """An id as a number; the ids of sessions are texts."""
    return int(text) if str(text).isdigit() else text


def job_json(job: JobResponse) -> dict[str, Any]:
    """A job without the progress that only a server measures."""
    shape = plain(job)
    return {name: shape[name] for name in JobResponse.__struct_fields__}


def listed_json(job: JobResponse) -> dict[str, Any]:
    """A job of a list, without the config: lists do not read it."""
    shape = job_json(job)
    del shape["config"]
    return shape


def item_json(item: ItemView) -> dict[str, Any]:
    """An item of a list, without what it waits for: lists do not read it."""
    shape: dict[str, Any] = plain(item)
    del shape["waiting"]
    return shape


def whole_json(item: ItemWhole) -> dict[str, Any]:
    history = [attempt_json(attempt) for attempt in item.history]
    return {**plain(item), "waiting": wait_json(item.waiting), "history": history}


def attempt_json(attempt: AttemptView) -> dict[str, Any]:
    shape: dict[str, Any] = plain(attempt)
    for name in ("waited", "ran"):
        shape[f"{name}_us"] = round(shape.pop(f"{name}_ms") * 1_000)
    return shape


def event_json(event: EventView) -> dict[str, Any]:
    shape: dict[str, Any] = plain(event)
    return shape


def worker_json(worker: WorkerView) -> dict[str, Any]:
    shape = msgspec.structs.asdict(worker)
    shape["leases"] = shape.pop("running")
    return shape


def wait_json(wait: WaitView | None) -> dict[str, Any] | None:
    if wait is None:
        return None
    return {name: value or None for name, value in plain(wait).items()}


def json_text(value: Any) -> str | None:
    """An input or a result as JSON text; None if there is none."""
    return None if value is None else msgspec.json.encode(value).decode()
