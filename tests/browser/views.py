"""Every screen, and what opens upon it: drawers, dialogs and menus."""

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from playwright.sync_api import FilePayload, Locator, expect

from tests.browser.sample_jobs import SampleJobs
from tests.browser.sample_mirrors import SampleMirrors
from tests.kit.api_server import rows_csv
from tests.kit.browser import Visitor

Step = Callable[[Visitor], None]
TABS = ("grid", "pending", "errors", "activity", "exports", "configuration")
_OPENED = "dialog[open], [popover]:popover-open"


class View(NamedTuple):
    """One screen by its path."""

    name: str
    path: str
    opens: tuple[tuple[str, Step], ...] = ()
    """What can be opened upon it, each by itself."""
    first: Step | None = None
    """What is done before there is something to see."""


def opened(visitor: Visitor) -> int:
    """How many drawers, dialogs and menus are open."""
    return visitor.page.locator(_OPENED).count()


def close(visitor: Visitor, before: int) -> None:
    """Leave what was opened last."""
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(_OPENED)).to_have_count(before)


def press(*keys: str) -> Step:
    """Press keys one after the other; a dialog comes of it."""

    def step(visitor: Visitor) -> None:
        for key in keys:
            visitor.page.keyboard.press(key)
        expect(visitor.page.get_by_role("dialog")).to_be_visible()
        _counted(visitor)

    return step


def click(name: str) -> Step:
    """Press the first button of that name, or of one that begins so; something opens."""

    def step(visitor: Visitor) -> None:
        before = opened(visitor)
        _button(visitor, name).click()
        expect(visitor.page.locator(_OPENED)).to_have_count(before + 1)
        _counted(visitor)

    return step


def choose(menu: str, item: str) -> Step:
    """Take something of a menu that asks back."""

    def step(visitor: Visitor) -> None:
        before = opened(visitor)
        deed = visitor.page.get_by_role("menuitem", name=item)
        _button(visitor, menu).click()
        expect(deed).to_be_visible()
        deed.click()
        expect(visitor.page.locator("dialog[open]")).to_have_count(before + 1)
        _counted(visitor)

    return step


def _button(visitor: Visitor, name: str) -> Locator:
    """A button of what is open, else of the screen."""
    drawer = visitor.page.get_by_role("dialog")
    place = drawer if drawer.count() else visitor.main
    return place.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).first


def _counted(visitor: Visitor) -> None:
    """Wait until the server has said how many."""
    expect(visitor.page.get_by_text("Counting…")).to_have_count(0)


def who_am_i(visitor: Visitor) -> None:
    """Open the menu of the user."""
    visitor.page.get_by_role("button", name=", admin").click()
    expect(visitor.page.get_by_role("menu")).to_be_visible()


def make_token(visitor: Visitor) -> None:
    """Make a token, which is shown once."""
    click("Create a token")(visitor)
    visitor.page.get_by_label("Name").fill("a script")
    visitor.page.get_by_role("button", name="Create token").click()
    expect(visitor.page.get_by_role("dialog", name="Copy the token now")).to_be_visible()


def choose_file(visitor: Visitor) -> None:
    """Fill in a new job, as far as its preview."""
    page = visitor.page
    content = rows_csv(40).replace(b"id,name", b"ID,Product Name") + b"41\n"
    file: FilePayload = {"name": "products.csv", "mimeType": "text/csv", "buffer": content}
    page.get_by_label("Choose a file").set_input_files(file)
    expect(page.get_by_role("region", name="First rows")).to_be_visible()
    page.get_by_label("Handler").select_option("shop.ask")
    expect(page.get_by_label("Column for “id”")).to_have_value("ID")


def lists() -> list[View]:
    """The screens that are there before there is any job."""
    return [
        View("jobs", "/", (("keys", press("?")), ("who-am-i", who_am_i))),
        View("new-job", "/jobs/new"),
        View("review", "/review"),
        View("pending", "/pending"),
        View("mirrors", "/mirrors", (("new", click("New mirror")),)),
        View("providers", "/providers"),
        View("workers", "/workers", (("drain", click("Drain")),)),
        View("dead-letters", "/dead-letters"),
        View("settings-health", "/settings?tab=health"),
        View("settings-users", "/settings?tab=users", (("add", click("Add a user")),)),
        View("settings-tokens", "/settings?tab=tokens", (("add", click("Create a token")),)),
        View("settings-features", "/settings?tab=features"),
        View("nowhere", "/nowhere"),
    ]


