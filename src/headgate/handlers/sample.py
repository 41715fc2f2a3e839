"""A sample handler: it asks no service, and shows every outcome that a row can have."""

import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from headgate.core.item import Item
from headgate.core.outcome import GiveUp, NotFound, Review, Skipped
from headgate.handlers.code import described
from headgate.handlers.function import handler
from headgate.ports.handler import Context, HandlerSpec, Result

NAME = "sample.words"
PAUSE_S = 0.5
"""Seconds per word, as a service might take, so that users can watch the progress."""
AT_ONCE = 3
"""Words that a process counts at the same time. The sample of the web UI then runs for some
seconds, in which users can watch its progress, its rate and its charts."""
_turns = threading.BoundedSemaphore(AT_ONCE)
MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    "bank": ("the side of a river", "a house for money"),
    "bow": ("the front of a ship", "a weapon"),
}


@handler(NAME, needs=["word"], version="1")
def words(item: Item, _ctx: Context) -> Result:
    """Counts the letters of a word, slowly and offline: a sample of every outcome."""
    with _turns:
        time.sleep(PAUSE_S)
    return outcome_of(str(item.input["word"]))


def outcome_of(word: str) -> Result:
    """NotFound for a word without vowels, Skipped for a number, GiveUp for two words."""
    if word.isdigit():
        return Skipped("this is a number, not a word")
    if not word.isalpha():
        return GiveUp("write one word per row, with letters only")
    if word in MEANINGS:
        return Review(
            [
                {"id": str(n), "name": meaning, "score": 50, "result": _facts(word, meaning)}
                for n, meaning in enumerate(MEANINGS[word], 1)
            ],
            f"{word!r} has two meanings",
        )
    facts = _facts(word)
    return facts if facts["vowels"] else NotFound("a word without vowels does not exist")


def _facts(word: str, meaning: str = "") -> dict[str, Any]:
    facts = {
        "letters": len(word),
        "vowels": sum(letter in "aeiouy" for letter in word.lower()),
        "backwards": word[::-1],
    }
    return {**facts, "meaning": meaning} if meaning else facts


SAMPLE: HandlerSpec = described(words, NAME)
