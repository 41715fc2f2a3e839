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
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.booleans(), st.booleans()),
        max_size=5,
    ),
    max_size=4,
)


def row_of(id_, hash_, deleted, mentioned):
    then = FollowUp(f"{id_}={hash_}", {})
    return MirrorRow("s", id_, None if mentioned else {}, hash_, deleted=deleted, then=then)


def one_by_one(heads, rows, pass_id):
    """Heads by id after these rows: hash, pass, deleted; and the rows that asked for a body."""
    after, asked = dict(heads), set()
    for row in rows:
        hash_, seen_pass, _ = after.get(row.id, ("", 0, False))
        if seen_pass > pass_id:
            continue
        if row.body is None and row.hash != hash_:
            asked.add(row.then.key)
        if row.body is not None:
            hash_ = row.hash
        if row.id in after or row.body is not None:
            after[row.id] = (hash_, pass_id, row.deleted)
    return after, asked


@given(heads=HEADS, given_pages=GIVEN, pass_id=st.integers(1, 9), full_pass=st.integers(0, 9))
def test_the_plan_leads_to_what_rows_one_by_one_lead_to(heads, given_pages, pass_id, full_pass):
    stored = {id_: StoredHead(n, *head) for n, (id_, head) in enumerate(heads.items(), 1)}
    tally = StreamTally(5, pass_id, full_pass)
    pages = [({"s": tally}, [row_of(*each) for each in page]) for page in given_pages]
    flat = [row for _, rows in pages for row in rows]
    known = {place: stored[row.id] for place, row in enumerate(flat) if row.id in stored}
    plan = plan_rows(pages, known)

    written = dict(heads)
    by_number = {head.number: id_ for id_, head in stored.items()}
    for each in [*plan.added, *plan.changed, *plan.flagged]:
        written[each.row.id] = (each.hash, each.stream.pass_id, each.deleted)
    for seen_pass, numbers in plan.seen.items():
        for number in numbers:
            hash_, _, gone = written[by_number[number]]
            written[by_number[number]] = (hash_, seen_pass, gone)
    after, asked = one_by_one(heads, flat, pass_id)
    assert written == after
    assert asked <= {item.key for _, item in plan.follow_ups}
    assert all(each.row.body is not None for each in [*plan.added, *plan.changed])
    assert all(each.hash == each.head.hash for each in plan.flagged)
    assert tally.added == len(plan.added)
    assert tally.changed == len(plan.changed) + len(plan.flagged)
    counted = tally.added + tally.changed + tally.unchanged + tally.repeated
    assert counted <= len(flat)
    assert counted == len(flat) or any(row.body is None for row in flat)


def test_what_follows_comes_with_new_and_changed_rows_only():
    known = {0: StoredHead(1, "x", 1, deleted=False), 1: StoredHead(2, "x", 1, deleted=False)}
    rows = [
        MirrorRow("s", "same", {}, "x", then=FollowUp("same", {})),
        MirrorRow("s", "changed", {}, "y", then=FollowUp("changed", {})),
        MirrorRow("s", "new", {}, "x", then=FollowUp("new", {})),
    ]
    plan = plan_rows([({"s": StreamTally(1, 2, 0)}, rows)], known)
    assert [(job, item.key) for job, item in plan.follow_ups] == [(2, "changed"), (2, "new")]


def test_a_mention_that_asks_counts_when_the_body_comes_even_in_the_same_batch():
    known = dict.fromkeys((0, 1), StoredHead(1, "x", 2, deleted=False))
    tally = StreamTally(1, 2, 0)
    rows = [MirrorRow("s", "a", None, "y", then=FollowUp("a", {})), MirrorRow("s", "a", {}, "y")]
    plan = plan_rows([({"s": tally}, rows)], known)
    assert [each.hash for each in plan.changed] == ["y"]
    assert (tally.added, tally.changed, tally.unchanged, tally.repeated) == (0, 1, 0, 0)


def test_a_row_that_was_absent_and_says_that_it_is_deleted_keeps_saying_so():
    head = StoredHead(1, "x", 1, deleted=False)
    assert change_of(head, "x", full_pass=2, deleted=True) == "changed"
    assert change_of(head, "x", full_pass=2, deleted=False) == "restored"
