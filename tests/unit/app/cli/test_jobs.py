"""`headgate jobs`, `items`, `dlq` and `workers` on a store with known content."""

import pytest

from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.status import JobState
from headgate.ports.items import EnqueueRequest


def test_an_empty_store_is_reported_as_empty(headgate):
    headgate.store(_nothing)
    result = headgate("jobs", "ls")
    assert (result.code, result.out) == (0, "")
    assert "no jobs yet" in result.err


def test_a_missing_store_is_not_created(headgate):
    result = headgate("jobs", "ls")
    assert result.code == 5
    assert "no store exists at headgate.db yet" in result.err
    assert not (headgate.folder / "headgate.db").exists()


def test_ls_lists_newest_first(headgate):
    first, second = headgate.job(), headgate.finished_job()
    answer = headgate("jobs", "ls", "--json").json
    assert [job["id"] for job in answer["jobs"]] == [second, first]
    assert answer["next"] is None
    counts = answer["jobs"][0]["counts"]
    assert (counts["total"], counts["done"], counts["error"]) == (5, 2, 2)
    lines = headgate("jobs", "ls").out.splitlines()
    assert lines[0].split()[:3] == ["JOB", "STATE", "TOTAL"]
    assert lines[1].split()[:3] == [str(second), "DONE", "5"]


def test_ls_pages(headgate):
    jobs = [headgate.job(0) for _ in range(3)]
    page = headgate("jobs", "ls", "--limit", 2, "--json").json
    assert page["next"] == jobs[1]
    rest = headgate("jobs", "ls", "--limit", 2, "--after", page["next"], "--json").json
    assert [job["id"] for job in rest["jobs"]] == [jobs[0]]
    assert f"--after {jobs[1]}" in headgate("jobs", "ls", "--limit", 2).err


def test_show_has_the_progress_the_failures_and_the_advice(headgate):
    job_id = headgate.finished_job()
    answer = headgate("jobs", "show", job_id, "--json").json
    assert answer["state"] == "DONE"
    assert {failure["error_class"] for failure in answer["failures"]} == {"permanent", "timeout"}
    assert answer["events"][-1]["kind"] == "job_state"
    assert answer["created_at"].endswith("Z")
    assert f"headgate jobs reprocess {job_id} --status ERROR" in answer["next"]
    text = headgate("jobs", "show", job_id).out
    for words in ("Job 1: DONE", "price", "products.csv", "HTTP 400", "What would help"):
        assert words in text


def test_show_hides_what_looks_secret(headgate):
    job_id = headgate.job(config={"api_key": "abc123", "region": "eu"})
    for result in (headgate("jobs", "show", job_id), headgate("jobs", "show", job_id, "--json")):
        assert "abc123" not in result.out
        assert "eu" in result.out


@pytest.mark.parametrize("verb", ["show", "pause", "resume", "cancel", "reprocess", "rm"])
def test_an_unknown_job_is_wrong_usage(headgate, verb: str):
    headgate.store(_nothing)
    result = headgate("jobs", verb, 99)
    assert result.code == 2
    assert result.err == "error: job 99 does not exist\n"


def test_pause_and_resume(headgate):
    job_id = headgate.job()
    assert "is PAUSED" in headgate("jobs", "pause", job_id).err
    assert headgate("jobs", "show", job_id, "--json").json["next"][0] == (
        f"headgate jobs resume {job_id}"
    )
    assert "is QUEUED" in headgate("jobs", "resume", job_id).err
    result = headgate("jobs", "resume", job_id)
    assert result.code == 2
    assert "cannot resume" in result.err


def test_cancel_asks_and_can_be_tried(headgate):
    job_id = headgate.job()
    assert (
        "would cancel job 1 (QUEUED) and its 5 open"
        in headgate("jobs", "cancel", job_id, "--dry-run").err
    )
    unasked = headgate("jobs", "cancel", job_id)
    assert unasked.code == 2
    assert "add --yes" in unasked.err
    assert headgate("jobs", "cancel", job_id, "--yes").code == 0
    counts = headgate("jobs", "show", job_id, "--json").json["counts"]
    assert (counts["cancelled"], counts["pending"]) == (5, 0)


