"""What is logged, at which level, and what never is."""

import io
import json
from random import Random

import msgspec

from headgate.app import telemetry
from headgate.core.errors import UnknownJob
from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.outcome import Done
from headgate.core.retry import RetryPolicy, decide
from headgate.core.settlement import Settlement, settle

ITEM = ClaimedItem(
    7, 3, "sku-1", '{"card": "4111"}', None, 5, 0, 0, 0, 0, suspect=False, throttled_us=0
)


def logged(level: str, act) -> list[dict[str, object]]:
    stream = io.StringIO()
    telemetry.configure(level, "json", stream)
    act(telemetry.LogObserver(level))
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def settled(ended) -> Settlement:
    return settle(ITEM, decide(ITEM, ended, RetryPolicy(max_attempts_error=1), 0, Random(1)))


def test_an_attempt_carries_its_ids_and_never_its_payload():
    lines = logged("debug", lambda seen: seen.ended(ITEM, "price", settled(Done({"a": 1}))))
    assert lines[0]["event"] == "attempt ended"
    assert (lines[0]["job"], lines[0]["item"], lines[0]["attempt"]) == (3, 7, 1)
    assert "4111" not in json.dumps(lines)


def test_at_level_info_only_failed_attempts_are_logged():
    failed = settled(Fault(FaultClass.PERMANENT, "no such thing"))

    def both(seen: telemetry.LogObserver) -> None:
        seen.started(ITEM, "price")
        seen.ended(ITEM, "price", settled(Done()))
        seen.ended(ITEM, "price", failed)

    lines = logged("info", both)
    assert [line["event"] for line in lines] == ["attempt failed"]
    assert lines[0]["error_class"] == "permanent"
    assert lines[0]["reason"] == "no such thing"


def test_a_failed_attempt_says_where_the_handler_failed_without_secrets():
    fault = Fault(FaultClass.TRANSIENT, "KeyError: 'nick'")
    trace = '{"where": "lookup.py:12", "text": "  File \\"lookup.py\\"\\nKeyError: token=abc"}'
    failed = msgspec.structs.replace(settled(fault), trace=trace)
    (line,) = logged("info", lambda seen: seen.ended(ITEM, "price", failed))
    assert line["where"] == "lookup.py:12"
    assert line["exception"] == '  File "lookup.py"\nKeyError: token=***'
    stream = io.StringIO()
    telemetry.configure("info", "text", stream)
    telemetry.LogObserver("info").ended(ITEM, "price", failed)
    assert '\n  File "lookup.py"\nKeyError' in stream.getvalue()


def test_a_failed_verb_is_a_warning_and_a_good_one_only_detail():
    def both(seen: telemetry.LogObserver) -> None:
        seen.verb("claim", 0.01, 5, None)
        seen.verb("claim", 0.01, 0, OSError("gone"))
        seen.verb("move_job", 0.01, 0, UnknownJob("there is no job 3"))
        seen.changed("job state", job=3)

    assert [line["event"] for line in logged("warning", both)] == ["store verb failed"]
    assert [line["event"] for line in logged("error", both)] == []
    assert len(logged("debug", both)) == 4


def test_secrets_are_masked_in_log_facts():
    stream = io.StringIO()
    telemetry.configure("info", "json", stream)
    telemetry.logger().info("calling", api_key="abc", url="http://a:b@c/", n=3)
    line = json.loads(stream.getvalue())
    assert (line["api_key"], line["url"], line["n"]) == ("***", "http://a:***@c/", 3)


def test_text_is_for_people():
    stream = io.StringIO()
    telemetry.configure("info", "text", stream)
    telemetry.logger().info("worker registered", worker="w1")
    assert "worker registered" in stream.getvalue()
    assert "worker=w1" in stream.getvalue()
