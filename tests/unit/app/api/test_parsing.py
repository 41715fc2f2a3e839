"""Requests are parsed in turns, and chunks that are mostly frame are refused."""

import asyncio

import h11
import pytest

from headgate.app.api.connections import CHUNKS, EVENTS, LEAST_BYTES, PacedConnection, ParsingTurns

HEAD = b"POST / HTTP/1.1\r\nHost: local\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunks(size: int, count: int) -> bytes:
    return (b"%x\r\n" % size + b"x" * size + b"\r\n") * count


def received(data: bytes) -> PacedConnection:
    connection = PacedConnection(h11.SERVER)
    connection.receive_data(data)
    return connection


def turn(connection: PacedConnection) -> list[object]:
    """The events of one turn."""
    connection.begin_turn()
    return list(iter(connection.next_event, h11.NEED_DATA))


def parsed(connection: PacedConnection) -> None:
    turn(connection)
    while connection.has_more:
        turn(connection)


def test_a_turn_ends_after_some_events_and_the_next_one_continues():
    connection = received(HEAD + chunks(LEAST_BYTES, 2 * EVENTS))
    assert len(turn(connection)) == EVENTS
    assert connection.has_more
    assert len(turn(connection)) == EVENTS
    assert connection.has_more
    assert len(turn(connection)) == 1
    assert not connection.has_more


def test_very_small_chunks_are_refused():
    connection = received(HEAD + chunks(LEAST_BYTES - 1, CHUNKS + 1))
    with pytest.raises(h11.RemoteProtocolError, match="chunks of the body are too small"):
        parsed(connection)
    assert "1,000" in connection.refused


@pytest.mark.parametrize(
    "data",
    [
        HEAD + chunks(1, CHUNKS),
        HEAD + chunks(LEAST_BYTES, 3 * CHUNKS),
        HEAD + chunks(50 * LEAST_BYTES, CHUNKS) + chunks(1, CHUNKS),
    ],
)
def test_few_tiny_chunks_and_many_larger_ones_are_read(data: bytes):
    connection = received(data)
    parsed(connection)
    assert not connection.refused


def test_a_body_of_stated_length_may_come_byte_by_byte():
    count = 2 * CHUNKS
    connection = received(b"POST / HTTP/1.1\r\nHost: local\r\nContent-Length: %d\r\n\r\n" % count)
    turn(connection)
    for _ in range(count):
        connection.receive_data(b"x")
        assert turn(connection)
    assert not connection.refused


def test_the_chunk_limit_counts_per_request():
    connection = PacedConnection(h11.SERVER)
    for _ in range(3):
        connection.receive_data(HEAD + chunks(1, CHUNKS - 1) + b"0\r\n\r\n")
        parsed(connection)
        assert connection.their_state is h11.DONE
        connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
        connection.send(h11.EndOfMessage())
        connection.start_next_cycle()
    assert not connection.refused


def test_connections_take_turns_and_a_closed_one_is_skipped():
    async def in_order() -> list[str]:
        turns, had, ended = ParsingTurns(), [], asyncio.Event()

        def parse(name: str) -> None:
            had.append(name)
            if had.count(name) < 2:
                turns.wait(name, lambda: parse(name))
            elif name == "b":
                ended.set()

        for name in ("a", "gone", "b"):
            turns.wait(name, lambda name=name: parse(name))  # type: ignore[misc]
        turns.leave("gone")
        assert ("a" in turns, "gone" in turns) == (True, False)
        await asyncio.wait_for(ended.wait(), 30.0)
        return had

    assert asyncio.run(in_order()) == ["a", "b", "a", "b"]


def test_a_turn_that_fails_does_not_end_the_turns_of_others():
    async def reached() -> bool:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        turns, ended = ParsingTurns(), asyncio.Event()

        def fails() -> None:
            raise OSError

        turns.wait("bad", fails)
        turns.wait("good", ended.set)
        return await asyncio.wait_for(ended.wait(), 30.0)

    assert asyncio.run(reached())
