"""`import airbyte` says in our words what a manifest says, and names every stream it leaves out."""

import tomllib
from pathlib import Path

import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import bound_source, parse_source
from headgate.handlers.extract.importing import import_airbyte, read_manifest, source_text

MANIFEST = """
version: 6.0.0
type: DeclarativeSource
definitions:
  requester:
    type: HttpRequester
    url_base: "https://{{ config['subdomain'] }}.shop.example/api"
    authenticator:
      type: BearerAuthenticator
      api_token: "{{ config['api_token'] }}"
    error_handler:
      type: CompositeErrorHandler
      error_handlers:
        - type: DefaultErrorHandler
          response_filters:
            - {type: HttpResponseFilter, action: IGNORE, http_codes: [404, 429]}
  selector:
    type: RecordSelector
    extractor: {type: DpathExtractor, field_path: [data]}
  pages:
    type: DefaultPaginator
    page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
    page_size_option: {type: RequestOption, inject_into: request_parameter, field_name: per_page}
    pagination_strategy: {type: PageIncrement, page_size: 50, start_from_page: 1}
  base:
    type: DeclarativeStream
    retriever:
      type: SimpleRetriever
      requester: {$ref: "#/definitions/requester"}
      record_selector: {$ref: "#/definitions/selector"}
      paginator: {$ref: "#/definitions/pages"}
  orders:
    $ref: "#/definitions/base"
    primary_key: id
    $parameters: {name: orders, path: "/{{ parameters.name }}"}
    incremental_sync:
      type: DatetimeBasedCursor
      cursor_field: updated_at
      datetime_format: "%Y-%m-%dT%H:%M:%SZ"
      start_datetime: "{{ config['start_date'] }}"
      lookback_window: PT5M
      start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}
streams:
  - $ref: "#/definitions/orders"
  - type: DeclarativeStream
    name: lines
    primary_key: [order_id, id]
    retriever:
      type: SimpleRetriever
      requester:
        $ref: "#/definitions/requester"
        path: "/orders/{{ stream_partition.order }}/lines"
        request_parameters: {expand: "{{ config.get('expand', 'all') }}", braces: "a{b}"}
      record_selector: {$ref: "#/definitions/selector"}
      partition_router:
        type: SubstreamPartitionRouter
        parent_stream_configs:
          - {parent_key: id, partition_field: order, stream: {$ref: "#/definitions/orders"}}
    transformations:
      - type: AddFields
        fields:
          - {type: AddedFieldDefinition, path: [order_id], value: "{{ stream_partition.order }}"}
  - type: DeclarativeStream
    name: events
    retriever:
      type: SimpleRetriever
      requester: {$ref: "#/definitions/requester", path: /events}
      record_selector: {$ref: "#/definitions/selector"}
      paginator:
        type: DefaultPaginator
        page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: after}
        pagination_strategy:
          type: CursorPagination
          cursor_value: "{{ response.get('paging', {}).get('next') }}"
          stop_condition: "{{ not response.has_more or last_page_size < 10 }}"
  - type: DeclarativeStream
    name: odd
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester: {$ref: "#/definitions/requester", path: /odd}
      record_selector:
        type: RecordSelector
        extractor: {type: CustomRecordExtractor, class_name: source_shop.Odd}
spec:
  type: Spec
  connection_specification:
    type: object
    required: [subdomain, api_token]
    properties:
      subdomain: {type: string}
      api_token: {type: string, airbyte_secret: true}
      start_date: {type: string}
api_budget:
  type: HTTPAPIBudget
  policies:
    - type: MovingWindowCallRatePolicy
      rates: [{limit: 90, interval: PT1M}]
      matchers: []
"""
ENVIRONMENT = {"SHOP_API_TOKEN": "t"}


@pytest.fixture
def imported(tmp_path: Path):
    return imported_from(tmp_path, MANIFEST)


def imported_from(folder: Path, text: str):
    path = folder / "manifest.yaml"
    path.write_text(text)
    return import_airbyte(read_manifest(path), "shop")


def streams_of(imported) -> dict:
    return {each["name"]: each for each in imported.tree["resources"]}


def test_the_written_source_is_read_as_the_same_words(imported):
    text = source_text(imported.tree, imported.notes)
    assert parse_source(tomllib.loads(text)) == parse_source(imported.tree)


def test_a_pass_accepts_the_source_once_its_settings_are_given(imported):
    source = bound_source(imported.tree, {"subdomain": "acme"}, ENVIRONMENT)
    assert source.client.base_url == "https://acme.shop.example/api"
    assert list(source.streams) == ["orders", "lines", "events"]


