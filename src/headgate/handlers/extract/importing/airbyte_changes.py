"""Incremental streams of a manifest as `incremental`."""

import re
from typing import TYPE_CHECKING, Any, Final

from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import jmespath
from headgate.handlers.extract.importing.values import START, Filling, Tree

if TYPE_CHECKING:
    from headgate.handlers.extract.importing.airbyte_stream import StreamParts

_DURATION: Final = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
)
_SECONDS: Final = (31_536_000, 2_592_000, 604_800, 86_400, 3_600, 60, 1)


def incremental_of(stream: "StreamParts", filling: Filling) -> dict[str, Any] | None:
    """The words of `incremental`; None if every pass lists everything."""
    tree = stream.tree.get("incremental_sync")
    if not tree:
        return None
    filling.starts = frozenset({str(tree.get("partition_field_start") or "start_time")})
    filling.ends = frozenset({str(tree.get("partition_field_end") or "end_time")})
    if tree.get("type", "DatetimeBasedCursor") != "DatetimeBasedCursor":
        raise NotConvertible(str(tree["type"]))
    if problem := _problem(stream, tree):
        stream.note(f"every pass lists everything: {problem}")
        return None
    words: dict[str, Any] = {"cursor_path": _field(tree, filling)}
    if option := tree.get("start_time_option"):
        words["start_param"] = filling.text(str(option.get("field_name") or ""))
    if lag := span(tree.get("lookback_window")):
        words["lag"] = lag
    if (tree.get("end_time_option") or {}).get("field_name"):
        stream.note("a pass lists to the end; the upper bound of time is not sent")
    _note_start(stream, tree)
    return words


def span(text: object) -> str:
    """A duration of ISO 8601 as a span; empty if it is none."""
    match = _DURATION.fullmatch(str(text or ""))
    if match is None:
        return ""
    seconds = sum(
        int(each or 0) * unit for each, unit in zip(match.groups(), _SECONDS, strict=True)
    )
    return f"{seconds}s" if seconds else ""


def _problem(stream: "StreamParts", tree: Tree) -> str:
    option = tree.get("start_time_option") or {}
    formats = tree.get("cursor_datetime_formats") or []
    if stream.partition.parent:
        return "it is listed for each row of another stream"
    if option and option.get("inject_into") != "request_parameter":
        return f"the start of a pass would be sent in {option.get('inject_into')}"
    if not option and START not in str(_started(stream, tree)):
        return "the source has no filter by time"
    if formats and tree.get("datetime_format") not in formats:
        return "its filter takes times in another form than its rows have"
    return ""


def _started(stream: "StreamParts", tree: Tree) -> str:
    """`START` if the parameters of the stream refer to the start of the pass."""
    name = str(tree.get("partition_field_start") or "start_time")
    params = str(stream.requester.get("request_parameters") or "")
    roots = r"(?:stream_interval|stream_slice|stream_partition)"
    is_named = re.search(rf"{roots}(?:\.|\[\\?['\"]|\.get\(\\?['\"]){re.escape(name)}", params)
    return START if is_named else ""


def _field(tree: Tree, filling: Filling) -> str:
    return jmespath(filling.text(str(tree.get("cursor_field") or "")).split("."))


def _note_start(stream: "StreamParts", tree: Tree) -> None:
    start = tree.get("start_datetime")
    value = start.get("datetime") if isinstance(start, dict) else start
    if value:
        stream.note(
            f"the first pass lists everything; the original begins at {str(value)[:60]!r}: set"
            " incremental.initial_value for that"
        )
