"""An exception is sorted by what should be done about it."""

import pytest

from headgate.core.fault import FaultClass, fault_of_exception


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), FaultClass.TRANSIENT),
        (ConnectionResetError("x"), FaultClass.TRANSIENT),
        (TimeoutError("x"), FaultClass.TIMEOUT),
        (KeyboardInterrupt(), FaultClass.TRANSIENT),
    ],
)
def test_an_exception_is_worth_a_retry(error: BaseException, kind: FaultClass):
    fault = fault_of_exception(error)
    assert fault.kind is kind
    assert fault.reason.startswith(type(error).__name__)


def test_an_exception_without_words_is_named_anyway():
    assert fault_of_exception(Mute()).reason == "Mute: (its message cannot be read)"