def test_reprocess_prints_the_count(headgate):
    job_id = headgate.finished_job()
    assert (
        headgate("jobs", "reprocess", job_id, "--dry-run").out
        == "would set 3 items back to PENDING\n"
    )
    by_class = headgate("jobs", "reprocess", job_id, "--error-class", "timeout", "--json").json
    assert by_class == {"job_id": job_id, "requeued": 1, "found": 1}
    assert headgate("jobs", "reprocess", job_id, "--status", "not_found").out == (
        "set 1 item back to PENDING\n"
    )
    done = headgate("jobs", "reprocess", job_id, "--ids", "1,2", "--status", "DONE")
    assert done.out == "set 2 items back to PENDING\n"
    assert headgate("jobs", "show", job_id, "--json").json["state"] == JobState.QUEUED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--status", "PENDING"], "--status 'PENDING': use DONE, NOT_FOUND"),
        (["--status", "odd"], "--status 'ODD': use"),
        (["--ids", "1,x"], "--ids '1,x': write item numbers"),
    ],
)
def test_reprocess_refuses_nonsense(headgate, words: list[str], message: str):
    result = headgate("jobs", "reprocess", headgate.job(), *words)
    assert result.code == 2
    assert message in result.err


def test_rm_cancels_the_job_first_and_deletes_everything(headgate):
    job_id = headgate.job()
    assert (
        "would delete job 1 (QUEUED) and its 5 items"
        in headgate("jobs", "rm", job_id, "--dry-run").err
    )
    assert headgate("jobs", "rm", job_id, "-y").code == 0
    assert headgate("jobs", "show", job_id).code == 2
    assert headgate("db", "check", "--json").json == {"clean": True, "findings": []}


def test_export_writes_the_finished_rows(headgate):
    job_id = headgate.finished_job()
    assert "wrote out.csv (5 rows)" in headgate("jobs", "export", job_id, "out.csv").err
    lines = (headgate.folder / "out.csv").read_text().splitlines()
    assert lines[0].startswith("sku,")
    assert len(lines) == 6
    running = headgate.job()
    said = headgate("jobs", "export", running, "so-far.jsonl")
    assert "5 are not finished yet" in said.err
    answer = headgate("jobs", "export", running, "so-far.jsonl", "--json").json
    assert (answer["rows"], answer["cutoff"]["open_items"]) == (5, 5)


def test_priority(headgate):
    job_id = headgate.job()
    assert headgate("jobs", "priority", job_id, 3).code == 0
    assert headgate("jobs", "show", job_id, "--json").json["priority"] == 3


def test_items_page_in_input_order(headgate):
    job_id = headgate.finished_job()
    first = headgate("items", "ls", job_id, "--limit", 3, "--json").json
    assert [item["key"] for item in first["items"]] == ["k1", "k2", "k3"]
    rest = headgate("items", "ls", job_id, "--limit", 3, "--after", first["next"], "--json").json
    assert [item["key"] for item in rest["items"]] == ["k4", "k5"]
    assert rest["next"] is None
    shown = headgate("items", "ls", job_id, "--limit", 3)
    assert first["next"] in shown.err


def test_items_by_status_and_class(headgate):
    job_id = headgate.finished_job()
    both = headgate("items", "ls", job_id, "--status", "ERROR,NOT_FOUND", "--json").json
    assert [item["status"] for item in both["items"]] == ["NOT_FOUND", "ERROR", "ERROR"]
    one = headgate("items", "ls", job_id, "--error-class", "timeout", "--json").json
    assert [item["last_error"] for item in one["items"]] == ["took too long"]


def test_a_cursor_of_another_query_is_refused(headgate):
    job_id = headgate.finished_job()
    cursor = headgate("items", "ls", job_id, "--limit", 2, "--json").json["next"]
    result = headgate("items", "ls", job_id, "--status", "DONE", "--after", cursor)
    assert result.code == 2
    assert "another query" in result.err