def full(sample_jobs: SampleJobs) -> list[View]:
    """Every screen of a server that has something of everything."""
    known = {view.name: view for view in lists()}
    more = {
        "jobs": (("actions", click("Actions for Catalogue")),),
        "dead-letters": (("replay", click("Run all again")),),
        "settings-users": (
            ("change", choose("Actions for ann", "Change role")),
            ("lock-out", choose("Actions for ann", "Disable")),
        ),
        "settings-tokens": (("revoke", click("Revoke nightly")), ("made", make_token)),
    }
    for name, opens in more.items():
        known[name] = known[name]._replace(opens=known[name].opens + opens)
    return [
        *known.values(),
        *_filled(),
        *_of_jobs(sample_jobs),
        *_of_parts(sample_jobs),
        *_of_mirrors(sample_jobs.mirrors),
    ]


def _filled() -> list[View]:
    rerun = press("j", "x", "r")
    return [
        View("new-job-filled", "/jobs/new", first=choose_file),
        View("pending-errors", "/pending?statuses=ERROR", (("run-again", rerun),)),
    ]


def _of_jobs(sample_jobs: SampleJobs) -> list[View]:
    again = choose("Actions", "Run items again")
    opens: dict[str, tuple[tuple[str, Step], ...]] = {
        "grid": (
            ("columns", click("Columns")),
            ("run-again", press("j", "x", "r")),
            ("run-job-again", again),
            ("delete", choose("Actions", "Delete")),
        ),
        "errors": (("retry-group", click("Retry this group")),),
    }
    asked, waiting = f"/jobs/{sample_jobs.asked}", f"/jobs/{sample_jobs.waiting}"
    return [
        *(View(f"job-{tab}", f"{asked}?tab={tab}", opens.get(tab, ())) for tab in TABS),
        View("job-every", f"/jobs/{sample_jobs.every}"),
        View(
            "job-waiting",
            f"{waiting}?tab=pending",
            (("cancel", choose("Actions", "Cancel")),),
        ),
        View("job-charts", f"{waiting}?tab=activity&charts=on"),
        View("job-missing", "/jobs/99999999"),
    ]


def _of_parts(sample_jobs: SampleJobs) -> list[View]:
    gate = f"/providers?gate={quote(sample_jobs.gate)}"
    deeds = {"set-rate": "Set a rate", "pause": "Pause", "forget": "Forget"}
    return [
        View("item", f"/items/{sample_jobs.failed}"),
        View("item-review", f"/items/{sample_jobs.reviewed}"),
        View("item-drawer", f"/jobs/{sample_jobs.asked}?tab=grid&item={sample_jobs.failed}"),
        View("item-waiting", f"/pending?item={sample_jobs.waits}"),
        View(
            "gate",
            gate,
            tuple((name, choose("Actions", words)) for name, words in deeds.items()),
        ),
    ]


def _of_mirrors(sample: SampleMirrors) -> list[View]:
    mirror = f"/mirrors/{sample.mirror}"
    stream = f"{mirror}/streams/{sample.stream}"
    compared = f"from={sample.first}&to={sample.second}&stream={sample.stream}"
    retry = (("retry", click("Retry all")),)
    begin = (
        ("continue", click("Continue pass")),
        ("forget", choose("Actions", "Forget mirror")),
    )
    return [
        View("mirror", mirror, begin),
        View("mirror-passes", f"{mirror}?tab=passes"),
        View("mirror-pass", f"{mirror}?tab=passes&pass={sample.third}"),
        View("mirror-failed", f"{mirror}?tab=failed", retry),
        View("mirror-differences", f"{mirror}?tab=differences&{compared}"),
        View("mirror-difference", f"{mirror}?tab=differences&{compared}&row=1"),
        View("mirror-source", f"{mirror}?tab=source"),
        View("mirror-missing", "/mirrors/99999999"),
        View("stream-rows", stream),
        View("stream-row", f"{stream}?row=3"),
        View("stream-deleted", f"{stream}?deleted=1&row=21"),
        View("stream-changes", f"{stream}?tab=changes"),
        View("stream-fields", f"{stream}?tab=fields"),
    ]
