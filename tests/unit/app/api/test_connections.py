"""When connections run out, those go that hold half requests."""

from dataclasses import dataclass, field

from headgate.app.api.connections import ServerConnections, most_connections
from headgate.app.server_policy import ServerPolicy


@dataclass(eq=False)
class Line:
    """A connection that notes when it is dropped."""

    address: str = "127.0.0.1"
    dropped: bool = field(default=False)

    def drop(self) -> None:
        self.dropped = True


def test_the_connection_with_the_oldest_incomplete_request_is_closed_first():
    connections = ServerConnections(most=3, per_address=100)
    first, second, third, fourth = (Line() for _ in range(4))
    for line in (first, second, third):
        assert connections.admit(line)
    connections.has_sent(first)  # it is being answered
    assert connections.admit(fourth)
    assert [line.dropped for line in (first, second, third)] == [False, True, False]
    assert len(connections) == 3


def test_a_connection_that_is_being_answered_is_not_dropped():
    connections = ServerConnections(most=2, per_address=100)
    lines = [Line(), Line()]
    for line in lines:
        connections.admit(line)
        connections.has_sent(line)
    assert not connections.admit(Line())
    assert not any(line.dropped for line in lines)
    connections.leave(lines[0])
    assert connections.admit(Line())


def test_an_address_has_its_share_and_displaces_only_its_own_connections():
    connections = ServerConnections(most=100, per_address=2)
    other = Line("192.0.2.9")
    assert connections.admit(other)
    lines = [Line("192.0.2.1") for _ in range(3)]
    assert all(connections.admit(line) for line in lines)
    assert [line.dropped for line in lines] == [True, False, False]
    assert not other.dropped


def test_loopback_has_no_limit_by_address():
    connections = ServerConnections(most=100, per_address=2)
    for address in ("127.0.0.1", "::1"):
        lines = [Line(address) for _ in range(5)]
        assert all(connections.admit(line) for line in lines)
        assert not any(line.dropped for line in lines)


def test_a_closed_connection_is_not_counted_twice():
    connections = ServerConnections(most=5, per_address=5)
    line = Line("192.0.2.1")
    connections.admit(line)
    connections.leave(line)
    connections.leave(line)
    connections.owes(line)
    assert len(connections) == 0


def test_an_event_stream_is_closed_before_a_new_client_is_refused():
    connections = ServerConnections(most=2, per_address=100)
    stream, asking, half = Line(), Line(), Line()
    for line in (stream, asking):
        connections.admit(line)
        connections.has_sent(line)
    connections.streams(stream)
    assert connections.admit(half)
    assert stream.dropped
    assert connections.admit(Line())
    assert half.dropped
    assert not asking.dropped


def test_few_refused_clients_may_send_on():
    connections = ServerConnections(most=5, per_address=5)
    first, second = Line(), Line()
    connections.admit(first)
    assert connections.may_linger(first, 1)
    assert not connections.may_linger(second, 1)
    connections.leave(first)
    assert connections.may_linger(second, 1)


def test_there_are_fewer_connections_than_files_may_be_open(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda _kind: (1_024, 1_024))
    assert most_connections(ServerPolicy()) == 1_024 - 256 - 128
    assert most_connections(ServerPolicy(connections=10)) == 10
