from datetime import date

from headgate.core.json_types import JsonType, add_types, drift_text, field_changes, type_names


def test_types_of_fields_add_up():
    fields: dict[str, int] = {}
    add_types(fields, {"a": 1, "b": None, "c": [1], "d": {"x": 1}, "e": True})
    add_types(fields, {"a": "x", "b": 1.5, "f": date(2026, 1, 1)})
    assert type_names(fields["a"]) == "integer, string"
    assert type_names(fields["b"]) == "null, number"
    assert [type_names(fields[name]) for name in "cdef"] == ["array", "object", "boolean", "string"]


def test_only_news_are_changes():
    stored = {"a": JsonType.INTEGER.value, "b": JsonType.STRING.value}
    changes = field_changes(stored, {"a": 20, "b": 16, "c": 1})
    assert [(each.name, each.types, each.is_new) for each in changes] == [
        ("a", 20, False),
        ("c", 1, True),
    ]


def test_many_changes_are_told_in_one_bounded_text():
    changes = field_changes({}, {f"f{n}": 1 for n in range(30)})
    assert drift_text("s", changes).endswith("; and 10 more")
