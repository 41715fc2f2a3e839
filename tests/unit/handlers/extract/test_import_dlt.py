"""`import dlt` takes the words over as they are, and names what only code could do."""

import json

import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import bound_source
from headgate.handlers.extract.importing import import_dlt, read_config

CONFIG = {
    "client": {
        "base_url": "https://api.shop.example/v1/",
        "auth": {"type": "bearer", "token": "very secret"},
        "paginator": {"type": "json_response", "next_url_path": "$.paging.next"},
    },
    "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
    "resources": [
        "customers",
        {
            "name": "orders",
            "endpoint": {
                "path": "orders",
                "data_selector": "$.data[*]",
                "params": {
                    "since": {
                        "type": "incremental",
                        "cursor_path": "updated_at",
                        "initial_value": "2024-01-01",
                    }
                },
            },
        },
        {
            "name": "lines",
            "endpoint": {
                "path": "orders/{order}/lines",
                "params": {"order": {"type": "resolve", "resource": "orders", "field": "id"}},
            },
        },
    ],
}


def test_a_configuration_becomes_a_source_that_a_pass_accepts():
    found = import_dlt(CONFIG, "shop")
    source = bound_source(found.tree, {}, {"SHOP_TOKEN": "t"})
    assert list(source.streams) == ["customers", "orders", "lines"]
    assert found.left_out == ()


def test_secrets_are_never_taken_over():
    found = import_dlt(CONFIG, "shop")
    assert found.tree["client"]["auth"] == {"type": "bearer", "token": {"env": "SHOP_TOKEN"}}
    assert "very secret" not in json.dumps(found.tree)
    assert any("SHOP_TOKEN" in note for note in found.notes)


def test_older_forms_are_written_as_todays():
    found = import_dlt(CONFIG, "shop")
    assert found.tree["client"]["paginator"] == {
        "type": "json_link",
        "next_url_path": "paging.next",
    }
    _, orders, lines = found.tree["resources"]
    assert orders["endpoint"]["data_selector"] == "data"
    assert orders["endpoint"]["incremental"] == {
        "cursor_path": "updated_at",
        "initial_value": "2024-01-01",
        "start_param": "since",
    }
    assert lines["endpoint"] == {"path": "orders/{resources.orders.id}/lines"}


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        ({"processing_steps": [{"filter": "x"}]}, "processing_steps"),
        ({"endpoint": {"paginator": "auto"}}, "detect URL"),
        ({"endpoint": {"incremental": {"cursor_path": "a", "convert": "f"}}}, "convert"),
        ({"endpoint": {"pathh": "/x"}}, "pathh"),
    ],
)
def test_a_resource_that_cannot_be_said_is_left_out_and_named(resource, reason):
    config = {**CONFIG, "resources": ["customers", {"name": "odd", **resource}]}
    found = import_dlt(config, "shop")
    ((stream, why),) = [(each.stream, each.reason) for each in found.left_out]
    assert (stream, reason in why) == ("odd", True), why
    assert found.tree["resources"] == ["customers"]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("config.json", "{", "not valid JSON"),
        ("config.json", "[]", "not a REST configuration"),
        ("config.py", "import os", "json.dumps"),
    ],
)
def test_another_file_than_a_configuration_is_refused_with_the_reason(
    tmp_path, name, text, complaint
):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UsageError, match=complaint):
        read_config(path)
