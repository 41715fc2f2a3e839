"""`detect` finds the paging that a reply shows, and says when it shows none."""

import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import parse_source
from headgate.handlers.extract.detecting import ListingReply, guess_source

ROWS = [{"id": 1, "name": "a", "updated_at": "2026-01-01"}, {"id": 2, "name": "a"}]
URL = "https://api.shop.example/v1/orders"


def guessed(value, query="", headers=None):
    guess = guess_source(ListingReply(URL + query, headers or {}, value), "shop")
    parse_source(guess.tree)  # it can be read as a source
    return guess


def endpoint_of(value, query="", headers=None):
    return guessed(value, query, headers).tree["resources"][0]["endpoint"]


@pytest.mark.parametrize(
    ("value", "query", "headers", "words"),
    [
        (ROWS, "", {"link": '<https://x/?page=2>; rel="next"'}, {"type": "header_link"}),
        (
            {"data": ROWS, "links": {"next": "/v1/orders?c=x"}},
            "",
            {},
            {"type": "json_link", "next_url_path": "links.next"},
        ),
        (
            {"value": ROWS, "@odata.nextLink": "Books?$skiptoken=2"},
            "",
            {},
            {"type": "json_link", "next_url_path": '"@odata.nextLink"'},
        ),
        (
            {"items": ROWS, "nextPageToken": "abc"},
            "",
            {},
            {"type": "cursor", "cursor_path": "nextPageToken", "cursor_param": "pageToken"},
        ),
        (
            {"data": ROWS, "has_more": True},
            "",
            {},
            {"type": "cursor", "cursor_path": "data[-1].id", "has_more_path": "has_more"},
        ),
        (
            ROWS,
            "?limit=2&offset=0",
            {"x-total-count": "9"},
            {"type": "offset", "limit": 2, "total_header": "x-total-count"},
        ),
        (
            {"results": ROWS, "page": 1, "total": 9},
            "?per_page=2",
            {},
            {"type": "page_number", "base_page": 1, "limit": 2, "total_path": "total"},
        ),
        (ROWS, "", {}, {"type": "single_page"}),
    ],
)
def test_the_paging_is_the_one_that_the_reply_shows(value, query, headers, words):
    assert endpoint_of(value, query, headers)["paginator"].items() >= words.items()


def test_the_rows_are_the_longest_list_of_objects():
    value = {"errors": [{"code": 1}], "data": {"orders": ROWS, "tags": ["a", "b", "c"]}}
    assert endpoint_of(value)["data_selector"] == "data.orders"


def test_the_primary_key_differs_in_all_rows():
    assert guessed(ROWS).tree["resources"][0]["primary_key"] == "id"
    same = [{"id": 1, "code": "x"}, {"id": 1, "code": "y"}]
    assert guessed(same).tree["resources"][0]["primary_key"] == "code"
    assert guessed([{"a": 1}, {"a": 1}]).tree["resources"][0]["primary_key"] == "_content"


def test_parameters_that_do_not_page_are_kept():
    found = endpoint_of(ROWS, "?limit=2&offset=0&state=open")
    assert found["params"] == {"state": "open"}
    assert found["path"] == "/orders"


def test_a_missing_next_page_is_told_rather_than_assumed():
    assert any("nothing names a next page" in reason for reason in guessed(ROWS).reasons)


@pytest.mark.parametrize("value", [{"error": "no"}, ["a"], 1, {"data": []}])
def test_a_reply_without_rows_is_refused(value):
    with pytest.raises(UsageError, match="not the URL of a listing"):
        guess_source(ListingReply(URL, {}, value), "shop")
