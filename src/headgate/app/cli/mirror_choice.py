"""Finds the mirror, stream or pass that a command names."""

from collections.abc import Sequence
from typing import NamedTuple

from headgate.app.service import MirrorVerbs, StreamPlace
from headgate.core.errors import UnknownMirror, UsageError
from headgate.schema.mirrors import MirrorView, PassView, StreamView


class FoundStream(NamedTuple):
    mirror: MirrorView
    stream: StreamView

    @property
    def place(self) -> StreamPlace:
        return StreamPlace(int(self.mirror.id), int(self.stream.id))

    @property
    def name(self) -> str:
        return f"{self.mirror.name}/{self.stream.name}"


async def find_mirror(mirrors: MirrorVerbs, name: str) -> MirrorView:
    """The mirror with that name, or with that number where several owners have the name."""
    listed = await mirrors.ls()
    named = [each for each in listed if each.name == name]
    found = named or [each for each in listed if each.id == name]
    if not found:
        raise UnknownMirror(f"there is no mirror {name!r}; {_there_are(listed)}")
    if len(found) > 1:
        numbers = ", ".join(f"{each.id} of {each.owner}" for each in found)
        raise UsageError(f"several mirrors have the name {name!r}: give a number ({numbers})")
    return found[0]


async def find_stream(mirrors: MirrorVerbs, text: str) -> FoundStream:
    """The stream `MIRROR/STREAM`, or `STREAM` if only one mirror has it."""
    listed = await mirrors.ls()
    streams = [FoundStream(mirror, each) for mirror in listed for each in mirror.streams]
    named = [each for each in streams if text in {each.name, each.stream.name}]
    found = named or [each for each in streams if text == f"{each.mirror.id}/{each.stream.name}"]
    if not found:
        known = ", ".join(each.name for each in streams)
        raise UnknownMirror(
            f"there is no stream {text!r}; "
            + (f"there are {known}" if known else _there_are(listed))
        )
    if len(found) > 1:
        choices = ", ".join(f"{each.mirror.id}/{each.stream.name}" for each in found)
        raise UsageError(f"several mirrors have a stream {text!r}: write {choices}")
    return found[0]


async def find_pass(mirrors: MirrorVerbs, text: str) -> PassView:
    """The pass with that number, or the newest one of the mirror with that name."""
    if text.isdigit():
        return await mirrors.show(int(text))
    mirror = await find_mirror(mirrors, text)
    if mirror.newest is None:
        raise UsageError(f"mirror {text!r} has no pass any more")
    return mirror.newest


def _there_are(mirrors: Sequence[MirrorView]) -> str:
    names = ", ".join(dict.fromkeys(each.name for each in mirrors))
    if names:
        return f"there are {names}"
    return "there is no mirror yet: `headgate extract SOURCE` makes one"
