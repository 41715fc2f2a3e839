"""What `from headgate import …` offers is a promise."""

import sys

import headgate
import headgate.testing


def test_the_public_names():
    assert sorted(headgate.__all__) == [
        "Closing",
        "Context",
        "Done",
        "FollowUp",
        "GiveUp",
        "HeadgateError",
        "Item",
        "JobView",
        "MirrorRow",
        "NotFound",
        "Outcome",
        "Proof",
        "RetryLater",
        "Review",
        "Skipped",
        "__version__",
        "handler",
    ]
    assert all(hasattr(headgate, name) for name in headgate.__all__)


def test_the_test_tools_do_not_need_a_test_framework():
    assert "pytest" not in vars(sys.modules["headgate.testing"])
