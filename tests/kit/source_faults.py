"""What goes wrong at a source, by script: put faults into the list of a server that takes them."""

from collections.abc import Callable, Iterator
from itertools import count

from tests.kit.answers import Answer, Bucket, Request, refusal

Fault = Callable[[Request], Answer | None]
"""Is shown each request for content, and answers it, or lets it through with None."""


def at_request(number: int, action: Callable[[], object]) -> Fault:
    """Do something just before the request of this number is answered, beginning at 1."""
    numbers: Iterator[int] = count(1)

    def fault(request: Request) -> Answer | None:
        if next(numbers) == number:
            action()
        return None

    return fault


def refusing(times: int, retry_after: str | None = "1") -> Fault:
    """Answer 429 to the first `times` requests, and let the others through."""
    left = iter(range(times))
    return lambda _: None if next(left, None) is None else refusal(retry_after)


def limiting(per_s: float, burst: float = 1.0) -> Fault:
    """Answer 429 to what is too fast."""
    passed = Answer()
    bucket = Bucket(per_s, burst, answer=passed, refused=refusal("1"))

    def fault(request: Request) -> Answer | None:
        answer = bucket(request)
        return None if answer is passed else answer

    return fault


def failing(words: str, status: int = 500) -> Fault:
    """Fail each request whose target has these words; take it off the list to heal it."""
    failed = Answer(status, body=b"this page always fails")
    return lambda request: failed if words in request.target else None
