"""Servers that accept and say nothing, drip, hang up half way, or send us elsewhere."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.core.status import ItemStatus
from tests.faults.matrix import crossed
from tests.kit.answers import Answer, Request, by_path, redirect
from tests.kit.ports import LOOPBACK
from tests.kit.project import Project
from tests.kit.provider import Provider, wait_until

HANDLERS = Path(__file__).with_name("fetching.py")
IMPATIENT = {
    "net__read_s": 3.0,
    "providers__api__timeout_s": 10.0,
    "providers__api__retry__retries": 0,
    "providers__api__concurrency": 4,
    "retry__max_attempts_error": 2,
    "breaker__failures": 1_000,
    "breaker__at_least": 1_000,
}
RUDE = {
    "/silent": Answer(silent=True),
    "/dripping": Answer(200, body=b"x" * 1_000, drip_s=0.2),
    "/falling-silent": Answer(200, [("Content-Length", "10")], body=b"x"),
    "/cut": Answer(200, body=b"x" * 1_000, cut_at=500),
    "/hanging-up": Answer(hang_up=True),
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


class Once:
    """Fails the first request of each client, and then answers as it should."""

    def __init__(self, rude: Answer) -> None:
        self._rude = rude
        self._known: set[str] = set()

    def __call__(self, request: Request) -> Answer:
        if request.target in self._known:
            return Answer(200, body=b"hello")
        self._known.add(request.target)
        return self._rude


def test_misbehaving_servers_time_out_and_delay_no_other_row(
    sqlite_project: Project, provider: Provider
):
    """Each path twice: one always fails, one fails only at first. In between, paths that work."""
    project = sqlite_project
    scripts = {path: (lambda _, answer=answer: answer) for path, answer in RUDE.items()}
    scripts |= {f"{path}-once": Once(answer) for path, answer in RUDE.items()}
    provider.script = by_path(scripts, otherwise=lambda _: Answer(200, body=b"hello"))
    deeds = dict(enumerate(scripts, start=1))
    file = project.rows(30, deeds)
    words = project.batch(f"{HANDLERS}:fetch", file, url=provider.url(""))
    ended = project.run(*words, **IMPATIENT)

    assert ended.code == 3, ended.err
    items = {item.key: item for item in project.assert_finished(30)}
    for row, path in deeds.items():
        item = items[str(row)]
        if path in RUDE:
            slow = path in {"/silent", "/dripping", "/falling-silent"}
            assert item.status is ItemStatus.ERROR, path
            assert item.error_class == ("timeout" if slow else "transient"), path
            assert item.attempts == 2
        else:
            # The wire itself repeats what a kept connection hung up on.
            least = 1 if path == "/hanging-up-once" else 2
            assert item.status is ItemStatus.DONE, path
            assert least <= item.attempts <= 2, path
    others = [item for key, item in items.items() if int(key) not in deeds]
    assert {(item.status, item.attempts) for item in others} == {(ItemStatus.DONE, 1)}
    wait_until(lambda: provider.under_way() == 0)  # the service may notice a moment later
    asked = Counter(seen.request.path for seen in provider.seen)
    assert {asked[path] for path in deeds.values() if "hanging" not in path} == {2}


def streaming_elsewhere(provider: Provider, host: str) -> None:
    """Redirects every request to another host, where bodies are slow."""
    there = provider.url("/there", host)
    slow = Answer(200, body=b"x" * 20, drip_s=0.005)
    provider.script = by_path({"/there": lambda _: slow}, otherwise=lambda _: redirect(there))


@pytest.mark.parametrize("processes", [1, 4])
@crossed("stream", "stream")
def test_a_cap_applies_to_the_target_of_a_redirect_while_bodies_stream(
    project: Project, name: str, provider: Provider, processes: int
):
    """The cap is on the host that serves; the one that was asked has none."""
    streaming_elsewhere(provider, "localhost")
    serving = f"localhost:{provider.port}"
    file = project.rows(40)
    words = project.batch(
        f"{HANDLERS}:{name}", file, "--processes", str(processes), url=provider.url("")
    )
    declared = f"[providers.depot]\nhosts = ['{serving}']\nconcurrency = 3\n"
    (project.folder / "headgate.toml").write_text(declared)
    ended = project.run(*words, worker__concurrency=24)

    assert ended.code == 0, ended.err
    items = project.assert_finished(40)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    asked = Counter(seen.request.host for seen in provider.seen)
    assert asked == {f"{LOOPBACK}:{provider.port}": 40, serving: 40}
    assert provider.overlap(serving) <= 3
    assert processes > 1 or provider.overlap(serving) == 3