def test_secrets_become_environment_variables_and_settings_become_values(imported):
    client = imported.tree["client"]
    assert client["auth"] == {"type": "bearer", "token": {"env": "SHOP_API_TOKEN"}}
    assert (client["base_url"], client["rate"]) == (
        "https://{subdomain}.shop.example/api",
        "90/min",
    )
    assert imported.tree["values"] == {"expand": "all"}


def test_references_and_parameters_are_filled_in(imported):
    orders = streams_of(imported)["orders"]
    assert orders["endpoint"]["path"] == "/orders"
    assert orders["endpoint"]["paginator"] == {
        "type": "page_number",
        "base_page": 1,
        "page_param": "page",
        "limit": 50,
        "ends": "short",
    }
    assert orders["endpoint"]["params"] == {"per_page": 50}
    assert orders["endpoint"]["response_actions"] == [{"action": "ignore", "status_code": 404}]


def test_a_filter_by_time_becomes_incremental(imported):
    assert streams_of(imported)["orders"]["endpoint"]["incremental"] == {
        "cursor_path": "updated_at",
        "start_param": "since",
        "lag": "300s",
    }
    assert any("begins at" in note for note in imported.notes)


def test_children_are_listed_for_the_rows_of_their_parent(imported):
    lines = streams_of(imported)["lines"]
    assert lines["endpoint"]["path"] == "/orders/{resources.orders.id}/lines"
    assert lines["endpoint"]["params"] == {"expand": "{expand}", "braces": "a{{b}}"}
    assert lines["primary_key"] == ["_parent.id", "id"]
    assert lines["include_from_parent"] == ["id"]


def test_a_stop_condition_becomes_jmespath_that_holds_while_there_are_more_pages(imported):
    events = streams_of(imported)["events"]
    assert events["endpoint"]["paginator"] == {
        "type": "cursor",
        "cursor_path": "paging.next",
        "cursor_param": "after",
        "has_more_path": "(has_more) && (length(data) >= `10`)",
        "ends": "flag",
    }


def test_rows_without_a_key_are_identified_by_their_content(imported):
    assert streams_of(imported)["events"]["primary_key"] == "_content"


def test_a_stream_that_needs_code_is_left_out_and_named(imported):
    assert [(each.stream, each.reason) for each in imported.left_out] == [
        ("odd", "CustomRecordExtractor")
    ]


def test_children_of_a_stream_that_is_left_out_are_left_out_too(tmp_path):
    text = MANIFEST.replace(
        "cursor_field: updated_at", "cursor_field: updated_at\n      type: Custom"
    )
    found = imported_from(tmp_path, text.replace("      type: DatetimeBasedCursor\n", ""))
    reasons = {each.stream: each.reason for each in found.left_out}
    assert reasons["orders"] == "Custom"
    assert "'orders' is left out" in reasons["lines"]


@pytest.mark.parametrize(
    ("cursor", "words"),
    [
        ("{{ last_record['id'] }}", {"type": "cursor", "cursor_path": "data[-1].id"}),
        ("{{ last_records[-1].id }}", {"type": "cursor", "cursor_path": "data[-1].id"}),
        ("{{ response['a b'][0].c }}", {"type": "cursor", "cursor_path": '"a b"[0].c'}),
        ("{{ headers['X-Next'] }}", {"type": "header_cursor", "cursor_key": "X-Next"}),
        (
            "{{ response.next if response.next else none }}",
            {"type": "cursor", "cursor_path": "next"},
        ),
    ],
)
def test_a_cursor_is_found_where_the_manifest_says(tmp_path, cursor, words):
    old = "{{ response.get('paging', {}).get('next') }}"
    text = MANIFEST.replace(old, cursor)
    paginator = streams_of(imported_from(tmp_path, text))["events"]["endpoint"]["paginator"]
    assert paginator.items() >= words.items()


def test_a_cursor_that_an_unknown_expression_makes_leaves_its_stream_out(tmp_path):
    old = "{{ response.get('paging', {}).get('next') }}"
    found = imported_from(tmp_path, MANIFEST.replace(old, "{{ response.page + 1 }}"))
    reasons = {each.stream: each.reason for each in found.left_out}
    assert reasons["events"] == "the cursor `{{ response.page + 1 }}`"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "not valid YAML"),
        ("- 1", "not a manifest of Airbyte"),
        ('streams: [{$ref: "#/definitions/none"}]', "which it refers to"),
        (
            'definitions: {a: {$ref: "#/definitions/a"}}\nstreams: [{$ref: "#/definitions/a"}]',
            "circle",
        ),
    ],
)
def test_another_file_than_a_manifest_is_refused_with_the_reason(tmp_path, text, complaint):
    with pytest.raises(UsageError, match=complaint):
        imported_from(tmp_path, text)
