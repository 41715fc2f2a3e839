"""Items by key, in lists, and with where their handler failed."""

import msgspec
import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.core.retry import RetryPolicy, decide
from headgate.core.settlement import settle
from headgate.core.trace import Trace
from headgate.core.worker import WorkerInfo
from headgate.ports.items import ClaimRequest, SettleRequest

TRACE = Trace(
    "lookup.py:12", '  File "lookup.py", line 12, in price\n    row["nick"]\nKeyError: \'nick\''
)


class Dice:
    def uniform(self, a, b):
        return b


def failing(headgate, rows=3, tries=2):
    """A job whose first row has failed alike in each try, and waits for another."""
    job_id = headgate.job(rows)

    async def act(store):
        await store.jobs.register(WorkerInfo("w", "s1", "here", "boot", 1, 1, "0", 60.0))
        policy = RetryPolicy(backoff_base_s=0.0, max_attempts_error=9)
        for _ in range(tries):
            (item,) = await store.items.claim(ClaimRequest("w", job_id, 1, 60.0))
            fault = Fault(FaultClass.TRANSIENT, "KeyError: 'nick'")
            settlement = settle(item, decide(item, fault, policy, 0, Dice()))
            trace = msgspec.json.encode(TRACE).decode()
            settlement = msgspec.structs.replace(settlement, trace=trace)
            await store.items.settle_many(SettleRequest("w", [settlement]))

    headgate.store(act)
    return job_id


def test_an_attempt_shows_where_its_handler_failed(headgate):
    failing(headgate)
    text = headgate("items", "show", 1).out
    assert text.count("KeyError: 'nick' (lookup.py:12)") == 2
    assert text.count('        File "lookup.py", line 12, in price') == 1, "it is the same"
    assert "attempt 1: failed (transient), will be retried" in text
    assert "lease" not in text
    assert "lease 2, worker w" in headgate("items", "show", 1, "--verbose").out
    history = headgate("items", "show", 1, "--json").json["history"]
    assert [each["failed_at"] for each in history] == ["lookup.py:12"] * 2
    assert history[0]["traceback"] == TRACE.text
    assert "trace" not in history[0]


def test_an_item_is_named_by_its_key(headgate):
    first = headgate.job(2)
    assert headgate("items", "why", "k2", "--json").json["item_id"] == 2
    assert headgate("items", "show", "k2").out.startswith(f"Item 2 of job {first}")
    second = headgate.job(2)
    twice = headgate("items", "show", "k2")
    assert twice.code == 2
    assert f"in several jobs ({second}, {first}): say which with --job" in twice.err
    assert headgate("items", "show", "k2", "--job", first, "--json").json["job_id"] == first
    assert headgate("dlq", "show", "k1", "--job", second).err.startswith("error: item 3 is PENDING")
    unknown = headgate("items", "why", "nobody", "--job", first)
    assert unknown.code == 2
    assert f"no item has the key 'nobody' in job {first}" in unknown.err


def test_a_number_is_an_items_number_and_with_a_job_a_key(headgate):
    headgate.job(2)
    assert headgate("items", "show", 2, "--json").json["key"] == "k2"
    assert headgate("items", "show", 2, "--job", 1).code == 2
    assert headgate("items", "show", 99).err == "error: item 99 does not exist\n"


def test_dead_letters_are_replayed_by_key(headgate):
    job_id = headgate.finished_job()
    assert headgate("dlq", "replay", "k4", "--job", job_id).out == "set 1 item back to PENDING\n"
    assert headgate("dlq", "replay", "k5", "--all").code == 2


def test_a_list_has_separate_columns_for_values_and_reasons(headgate):
    job_id = headgate.finished_job()
    lines = headgate("items", "ls", job_id).out.splitlines()
    assert lines[0].split() == ["ITEM", "JOB", "STATUS", "TRIES", "CHANGED", "KEY", "VALUES", "WHY"]
    assert lines[1].endswith("S-1")
    assert lines[3].endswith("S-3     no such sku")
    assert lines[4].endswith("S-4     permanent: HTTP 400")


def test_a_list_is_searched(headgate):
    job_id = headgate.finished_job()

    def keys(*words):
        page = headgate("items", "ls", job_id, *words, "--json").json
        return [item["key"] for item in page["items"]]

    assert keys("--search", "s-3") == ["k3"]
    assert keys("--search", "K") == ["k1", "k2", "k3", "k4", "k5"]
    assert keys("--search", "nothing") == []
    assert keys("--key", "k4") == ["k4"]
    assert keys("--key", "k4", "--status", "DONE") == []
    assert keys("--key", "K4") == []


@pytest.mark.parametrize(
    "words",
    [
        ("items", "ls", "1"),
        ("dlq", "ls"),
        ("dlq", "replay", "--all"),
        ("jobs", "reprocess", "1"),
        ("queue", "retry-failed"),
    ],
)
def test_an_unknown_class_of_failures_is_refused(headgate, words):
    headgate.finished_job()
    said = headgate(*words, "--error-class", "forever")
    assert said.code == 2
    assert (
        "--error-class 'forever': use transient, throttled, deferred, permanent, timeout"
        in said.err
    )


def test_people_see_local_times_and_programs_utc(headgate, monkeypatch):
    job_id = headgate.finished_job()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    __import__("time").tzset()
    try:
        made = headgate("jobs", "show", job_id, "--json").json["created_at"]
        text = headgate("jobs", "show", job_id).out
    finally:
        monkeypatch.undo()
        __import__("time").tzset()
    hour = (int(made[11:13]) + 9) % 24
    assert made.endswith("Z")
    assert f" {hour:02}{made[13:19]}" in text
    assert made[:19] not in text