def test_item_with_its_attempts(headgate):
    job_id = headgate.finished_job()
    dead = headgate("items", "ls", job_id, "--status", "ERROR", "--json").json["items"][0]
    answer = headgate("items", "show", dead["id"], "--json").json
    assert answer["input"] == {"sku": "S-4"}
    assert answer["history"][0]["outcome"] == "error"
    assert answer["history"][0]["reason"] == "HTTP 400"
    text = headgate("items", "show", dead["id"]).out
    assert "attempt 1: failed (permanent)" in text
    assert "HTTP 400" in text
    assert f"headgate dlq replay {dead['id']}" in text


def test_an_unknown_item(headgate):
    headgate.store(_nothing)
    assert headgate("items", "show", 5).err == "error: item 5 does not exist\n"


def test_dead_letters_across_jobs(headgate):
    first, second = headgate.finished_job(), headgate.finished_job()
    dead = headgate("dlq", "ls", "--json").json["items"]
    assert [item["job_id"] for item in dead] == [first, first, second, second]
    of_one = headgate("dlq", "ls", "--job", second, "--error-class", "timeout", "--json").json
    assert len(of_one["items"]) == 1
    assert headgate("dlq", "show", dead[0]["id"]).code == 0
    assert "not ERROR" in headgate("dlq", "show", 1).err


def test_replay_says_which_items_and_their_number(headgate):
    first, second = headgate.finished_job(), headgate.finished_job()
    assert headgate("dlq", "replay").code == 2
    dead = [item["id"] for item in headgate("dlq", "ls", "--json").json["items"]]
    assert headgate("dlq", "replay", dead[0], dead[2]).out == "set 2 items back to PENDING\n"
    assert headgate("dlq", "replay", "--job", first).out == "set 1 item back to PENDING\n"
    assert (
        headgate("dlq", "replay", "--all", "--dry-run").out == "would set 1 item back to PENDING\n"
    )
    assert "add --yes" in headgate("dlq", "replay", "--all").err
    answer = headgate("dlq", "replay", "--all", "--yes", "--json").json
    assert answer == {"found": 1, "requeued": 1}
    assert headgate("dlq", "ls").err == "no dead letters\n"
    assert headgate("jobs", "show", second, "--json").json["counts"]["error"] == 0


def test_workers(headgate):
    headgate.finished_job()
    assert "No worker is running" in headgate("workers", "ls").err
    everybody = headgate("workers", "ls", "--all", "--json").json["workers"]
    assert [worker["id"] for worker in everybody] == ["w1"]
    assert "w1" in headgate("workers", "ls", "--all").out


def test_rows_cannot_drive_the_terminal(headgate):
    async def act(store):
        job = await store.jobs.create_job(NewJob("price", "x.csv"))
        evil = NewItem("\x1b[31mred\x1b]0;title\x07", '{"a": "[bold]b"}', summary="[red]x[/red]")
        await store.items.enqueue_many(EnqueueRequest(job.id, [evil]))
        return job.id

    job_id = headgate.store(act)
    for result in (headgate("items", "ls", job_id), headgate("items", "show", 1)):
        assert "\x1b" not in result.out
        assert "\\x1b[31mred" in result.out
    assert "[red]x[/red]" in headgate("items", "ls", job_id).out


def test_global_options_are_taken_anywhere(headgate):
    headgate.job(name="elsewhere")
    (headgate.folder / "headgate.db").rename(headgate.folder / "other.db")
    for words in (
        ["--db", "other.db", "jobs", "ls", "--json"],
        ["jobs", "--db", "other.db", "ls", "--json"],
        ["jobs", "ls", "--json", "--db", "sqlite:///other.db"],
        ["--db", "wrong.db", "jobs", "ls", "--json", "--db", "other.db"],
    ):
        assert headgate(*words).json["jobs"][0]["name"] == "elsewhere"


def test_quiet_leaves_only_data(headgate):
    headgate.store(_nothing)
    result = headgate("jobs", "ls", "-q")
    assert (result.out, result.err) == ("", "")


async def _nothing(store) -> None:
    """Opening it has made it."""
