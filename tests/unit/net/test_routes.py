"""Each URL finds its place: whose host it is, and which gates stand before it."""

from random import Random

import pytest

from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.provider import ProviderPolicy
from headgate.core.url import parse_origin
from headgate.net.breaker import Breakers
from headgate.net.policy import NetPolicy
from headgate.net.routes import Routes, domain_of
from headgate.testing import FakeClock

PROVIDERS = {
    "shop": ProviderPolicy(hosts=("shop.example.co.uk", "*.shop.example.co.uk")),
    "a-source-of-shop": ProviderPolicy(hosts=("shop.example.co.uk",)),
    "anywhere": ProviderPolicy(rate="5/s"),
    "files": ProviderPolicy(each_host=True, robots=True),
}


@pytest.fixture
async def routes() -> Routes:
    return Routes(PROVIDERS, NetPolicy(), Breakers(BreakerPolicy(), FakeClock(), Random(1)))


@pytest.mark.parametrize(
    ("url", "asked_by", "provider", "declared"),
    [
        ("https://shop.example.co.uk/a", "", "shop", True),
        ("https://shop.example.co.uk/a", "a-source-of-shop", "a-source-of-shop", True),
        ("https://img.shop.example.co.uk/a", "a-source-of-shop", "shop", True),
        ("https://img.shop.example.co.uk/a", "anywhere", "shop", True),
        ("https://elsewhere.example/a", "shop", "", False),
        ("https://elsewhere.example/a", "anywhere", "anywhere", False),
        ("https://elsewhere.example/a", "unheard-of", "unheard-of", False),
        ("https://elsewhere.example/a", "", "", False),
    ],
)
async def test_a_host_belongs_to_the_handler_that_declares_it(
    routes: Routes, url: str, asked_by: str, provider: str, declared: bool
):
    place, rest = routes.find(url, asked_by)
    assert (place.provider, place.declared, rest) == (provider, declared, "/a")
    assert place.route.provider == provider
    assert place.route.transfer
    assert not place.light.transfer


@pytest.mark.parametrize(
    ("url", "rest"),
    [
        ("https://Shop.Example.co.uk:443/a?b", "/a?b"),
        ("https://shop.example.co.uk", ""),
        ("https://shop.example.co.uk?b/c", "?b/c"),
        ("https://shop.example.co.uk#b/c", "#b/c"),
    ],
)
async def test_a_place_is_found_however_it_is_written(routes: Routes, url: str, rest: str):
    for _ in range(2):
        place, found = routes.find(url, "")
        assert (place.text, found) == ("https://shop.example.co.uk", rest)
    assert place.route.domain == "example.co.uk"
    assert place.host == "shop.example.co.uk"


async def test_a_known_place_is_not_looked_up_again(routes: Routes):
    first, _ = routes.find("https://a.example/1", "")
    second, _ = routes.find("https://a.example/2", "")
    assert second is first


async def test_hosts_without_end_do_not_fill_the_memory(
    routes: Routes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Routes, "MOST", 3)
    for number in range(10):
        routes.find(f"https://{number}.example/", "")
    assert len(routes._places) <= 3


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk", "bbc.co.uk"),
        ("https://a.b.example.com", "example.com"),
        ("https://co.uk", "co.uk"),
        ("https://localhost", "localhost"),
        ("https://alice.github.io", "alice.github.io"),
        ("https://www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("https://10.0.0.1", "10.0.0.1"),
        ("https://[::1]", "::1"),
    ],
)
def test_hosts_are_grouped_by_registrable_domain(url: str, domain: str):
    assert domain_of(parse_origin(url)) == domain


async def test_a_place_without_a_path_is_not_taken_for_one_with_a_shorter_name(routes: Routes):
    routes.find("http://10.0.0.1/x", "")
    place, rest = routes.find("http://10.0.0.12", "")
    assert (place.host, rest) == ("10.0.0.12", "")


async def test_hosts_that_share_settings_are_nobodys_but_keep_them(routes: Routes):
    place, _ = routes.find("https://elsewhere.example/a", "files")
    assert (place.provider, place.policy.robots) == ("", True)
    assert (place.route.provider, place.route.manners) == ("", "files")
    assert (place.light.manners, place.light.transfer) == ("files", False)
    declared, _ = routes.find("https://shop.example.co.uk/a", "files")
    assert (declared.provider, declared.route.manners) == ("shop", "")
