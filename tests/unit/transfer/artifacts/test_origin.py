"""Bytes are added only to bytes of the same version."""

import pytest

from headgate.ports.artifacts import Origin

URL = "http://a/b"
DATE = "Mon, 16 Nov 2026 09:00:00 GMT"


@pytest.mark.parametrize(
    ("origin", "validator"),
    [
        (Origin(URL), ""),
        (Origin(URL, '"1"'), '"1"'),
        (Origin(URL, '"1"', DATE), '"1"'),
        (Origin(URL, "", DATE), DATE),
        (Origin(URL, 'W/"1"'), ""),
        (Origin(URL, 'W/"1"', DATE), DATE),
    ],
)
def test_only_a_firm_validator_counts(origin, validator):
    assert origin.validator == validator


@pytest.mark.parametrize(
    ("earlier", "now", "continues"),
    [
        (Origin(URL, '"1"'), Origin(URL, '"1"', DATE), True),
        (Origin(URL, '"1"'), Origin(URL, '"2"'), False),
        (Origin(URL, "", DATE), Origin(URL, "", DATE), True),
        (Origin(URL, "", DATE), Origin(URL, '"1"', DATE), False),
        (Origin(URL), Origin(URL), False),
        (Origin(URL, '"1"'), Origin("http://a/c", '"1"'), False),
    ],
)
def test_what_continues_has_the_same_place_and_version(earlier, now, continues):
    assert now.continues(earlier) is continues
