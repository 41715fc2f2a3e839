"""Resolvers behind our own client: the provider's gate, our contact, and the key."""

import pytest

from headgate.handlers.download.plan import ResolverReply, ResolverResult, ResolverVerdict
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.selection import ResolverSelection
from tests.kit.gates import OpenGates
from tests.kit.http import bench
from tests.kit.lookups import sent
from tests.kit.resolvers import Case, Services, identifier_for

KEYS = {"CORE_API_KEY": "core-key", "SEMANTIC_SCHOLAR_API_KEY": "s2-key"}
EVERYBODY = [name for name in RESOLVERS if name != "direct"]


@pytest.fixture(scope="module")
def services():
    with Services() as servers:
        yield servers


@pytest.fixture
def selection(services, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return ResolverSelection(services.policy(), [*RESOLVERS], KEYS)


@pytest.mark.parametrize("name", [name for name in EVERYBODY if name != "arxiv"])
async def test_every_resolver_is_answered_through_its_own_gate(name, services, selection):
    resolver, providers = RESOLVERS[name], selection.providers()
    identifier = identifier_for(resolver, Case.FOUND)
    before = len(services.server(name).seen)
    policy = providers.get(resolver.provider)
    gates = OpenGates(*policy.credentials) if policy else OpenGates()
    async with bench(providers, gates=gates) as cli:
        step = resolver.start(identifier, selection.options(resolver))
        while not isinstance(step, ResolverResult):
            response = await cli.client().request(
                step.method,
                step.url,
                params=step.params,
                headers=step.headers,
                json=step.json,
                light=step.light,
                max_bytes=step.max_bytes,
            )
            reply = ResolverReply(
                step, response.status_code, response.text, response.headers, response.url
            )
            step = resolver.read(identifier, reply)
    assert step.verdict is ResolverVerdict.FOUND
    assert {call.provider for call in cli.calls} == {resolver.provider}
    request = sent(services.server(name), before + 1)[before]
    assert request.target.count("me%40example.org") == (
        name in {"unpaywall", "crossref", "openalex"}
    )
    assert (request.headers.get("authorization") == "Bearer core-key") == (name == "core")
    assert request.headers.get("x-api-key") == ("s2-key" if name == "semantic_scholar" else None)
