"""Ledgers of earlier versions are read: a renamed field keeps its stored name."""

import msgspec

from headgate.core.gates.state import Member
from headgate.core.pacing.state import PaceState


def stored_names(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def test_a_member_keeps_its_stored_names():
    assert stored_names(Member) == {
        *("seen", "need", "in_flight", "flying", "slots", "waiting", "joined", "had", "drawn"),
        *("broken", "down"),
    }


def test_a_pace_keeps_its_stored_names():
    assert "deaf_until" in stored_names(PaceState)
    assert not {"ignored_until", "mean_in_flight"} & stored_names(PaceState)
