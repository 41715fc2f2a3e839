"""Numbers and their nouns, in the right number."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 item`, `2,000 items`; a plural that does not end in s is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def agreeing(number: int, one: str, many: str) -> str:
    """The form of a word that goes with a number: `is` with 1, `are` with all others."""
    return one if number == 1 else many
