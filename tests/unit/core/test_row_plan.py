"""What rows change in a mirror is decided without a database, and agrees with a naive model."""

from hypothesis import given
from hypothesis import strategies as st

from headgate.core.mirror import FollowUp, MirrorRow
from headgate.core.row_plan import StoredHead, StreamTally, change_of, plan_rows

HEADS = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(st.sampled_from("xy"), st.integers(1, 9), st.booleans()),
)
GIVEN = st.lists(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.booleans()), max_size=5),
    max_size=4,
)


@given(heads=HEADS, given_pages=GIVEN, pass_id=st.integers(1, 9), full_pass=st.integers(0, 9))
def test_the_plan_leads_to_what_rows_one_by_one_lead_to(heads, given_pages, pass_id, full_pass):
    stored = {id_: StoredHead(n, *head) for n, (id_, head) in enumerate(heads.items(), 1)}
    tally = StreamTally(5, pass_id, full_pass)
    pages = [
        ({"s": tally}, [MirrorRow("s", id_, {}, hash_, deleted=gone) for id_, hash_, gone in page])
        for page in given_pages
    ]
    flat = [row for _, rows in pages for row in rows]
    known = {place: stored[row.id] for place, row in enumerate(flat) if row.id in stored}
    plan = plan_rows(pages, known)

    after = {id_: (head.hash, head.seen_pass, head.deleted) for id_, head in stored.items()}
    for row in flat:
        if row.id not in after or after[row.id][1] <= pass_id:
            after[row.id] = (row.hash, pass_id, row.deleted)
    written = {id_: (head.hash, head.seen_pass, head.deleted) for id_, head in stored.items()}
    by_number = {head.number: id_ for id_, head in stored.items()}
    for each in [*plan.added, *plan.changed]:
        written[each.row.id] = (each.hash, each.pass_id, each.deleted)
    for seen_pass, numbers in plan.seen.items():
        for number in numbers:
            hash_, _, gone = written[by_number[number]]
            written[by_number[number]] = (hash_, seen_pass, gone)
    assert written == after
    counted = tally.added + tally.changed + tally.unchanged + tally.repeated
    assert counted == len(flat)
    assert tally.added == len(plan.added)


def test_what_follows_comes_with_new_and_changed_rows_only():
    known = {0: StoredHead(1, "x", 1, deleted=False), 1: StoredHead(2, "x", 1, deleted=False)}
    rows = [
        MirrorRow("s", "same", {}, "x", then=FollowUp("same", {})),
        MirrorRow("s", "changed", {}, "y", then=FollowUp("changed", {})),
        MirrorRow("s", "new", {}, "x", then=FollowUp("new", {})),
    ]
    plan = plan_rows([({"s": StreamTally(1, 2, 0)}, rows)], known)
    assert [(job, item.key) for job, item in plan.follow_ups] == [(2, "changed"), (2, "new")]


def test_a_row_that_was_absent_and_says_that_it_is_deleted_keeps_saying_so():
    head = StoredHead(1, "x", 1, deleted=False)
    assert change_of(head, MirrorRow("s", "a", {}, "x", deleted=True), full_pass=2) == "changed"
    assert change_of(head, MirrorRow("s", "a", {}, "x"), full_pass=2) == "restored"
