"""The end of a reading: the plans without repetitions, or why there are none."""

from collections.abc import Iterable
from typing import Final

from headgate.handlers.download.plan import Plan, Reading, Verdict

MOST_PLANS: Final = 10
MOST_PAGES: Final = 3


def ending(plans: Iterable[Plan], pages: Iterable[str] = ()) -> Reading:
    """What was found for a work that the service knows; plans without a URL are none."""
    by_url: dict[str, Plan] = {}
    for plan in plans:
        if plan.url:
            by_url.setdefault(plan.url, plan)
    others = tuple(dict.fromkeys(page for page in pages if page and page not in by_url))
    others = others[:MOST_PAGES]
    if by_url:
        return Reading(Verdict.FOUND, tuple(by_url.values())[:MOST_PLANS], others)
    return Reading(Verdict.NO_FILE, pages=others, reason="it names no file that may be fetched")


def unknown(service: str) -> Reading:
    """The service has no record of the work."""
    return Reading(Verdict.UNKNOWN, reason=f"{service} does not know it")


def not_asked(why: str) -> Reading:
    """There is no question to put."""
    return Reading(Verdict.NOT_ASKED, reason=why)
