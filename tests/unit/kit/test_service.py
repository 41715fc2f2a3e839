import http.client
import signal
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psutil
import pytest
from redis import Redis
from redis.exceptions import AuthenticationError
from redis.exceptions import ConnectionError as Refused

from tests.kit import service
from tests.kit.access_log import Logged, peak_rate, refused
from tests.kit.answers import Answer, always
from tests.kit.haproxy import HaproxyServer, WindowLimit
from tests.kit.nginx import HUGE, MEDIUM, SLOW, ConnectionLimit, NginxServer, RequestLimit
from tests.kit.provider import Provider, wait_until
from tests.kit.redis import RedisServer


def ask(url, method="GET"):
    """The status, the headers and the length of the body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, url.partition(parts.netloc)[2])
        reply = connection.getresponse()
        return reply.status, reply.headers, len(reply.read())
    finally:
        connection.close()


def get(url):
    """The status, and the length of the body."""
    status, _, length = ask(url)
    return status, length


def get_many(url, times):
    with ThreadPoolExecutor(times) as threads:
        return [status for status, _ in threads.map(get, [url] * times)]


def made(kind, *words, **options):
    service.need(kind.program)
    return kind(*words, **options)


class Forgetful(service.Service):
    """Does not hear the first signal."""

    program = "python3"
    SCRIPT = """
import signal, socket, sys
def first(*_):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGTERM, first)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    server.accept()
"""

    def command(self):
        return ["-c", self.SCRIPT, str(self.port)]


def test_a_server_that_forgets_a_signal_is_told_again(monkeypatch):
    monkeypatch.setattr(service, "INSIST_S", 0.2)
    with made(Forgetful) as server:
        process = psutil.Process(server.pid)
    assert not process.is_running()


@pytest.mark.parametrize("kind", [RedisServer, NginxServer, HaproxyServer])
def test_nothing_is_left_when_it_is_closed(kind):
    server = made(kind)
    with server:
        family = psutil.Process(server.pid).children(recursive=True)
        family.append(psutil.Process(server.pid))
        assert all(process.is_running() for process in family)
    assert not any(process.is_running() for process in family)
    assert not server.folder.exists()
    assert server.pid is None


@pytest.mark.parametrize("kind", [RedisServer, NginxServer, HaproxyServer])
def test_a_taken_port_is_abandoned_for_another(kind, monkeypatch):
    with made(kind) as first:
        ports = [first.port, service.free_port(), *[first.port] * 3]
        monkeypatch.setattr(service, "free_port", iter(ports).__next__)
        with made(kind) as second:
            assert second.port == ports[1]


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_without_a_program_a_laptop_skips_and_ci_fails(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="make services"):
        service.need("no-such-program")


def test_a_server_that_will_not_start_shows_its_log():
    class Broken(NginxServer):
        def _configuration(self):
            return "nonsense;"

    server = made(Broken)
    with pytest.raises(service.ServiceFailed, match='unknown directive "nonsense"'):
        server.start()
    server.close()


@pytest.mark.parametrize("durable", [True, False])
def test_redis_keeps_its_port_over_a_kill_and_its_data_by_choice(durable):
    with made(RedisServer, durable=durable) as server:
        with Redis.from_url(server.url()) as client:
            client.set("a", "kept")
        server.restart(signal.SIGKILL)
        with Redis.from_url(server.url()) as client:
            assert client.get("a") == (b"kept" if durable else None)


def test_a_stranger_is_refused_by_redis(redis_server):
    url = redis_server.url().replace("redis://:", "redis://:guess")
    with Redis.from_url(url) as client, pytest.raises(AuthenticationError):
        client.get("a")


def test_a_connection_left_open_to_redis_is_named(redis_server):
    with Redis.from_url(redis_server.url(), client_name="forgotten") as client:
        client.get("a")
        with pytest.raises(AssertionError, match="forgotten"):
            redis_server.assert_unused(patience_s=0)
    redis_server.assert_unused()


def test_a_stopped_redis_refuses_connections():
    with made(RedisServer) as server:
        server.stop()
        with Redis.from_url(server.url()) as client, pytest.raises(Refused):
            client.get("a")


@pytest.mark.parametrize("status", [429, 503])
def test_nginx_refuses_what_is_too_fast_and_logs_it(status):
    with made(NginxServer, RequestLimit("1r/m", burst=3, status=status)) as server:
        statuses = [get(server.url())[0] for _ in range(7)]
        assert statuses == [200] * 4 + [status] * 3
        log = server.log(at_least=7)
        assert [each.status for each in log] == statuses
        assert len(refused(log)) == 3
        assert peak_rate(log) == 7.0


def test_nginx_can_make_a_burst_wait_instead():
    with made(NginxServer, RequestLimit("20r/s", burst=3, nodelay=False)) as server:
        assert get_many(server.url(), 4) == [200] * 4
        assert max(each.took_s for each in server.log(at_least=4)) > 0.0


def test_nginx_caps_what_is_under_way():
    with Provider(always(Answer(silent=True))) as upstream, ThreadPoolExecutor(2) as threads:
        limit = ConnectionLimit(2)
        with made(NginxServer, connections=limit, upstream=upstream.url()) as server:
            hanging = [threads.submit(get, server.url(SLOW)) for _ in range(2)]
            wait_until(lambda: upstream.under_way() == 2)
            assert get_many(server.url(), 3) == [429] * 3
            upstream.stop()
            assert [each.result()[0] for each in hanging] == [502] * 2
            assert get(server.url()) == (200, 1_000)


def test_nginx_without_limits_serves_bodies_of_every_size():
    with made(NginxServer, cache_control="max-age=60") as server:
        assert get(server.url("/1k?page=2")) == (200, 1_000)
        assert get(server.url(MEDIUM)) == (200, 20_000)
        _, headers, _ = ask(server.url(HUGE), "HEAD")
        assert headers["Content-Length"] == "500000000"
        assert headers["Cache-Control"] == "max-age=60"
        assert (server.folder / "500m").stat().st_blocks < 1_000
        assert [each.path for each in server.log(at_least=3)] == ["/1k?page=2", "/20k", "/500m"]


@pytest.mark.parametrize("count_denied", [True, False])
def test_haproxy_refuses_what_a_window_does_not_hold_and_logs_it(count_denied):
    limit = WindowLimit(4, "1h", count_denied=count_denied)
    with made(HaproxyServer, limit) as server:
        statuses = [get(server.url())[0] for _ in range(6)]
        assert statuses == [200] * 4 + [429] * 2
        log = server.log(at_least=6)
        assert [each.status for each in log] == statuses
        assert peak_rate(log) == 6.0


def test_haproxy_without_limits_serves_both_bodies():
    with made(HaproxyServer) as server:
        assert get(server.url()) == (200, 1_000)
        assert get(server.url("/20k")) == (200, 20_000)
        assert get(server.url("/else")) == (404, 0)


def test_the_peak_is_that_of_the_fullest_window():
    arrivals = [0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 5.0]
    log = [Logged(at + 0.5, 0.5, 200, "/") for at in arrivals]
    assert peak_rate(log) == 4.0
    assert peak_rate(log, window_s=0.25) == 4.0
    assert peak_rate(log, window_s=0.5) == 4.0
    assert peak_rate(log, window_s=2.0) == 3.0
    assert peak_rate(log, window_s=8.0) == 1.0
    assert peak_rate([]) == 0.0
