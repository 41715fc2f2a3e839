"""The options of a job are limited in size, for every way to create one."""

import pytest

from headgate.core.errors import UsageError
from headgate.core.job import LONGEST_FIELD, Binding, NewJob

LONG = "x" * LONGEST_FIELD


@pytest.mark.parametrize(
    "said",
    [
        {"config": {"a": LONG}},
        {"key_columns": (LONG,)},
        {"reading": {"columns": {"a": LONG}}},
    ],
    ids=["config", "key", "read"],
)
def test_a_job_with_a_long_option_is_refused(said):
    with pytest.raises(UsageError, match="at most 64 kB"):
        NewJob("h", "s", **said)


def test_a_job_cannot_be_bound_to_a_long_config():
    with pytest.raises(UsageError, match="at most 64 kB"):
        Binding("h", "s", {"a": LONG})


def test_64_kb_are_allowed():
    config = {"a": "x" * (LONGEST_FIELD - len('{"a":""}'))}
    assert NewJob("h", "s", config=config).config == config
