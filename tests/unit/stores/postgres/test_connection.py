import pytest

from headgate.core.errors import BadSetting
from headgate.stores.postgres.connection import read_address


def test_the_password_is_never_shown():
    address = read_address("postgresql://me:s3cret@db.example:5433/batch?sslmode=require")
    assert address.shown == "postgresql://me:***@db.example:5433/batch?sslmode=require"
    assert "s3cret" in address.conninfo
    other = read_address("postgresql://db/batch?user=me&password=s3cret")
    assert "s3cret" not in other.shown


@pytest.mark.parametrize(("word", "notify"), [("off", False), ("0", False), ("on", True)])
def test_notifications_can_be_switched_off_in_the_url(word, notify):
    address = read_address(f"postgresql://db/batch?notify={word}&sslmode=require")
    assert address.notify is notify
    assert address.conninfo == "postgresql://db/batch?sslmode=require"


def test_notifications_are_on_by_default():
    assert read_address("postgresql://db/batch").notify


def test_a_misspelt_switch_is_refused():
    with pytest.raises(BadSetting, match="notify=maybe"):
        read_address("postgresql://db/batch?notify=maybe")
