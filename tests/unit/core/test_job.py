"""The counters of a job add up."""

import msgspec

from headgate.core.errors import StoreFull, UnknownJob
from headgate.core.job import Counts


def test_every_status_is_counted_once():
    names = msgspec.structs.fields(Counts)
    counts = Counts(*(10**n for n in range(len(names))))
    assert counts.total == 11_111_111
    assert counts.open == counts.pending + counts.processing == 11
    assert counts.finished == counts.total - counts.open


def test_an_error_without_a_message_says_what_it_is():
    assert str(StoreFull()).startswith("The store has no space left")
    assert str(UnknownJob("there is no job 7")) == "there is no job 7"
