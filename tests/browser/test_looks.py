"""Every screen on a phone and in the dark, and open to everybody."""

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import Visit
from tests.browser.views import close, full, opened
from tests.browser.world import World
from tests.kit.api_server import ApiServer
from tests.kit.browser import DESKTOP, PHONE, Visitor

_WIDTH = "() => document.scrollingElement.scrollWidth"
_BACKGROUND = "() => getComputedStyle(document.documentElement).backgroundColor"


def brightness(colour: str) -> float:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 3


@pytest.mark.timeout(400)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_screen_fits_and_is_open_to_everybody(visit: Visit, world: World, size: ViewportSize):
    someone = visit(world.admin, viewport=size)
    someone.expects("404")
    found: dict[str, list[str]] = {}
    for view in full(world):
        someone.open(view.path)
        if view.first:
            view.first(someone)
        found[view.name] = faults(someone, size)
        for name, step in view.opens:
            before = opened(someone)
            step(someone)
            found[f"{view.name}, {name}"] = faults(someone, size)
            close(someone, before)
    bad = [f"{name}: {each}" for name, all_found in found.items() for each in all_found]
    assert not bad, "\n".join(bad)


def faults(someone: Visitor, size: ViewportSize) -> list[str]:
    """What keeps somebody from using the page as it is now."""
    width = someone.page.evaluate(_WIDTH)
    wide = [f"it is {width} wide"] if width > size["width"] else []
    return wide + someone.barriers()


def test_the_login_is_open_to_everybody(visit: Visit):
    someone = visit(None, viewport=PHONE)
    someone.open("/login")
    someone.check_access()
    someone.page.get_by_role("button", name="Use a token instead").click()
    someone.check_access()


def test_the_navigation_of_a_phone_unfolds(visit: Visit, world: World):
    someone = visit(world.admin, viewport=PHONE, has_touch=True)
    someone.open("/", "Jobs")
    link = someone.page.get_by_role("navigation").get_by_role("link", name="Settings")
    expect(link).not_to_be_visible()
    someone.page.get_by_role("button", name="Navigation").click()
    expect(link).to_be_visible()
    someone.check_access()
    link.click()
    someone.drawn("Settings")
    expect(link).not_to_be_visible()


def test_the_page_is_dark_where_the_system_is(visit: Visit, api: ApiServer):
    dark, light = (visit(api.user("owl"), color_scheme=scheme) for scheme in ("dark", "light"))
    for someone in (dark, light):
        someone.open("/", "Jobs")
    assert brightness(dark.page.evaluate(_BACKGROUND)) < 60
    assert brightness(light.page.evaluate(_BACKGROUND)) > 200


def test_the_chosen_colours_stay(visit: Visit, api: ApiServer):
    someone = visit(api.user("owl"), color_scheme="light")
    someone.open("/", "Jobs")
    page = someone.page
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    page.reload()
    someone.drawn("Jobs")
    assert brightness(page.evaluate(_BACKGROUND)) < 60
