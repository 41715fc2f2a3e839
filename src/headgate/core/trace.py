"""Where in the user's code a handler failed: a traceback that is short and safe to store.

Frames of Headgate and of the interpreter say nothing about the mistake and are left out.
"""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

import msgspec

from headgate.core.fault import error_text, storable
from headgate.core.redact_text import redacted

FRAMES = 8
"""Number of frames kept of each exception, the last ones."""
TEXT_BYTES = 4_000
"""Most bytes stored for one attempt, in UTF-8."""
CHAIN = 4
"""Number of exceptions shown: the one that was raised, and its causes."""
WORDS = 500
"""Longest message of one exception, in characters."""
CODE = 160
"""Longest line of code, in characters."""
REPEATS = 2
"""Times that the same frame is shown in a row before the rest are counted."""
PACKAGES = ("/site-packages/", "/dist-packages/")


class Frame(msgspec.Struct, frozen=True):
    file: str
    line: int
    name: str
    code: str
    own: bool
    """In the project; not in an installed package."""


class Trace(msgspec.Struct, frozen=True):
    where: str
    """The innermost line of the project that was running, such as `lookup.py:12`."""
    text: str


CodeAt = Callable[[str, int], str]
"""The text of a line in a file; empty if there is none."""


class Grounds(msgspec.Struct, frozen=True):
    """The folders by which files are classified: absolute paths without a slash at the end."""

    headgate: str
    interpreter: str
    project: str
    """Paths below it are shown relative to it."""
    roots: tuple[str, ...] = ()
    """Folders that modules are imported from; paths elsewhere are shown relative to these."""
    code_at: CodeAt | None = None
    """Reads a line of code; without it, none is shown."""


def trace_of(error: BaseException, grounds: Grounds) -> Trace | None:
    """The trace of an exception; None if it has no line of the user's code."""
    blocks: list[list[str]] = []
    where = ""
    for words, frames, intro in _chain(error, grounds):
        blocks.append([*intro, *_lines(frames), words])
        where = _where(frames) or where
    if not where:
        return None
    shown = [redacted(storable("\n".join(block))) for block in blocks]
    return Trace(redacted(storable(where)), _bounded(shown))


def trace_in(text: str | None) -> Trace | None:
    return None if not text else msgspec.json.decode(text, type=Trace)


Link = tuple[str, list[Frame], list[str]]
"""An exception in words, its frames, and its relation to the one before."""


def _chain(error: BaseException, grounds: Grounds) -> Iterator[Link]:
    """The exceptions from the first cause to the one that was raised."""
    links: list[Link] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(links) < CHAIN:
        seen.add(id(current))
        behind, relation = _previous_error(current)
        intro = ["", relation, ""] if behind is not None and id(behind) not in seen else []
        links.append((_words(current, grounds), _frames(current, grounds), intro))
        current = behind
    if links and current is not None:
        words, frames, _ = links[-1]
        links[-1] = (words, frames, [])
    for words, frames, intro in reversed(links):
        yield words, frames, intro
    yield from _members(error, grounds)


def _previous_error(error: BaseException) -> tuple[BaseException | None, str]:
    if error.__cause__ is not None:
        return error.__cause__, "This was the cause of:"
    if error.__context__ is not None and not error.__suppress_context__:
        return error.__context__, "While this was handled, another exception was raised:"
    return None, ""


def _members(error: BaseException, grounds: Grounds) -> Iterator[Link]:
    """The first exceptions of a group, at any depth."""
    if not isinstance(error, BaseExceptionGroup):
        return
    leaves = list(_leaves(error))
    for number, leaf in enumerate(leaves[:CHAIN], start=1):
        intro = ["", f"Exception {number} of {len(leaves)} in the group:", ""]
        yield _words(leaf, grounds), _frames(leaf, grounds), intro


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for inner in group.exceptions:
        if isinstance(inner, BaseExceptionGroup):
            yield from _leaves(inner)
        else:
            yield inner


def _words(error: BaseException, grounds: Grounds) -> str:
    words = error_text(error)
    if len(words) > WORDS:
        words = f"{words[:WORDS]}…"
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        shown, _ = _short_path(error.filename, grounds)
        code = (error.text or "").strip()[:CODE]
        return "\n".join([f'  File "{shown}", line {error.lineno}', *_code(code), words])
    return words


def _frames(error: BaseException, grounds: Grounds) -> list[Frame]:
    """The last frames, the innermost at the end."""
    found: list[tuple[TracebackType, str]] = []
    step = error.__traceback__
    while step is not None:
        path = step.tb_frame.f_code.co_filename.replace("\\", "/")
        if not _is_foreign(path, grounds):
            found.append((step, path))
        step = step.tb_next
    return [_frame(step, path, grounds) for step, path in found[-FRAMES * (REPEATS + 1) :]]


def _frame(step: TracebackType, path: str, grounds: Grounds) -> Frame:
    code = step.tb_frame.f_code
    line = step.tb_lineno or code.co_firstlineno
    text = grounds.code_at(code.co_filename, line).strip() if grounds.code_at else ""
    shown, own = _short_path(path, grounds)
    return Frame(shown, line, code.co_name, text[:CODE], own)


def _is_foreign(path: str, grounds: Grounds) -> bool:
    if path.startswith(("<frozen ", f"{grounds.headgate}/")):
        return True
    inside = path.startswith(f"{grounds.interpreter}/")
    return inside and not any(folder in path for folder in PACKAGES)


def _short_path(path: str, grounds: Grounds) -> tuple[str, bool]:
    """A path as it is shown, and whether it is the project's own."""
    path = path.replace("\\", "/")
    for folder in PACKAGES:
        if folder in path:
            return f"{folder[1:]}{path.rpartition(folder)[2]}", False
    for root in (grounds.project, *sorted(grounds.roots, key=len, reverse=True)):
        if root and path.startswith(f"{root}/"):
            return path[len(root) + 1 :], True
    return path, True


def _where(frames: Sequence[Frame]) -> str:
    own = [frame for frame in frames if frame.own] or list(frames)
    return f"{own[-1].file}:{own[-1].line}" if own else ""


def _lines(frames: Sequence[Frame]) -> list[str]:
    shown: list[tuple[Frame, int]] = []
    for frame in frames:
        if shown and shown[-1][0] == frame:
            shown[-1] = (frame, shown[-1][1] + 1)
        else:
            shown.append((frame, 1))
    lines: list[str] = []
    for frame, times in shown[-FRAMES:]:
        lines += [f'  File "{frame.file}", line {frame.line}, in {frame.name}', *_code(frame.code)]
        if times > 1:
            lines.append("    (this call is repeated)")
    return lines


def _code(code: str) -> list[str]:
    return [f"    {code}"] if code else []


def _bounded(blocks: list[str]) -> str:
    """The blocks in order, without the first ones if all together are too long."""
    left_out = False
    while len(blocks) > 1 and len("\n".join(blocks).encode(errors="replace")) > TEXT_BYTES - 100:
        blocks = blocks[1:]
        left_out = True
    text = "\n".join(["(earlier exceptions are left out)", *blocks] if left_out else blocks)
    text = text.strip("\n").replace("\0", "\\0")
    cut = text.encode(errors="backslashreplace")
    return text if len(cut) <= TEXT_BYTES else f"…{cut[-TEXT_BYTES + 10 :].decode(errors='ignore')}"
