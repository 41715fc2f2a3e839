"""Header fields by name."""

from collections.abc import Iterator, Mapping

from headgate.ports.wire import Headers


def folded(headers: Headers) -> dict[str, str]:
    """Return the fields by lower-case name; repeated fields are joined by a comma."""
    fields = dict(headers)
    if len(fields) != len(headers):
        fields.clear()
        for name, value in headers:
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


class Fields(Mapping[str, str]):
    __slots__ = ("_fields",)

    def __init__(self, headers: Headers) -> None:
        self._fields = folded(headers)

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._fields

    def __repr__(self) -> str:
        return f"Fields({self._fields!r})"
