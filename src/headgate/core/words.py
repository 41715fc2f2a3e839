"""Numbers with their nouns, in singular or plural."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 item`, `2,000 items`; give a plural that does not end in s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def agreeing(number: int, one: str, many: str) -> str:
    """The form of a word that goes with a number: `is` with 1, `are` with all others."""
    return one if number == 1 else many
