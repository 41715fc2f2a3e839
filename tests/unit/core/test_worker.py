"""A crash is described in one sentence that names the rows and what happens to them."""

from headgate.core.worker import crash_text

CAUSE = "killed by SIGSEGV"


def test_rows_that_ran_together_run_alone_next():
    assert crash_text(CAUSE, ["a", "b"], []) == (
        "a worker process crashed (killed by SIGSEGV) while it ran rows a, b; rows a, b run alone"
        " next"
    )


def test_a_row_that_is_at_fault_has_ended():
    assert crash_text(CAUSE, [], ["b"]) == (
        "a worker process crashed (killed by SIGSEGV) while it ran row b;"
        " row b ended as ERROR of class poison"
    )


def test_no_more_rows_are_named_than_can_be_read():
    told = crash_text(CAUSE, [str(n) for n in range(1_200)], [])
    assert "rows 0, 1, 2, 3, 4 and 1,195 more" in told
