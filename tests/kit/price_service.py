"""A price service that is rude: it refuses all, loses some, and knows some not, until it heals."""

import json

from tests.kit.answers import Answer, Request, refusal
from tests.kit.provider import Provider

KNOWS_NOT = 404
CANNOT = 418
CLOSED = refusal("1")


class PriceService(Provider):
    """Prices by number. Every seventh is unknown, and every fifth is refused for good."""

    def __init__(self) -> None:
        self.open = False
        """Until it is, everybody is told to come back in a second."""
        self.tired_after: int | None = None
        """So many answers more, and it closes."""
        self.healed = False
        """Once it is, nothing is refused for good any more."""
        self.turned_away = 0
        """How often somebody was told to come back."""
        super().__init__(self._reply)

    @property
    def base_url(self) -> str:
        """What handlers are configured with."""
        return self.url("")

    @property
    def place(self) -> str:
        """Where it is, as gates name it."""
        return f":{self.port}"

    def outcome(self, number: int) -> str:
        """What becomes of a row, once the shop is open and as long as it is not healed."""
        if number % 7 == 0:
            return "NOT_FOUND"
        return "ERROR" if number % 5 == 0 else "DONE"

    def _reply(self, request: Request) -> Answer:
        if not self.open:
            self.turned_away += 1
            return CLOSED
        if self.tired_after is not None:
            self.tired_after -= 1
            self.open = self.tired_after > 0
        number = int(request.path.rpartition("/")[2])
        outcome = self.outcome(number)
        if outcome == "NOT_FOUND":
            return Answer(KNOWS_NOT)
        if outcome == "ERROR" and not self.healed:
            return Answer(CANNOT, body=b"I am a teapot")
        return Answer(200, body=json.dumps({"price": number * 2}).encode())
