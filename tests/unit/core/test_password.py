"""Passwords that a stranger guesses first are refused, with a word on what to do."""

import pytest

from headgate.core.password import ADVICE, weakness_of


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("brief", "fewer than 10"),
        (" " * 10, "spaces"),
        ("\t \n \t \n \t a", "spaces"),
        ("aaaaaaaaaa", "repeats"),
        ("AaAaAaAaAaA", "repeats"),
        ("ababababab", "repeats"),
        ("abcabcabcabc", "sequence"),
        ("1717171717", "repeats"),
        ("axbaxbaxbaxb", "repeats"),
        ("1234567890", "sequence"),
        ("0123456789", "sequence"),
        ("0987654321", "sequence"),
        ("12345678901234567890", "sequence"),
        ("1 2 3 4 5 6 7 8 9", "sequence"),
        ("abcdefghijkl", "sequence"),
        ("zyxwvutsrqpo", "sequence"),
        ("qwertyuiop", "sequence"),
        ("POIUYTREWQ", "sequence"),
        ("password123", "common"),
        ("P4ssw0rd!!!!", "common"),
        ("!!Password2026!!", "common"),
        ("passwordpassword", "common"),
        ("letmein12345", "common"),
        ("Headgate2026", "common"),
        ("ann.smith@x", "name"),
        ("Ann.Smith@x1", "name"),
        ("annsmithx2026", "name"),
    ],
)
def test_what_is_guessed_soon_is_refused(password: str, reason: str):
    weakness = weakness_of(password, "ann.smith@x")
    assert reason in weakness
    assert ADVICE in weakness
    assert password not in weakness


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "tr0mbone-17-lake",
        "ann likes green tea",
        "password of my garden door",
        "0x8f3a91c2",
        "1234567890ab!",
        "żółta łódź na jeziorze",
    ],
)
def test_others_are_taken(password: str):
    assert weakness_of(password, "ann") == ""


def test_a_user_without_letters_in_the_name_is_no_reason():
    assert weakness_of("correct horse battery", "007") == ""
    assert "name" in weakness_of("4711471147", "4711471147")
