"""Server-sent events, line by line."""

from hypothesis import given
from hypothesis import strategies as st

from headgate.client.events import Counters, EventView, Message, SseParser, decoded
from headgate.core.status import JobState


def parsed(text: str) -> list[Message]:
    parser = SseParser()
    return [message for line in text.split("\n")[:-1] for message in parser.line(line)]


def test_a_message_ends_with_an_empty_line():
    assert parsed("event: gate\nid: 7\ndata: {}\n\n") == [Message("gate", "7", "{}")]
    assert parsed("event: gate\ndata: {}\n") == []


def test_comments_and_unknown_fields_are_ignored():
    assert parsed(": ping\n\nretry: 5\ncolour: red\ndata: a\n\n") == [Message("message", None, "a")]


def test_an_id_belongs_to_one_message():
    first, second = parsed("id: 1\ndata: a\n\ndata: b\n\n")
    assert (first.id, second.id) == ("1", None)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1))
def test_data_comes_out_as_it_went_in(lines: list[str]):
    text = "".join(f"data: {line}\n" for line in lines) + "\n"
    (message,) = parsed(text)
    assert message.data == "\n".join(lines)


def test_messages_are_values():
    text = '{"jobId": "3", "state": "DONE", "counts": {"done": 2, "notFound": 1}, "new": 1}'
    told = decoded(Message("counters", None, text))
    assert isinstance(told, Counters)
    assert (told.job_id, told.state, told.counts.not_found) == ("3", JobState.DONE, 1)
    event = decoded(Message("event", "9", '{"id": "9", "kind": "asked", "message": "paused"}'))
    assert event == EventView(id="9", kind="asked", message="paused")
    assert decoded(Message("weather", None, "sunny")) is None
