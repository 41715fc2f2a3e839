"""Messages about a file that is not UTF-8 and has no stated encoding."""

_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_OTHERS = "(cp1251, shift_jis, …)"


def for_command(file: str, fits: str | None) -> str:
    """A message for the command line; `fits` is a matching encoding."""
    keep = "--encoding utf-8 keeps the rows that cannot be read as errors"
    if fits is None:
        return f"{file} is not UTF-8: state its encoding with --encoding {_OTHERS}; {keep}"
    looks = _NAMES.get(fits, fits)
    return f"{file} is not UTF-8; it looks like {looks}: add --encoding {fits}; {keep}"


def for_request(fits: str | None) -> str:
    """A message for the HTTP API; `fits` is a matching encoding."""
    keep = "send utf-8 to keep the rows that cannot be read as errors"
    if fits is None:
        return (
            f"this file is not in UTF-8: send its encoding as `encoding` in `read` {_OTHERS},"
            f" or {keep}"
        )
    return (
        f"this file is not in UTF-8, but can be read as {fits}: send that as `encoding` in"
        f" `read`, or {keep}"
    )
