"""A user at a browser: Debian's Chromium, driven by Playwright, against a server under test."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from headgate.app.api.ui import BUILT
from tests.kit.api_server import Caller
from tests.kit.service import ServiceMissing, find_program

CHROMIUM = "chromium"
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 60_000
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
_UNKNOWN_ROW = "[role=grid] [aria-rowindex='2'] [class*=skeleton]"
"""The first row of a list, while it is on the way."""
COLOURS = ["color-contrast"]
"""What the dark alone can change."""
_RUN_AXE = """async (rules) => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const only = rules ? { runOnly: rules } : {};
  const open = [...document.querySelectorAll("dialog[open], [popover]:popover-open")];
  const found = await axe.run(open.at(-1) ?? document, { resultTypes: ["violations"], ...only });
  return found.violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, where: nodes.map(({ html, failureSummary }) =>
      [html.slice(0, 200), failureSummary]) }));
}"""


def demand_pages() -> str:
    """Where Chromium is; ServiceMissing if it, or what it is to show, is not there."""
    if not (BUILT / "index.html").is_file():
        raise ServiceMissing("The web UI is not built; `make setup` builds it.")
    if not AXE.is_file():
        raise ServiceMissing("axe-core is not installed; `make setup` installs it.")
    return find_program(CHROMIUM)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of the system, never one that Playwright downloads."""
    path = demand_pages()
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # Root has no sandbox, and all that is visited is ours.
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """One person with one tab. What the page complains about in its console is remembered."""

    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        given = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        self.url = url
        self.context: BrowserContext = browser.new_context(base_url=url, **given)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.complaints.append(said.text)

    def expects(self, pattern: str) -> None:
        """Let the browser complain of something that the test itself brings about."""
        self._expected.append(re.compile(pattern))

    def leave(self) -> None:
        """Close the tab; nothing may have been complained of."""
        self.context.close()
        bad = [
            text
            for text in self.complaints
            if not any(pattern.search(text) for pattern in self._expected)
        ]
        assert not bad, bad

    def login(self, caller: Caller) -> None:
        """Log in without the form."""
        reply = self.context.request.post("/api/login", data={"token": caller.token})
        assert reply.ok, reply.text()

    def open(self, path: str, heading: str | None = None) -> None:
        """Go to a screen, and return once it is drawn."""
        self.page.goto(path)
        self.drawn(heading)

    def drawn(self, heading: str | None = None) -> None:
        """Return once the screen shows its heading, and nothing of it is still on the way."""
        title = self.page.get_by_role("heading", level=1)
        expect(title).to_have_text(heading) if heading else expect(title).to_be_visible()
        expect(
            self.page.get_by_role("status", name=re.compile("^(Loading|Reading)"))
        ).to_have_count(0)
        expect(self.page.locator(_UNKNOWN_ROW)).to_have_count(0)

    @property
    def main(self) -> Locator:
        """The screen without what stands around it."""
        return self.page.get_by_role("main")

    def grid(self, name: str | re.Pattern[str]) -> Locator:
        """A list by its name."""
        return self.page.get_by_role("grid", name=name)

    def choose(self, menu: str | re.Pattern[str], item: str | re.Pattern[str]) -> None:
        """Open a menu, and take something of it."""
        self.page.get_by_role("button", name=menu).click()
        self.page.get_by_role("menuitem", name=item).click()

    def told(self, text: str | re.Pattern[str]) -> None:
        """Return once a notice says so."""
        expect(self.page.get_by_role("status").filter(has_text=text).first).to_be_visible()

    def check_access(self) -> None:
        """Demand that axe finds nothing serious or critical, in the light and in the dark."""
        found = self.barriers()
        assert not found, found

    def barriers(self) -> list[str]:
        """What axe finds, in the light and in the dark.

        Of a drawer, dialog or menu that is open, else of the whole page. It comes in by the
        debugger, which the content security policy of the page does not bind.
        """
        self.page.emulate_media(color_scheme="light")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        found = self.page.evaluate(_RUN_AXE, None)
        self.page.emulate_media(color_scheme="dark")
        found += self.page.evaluate(_RUN_AXE, COLOURS)
        return [str(each) for each in found]
