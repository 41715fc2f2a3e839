"""The twelve kinds of content of a Looker instance, and invented rows for them."""

from collections.abc import Callable
from typing import Any, NamedTuple

Row = dict[str, Any]
CALLER = "1"
"""The id of the user who logs in."""
EXPLORES = 2
"""Explores in each model."""


def _time(number: int) -> str:
    return f"2025-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:00:00.000+00:00"


def _content(number: int, name: str) -> Row:
    """What dashboards and looks have alike."""
    return {
        "id": str(number),
        "title": f"{name} {number}",
        "created_at": "2024-01-01T00:00:00.000+00:00",
        "updated_at": _time(number),
        "deleted": False,
        "folder": {"id": str(1 + number % 5), "name": f"Folder {1 + number % 5}"},
        "user_id": str(1 + number % 3),
        "view_count": number * 7,
    }


def _dashboard(number: int) -> Row:
    element = {"id": str(number * 10), "title": f"Tile {number}", "type": "vis"}
    return {**_content(number, "Dashboard"), "dashboard_elements": [element]}


def _look(number: int) -> Row:
    return {**_content(number, "Look"), "query_id": str(number), "public": number % 2 == 0}


def _model(number: int) -> Row:
    names = [f"explore_{each}" for each in range(1, EXPLORES + 1)]
    return {
        "name": f"model_{number}",
        "label": f"Model {number}",
        "project_name": "shop",
        "has_content": True,
        "explores": [{"name": name, "label": name, "hidden": False} for name in names],
    }


def _explore(number: int) -> Row:
    model = f"model_{1 + (number - 1) // EXPLORES}"
    name = f"explore_{1 + (number - 1) % EXPLORES}"
    return {
        "id": f"{model}::{name}",
        "name": name,
        "model_name": model,
        "label": name,
        "fields": {"dimensions": [{"name": f"{name}.id", "type": "number"}], "measures": []},
    }


def _folder(number: int) -> Row:
    parent = str(number // 2) if number > 1 else None
    return {"id": str(number), "name": f"Folder {number}", "parent_id": parent, "child_count": 0}


def _user(number: int) -> Row:
    name = {"first_name": "User", "last_name": str(number), "display_name": f"User {number}"}
    roles = [str(1 + number % 3)]
    return {"id": str(number), **name, "email": f"{number}@example.org", "role_ids": roles}


def _group(number: int) -> Row:
    return {"id": str(number), "name": f"Group {number}", "user_count": number}


def _role(number: int) -> Row:
    sets = {"permission_set": _permission_set(1), "model_set": _model_set(1)}
    return {"id": str(number), "name": f"Role {number}", "internal": False, **sets}


def _board(number: int) -> Row:
    times = {"created_at": "2024-01-01T00:00:00.000+00:00", "updated_at": _time(number)}
    return {"id": str(number), "title": f"Board {number}", "section_order": [], **times}


def _permission_set(number: int) -> Row:
    permissions = ["access_data", "see_looks"]
    return {"id": str(number), "name": f"Permissions {number}", "permissions": permissions}


def _model_set(number: int) -> Row:
    return {"id": str(number), "name": f"Models {number}", "models": ["model_1"]}


def _plan(number: int) -> Row:
    return {
        "id": str(number),
        "name": f"Plan {number}",
        "user_id": CALLER if number % 2 else "2",
        "enabled": True,
        "crontab": "0 6 * * *",
        "created_at": "2024-01-01T00:00:00.000+00:00",
        "updated_at": _time(number),
    }


class Kind(NamedTuple):
    """How one kind of content is asked for."""

    make: Callable[[int], Row]
    sortable: tuple[str, ...] = ("id",)
    key: str = "id"
    searched: bool = True
    """Whether its listing ends in `/search`."""


KINDS = {
    "dashboards": Kind(_dashboard, ("id", "title", "created_at")),
    "looks": Kind(_look, ("id", "title", "created_at", "updated_at")),
    "lookml_models": Kind(_model, (), "name", searched=False),
    "explores": Kind(_explore, ()),
    "folders": Kind(_folder, ("id", "name")),
    "users": Kind(_user, ("id", "email")),
    "groups": Kind(_group, ("id", "name")),
    "roles": Kind(_role, ("id", "name")),
    "boards": Kind(_board, ("id", "title", "updated_at")),
    "permission_sets": Kind(_permission_set, ("id", "name")),
    "model_sets": Kind(_model_set, ("id", "name")),
    "scheduled_plans": Kind(_plan, ("id", "name", "updated_at")),
}
"""Of explores there is no listing: each is asked for by the names in its model."""
LISTED = tuple(name for name in KINDS if name != "explores")


def invented(counts: int) -> dict[str, dict[str, Row]]:
    """`counts` rows of each kind, by their keys."""
    content = {}
    for name, kind in KINDS.items():
        wanted = counts * EXPLORES if name == "explores" else counts
        rows = [kind.make(number) for number in range(1, wanted + 1)]
        content[name] = {row[kind.key]: row for row in rows}
    return content
