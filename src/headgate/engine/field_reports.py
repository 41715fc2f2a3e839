"""Remembers which fields of rows the store knows, so that each is sent once by a process."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from headgate.core.mirror import Attachment

Fields = dict[str, int]


class FieldReports:
    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Fields] = {}
        """The types of each field by job and stream, as they were committed."""

    def unreported(self, attachments: Sequence[Attachment]) -> list[Attachment]:
        """The same attachments, with only the fields and types that are news to the store."""
        return [
            replace(each, fields=self._news(each)) if each.fields else each for each in attachments
        ]

    def reported(self, attachments: Sequence[Attachment], refused: Sequence[int]) -> None:
        """Remember what was committed; a refused attachment was not."""
        lost = frozenset(refused)
        for each in attachments:
            if each.item_id in lost:
                continue
            for stream, fields in each.fields.items():
                known = self._known.setdefault((each.job_id, stream), {})
                for name, types in fields.items():
                    known[name] = known.get(name, 0) | types

    def _news(self, attachment: Attachment) -> Mapping[str, Fields]:
        news: dict[str, Fields] = {}
        for stream, fields in attachment.fields.items():
            known = self._known.get((attachment.job_id, stream), {})
            found = {name: bits for name, bits in fields.items() if bits & ~known.get(name, 0)}
            if found:
                news[stream] = found
        return news
