"""The identity of a job, and of an item's input whose result may be reused.

A job is the same if its handler, source, key and the options that decide the result are the same.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from headgate.core.job import Binding, Job, NewJob
from headgate.core.redact_values import values_without_secrets

CONFIG = "config"
REUSE = "reuse"
"""The name in a job's config that `--reuse` sets."""
READING = ("format", "delimiter", "encoding", "sheet")
"""Options that decide how the bytes of a source become rows."""
BAD_ROWS = "on_bad_row"
VERSION = "version"

LONGEST_SHOWN = 100
"""Most characters of a value in a message."""

Exists = Callable[[str], bool]
"""Whether a path has a file."""
_canonical = msgspec.json.Encoder(order="deterministic").encode


class OptionDifference(NamedTuple):
    option: str
    stored: str | None
    given: str | None

    def __str__(self) -> str:
        if self.option == VERSION:
            return f"{_version(self.stored)} of its handler, which has {_version(self.given)} now"
        before = f"with {self._words(self.stored)}" if self.stored else f"without {self.option}"
        after = self._words(self.given) if self.given else f"no {self.option}"
        return f"{before}, and this command has {after}"

    def _words(self, value: str | None) -> str:
        return f"{self.option.split()[0]} {value}"


def differences(job: Job, new: NewJob) -> list[OptionDifference]:
    """The options that have changed since the job was made.

    For a job that was made before its options were stored, only the config is compared.
    """
    found = [] if job.options is None else _of_options(job.options, new.options or {})
    return [*found, *_of_config(job.config, new.config)]


def _of_options(stored: Mapping[str, Any], given: Mapping[str, Any]) -> list[OptionDifference]:
    return [
        OptionDifference(_flag(name), _text(stored.get(name)), _text(given.get(name)))
        for name in (*READING, BAD_ROWS, VERSION)
        if stored.get(name) != given.get(name)
    ]


def _of_config(stored: Mapping[str, Any], given: Mapping[str, Any]) -> list[OptionDifference]:
    found = []
    for name in {**stored, **given}:
        if name in stored and name in given and _same(stored[name], given[name]):
            continue
        if name == REUSE:
            pair = (_text(stored.get(name)), _text(given.get(name)))
            found.append(OptionDifference("--reuse", *pair))
            continue
        before = _pair(name, stored[name]) if name in stored else None
        after = _pair(name, given[name]) if name in given else None
        found.append(OptionDifference(f"--{CONFIG} {name}", before, after))
    return found


def _same(one: Any, other: Any) -> bool:
    # As JSON, because True is not 1 and 2.0 is not 2 there.
    return _canonical(one) == _canonical(other)


def _pair(name: str, value: Any) -> str:
    return f"{name}={_text(values_without_secrets(value, name)) or 'null'}"


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else _canonical(value).decode()
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
    return text if text and text.isprintable() else repr(text)


def _flag(name: str) -> str:
    return VERSION if name == VERSION else f"--{name.replace('_', '-')}"


def _version(value: str | None) -> str:
    return f"version {value}" if value else "no version"


def same_config(job: Job, new: NewJob) -> bool:
    return not _of_config(job.config, new.config)


def _difference_text(each: OptionDifference, handler: str) -> str:
    if each.option != VERSION:
        return str(each)
    if handler.endswith(".toml"):  # its version is a digest, which no user can read
        return f"with an earlier version of {handler_name(handler)}"
    return f"with {each}"


def options_refusal(job: Job, found: Sequence[OptionDifference], handler: str) -> str:
    what = "; ".join(f"job {job.id} was made {_difference_text(each, handler)}" for each in found)
    text = (
        f"{what}. Rows that are finished would keep their old results, so the job is not resumed:"
    )
    if any(each.option != VERSION for each in found):
        text += (
            " `--new` starts another job with the new options;"
            f" with the old options, job {job.id} continues"
        )
    else:
        text += " `--new` starts another job"
    if any(each.option == VERSION for each in found):
        text += (
            f"; `headgate jobs rebind {job.id} {handler}` continues with the new version for the"
            " rows that are not finished"
        )
    return text


def file_of(handler: str) -> str:
    """The file that a handler's reference names: Python or TOML; "" for one without a file."""
    if handler.endswith(".toml"):
        return handler
    path, colon, _ = handler.rpartition(":")
    return path if colon and (path.endswith(".py") or "/" in path) else ""


def handler_name(handler: str) -> str:
    """A handler's reference without its folder: `lookup.py:price`."""
    return PurePath(handler).name if file_of(handler) else handler


def has_moved(job: Job, new: NewJob, exists: Exists, home: str) -> bool:
    """Whether `new` asks for a job whose files were moved.

    The old source must be gone, or both could be meant. Then either the content is the same, or
    handler, source and store (in the folder `home`) were moved with one folder.
    """
    places = (job.source, new.source)
    if not all(PurePath(place).is_absolute() for place in places) or exists(job.source):
        return False
    if not _is_same_handler(job.handler, new.handler, exists):
        return False
    if job.fingerprint and job.fingerprint == new.fingerprint:
        return True
    move = _move(job.source, new.source)
    if move is None or not home or not PurePath(home).is_relative_to(move[1]):
        return False
    return job.handler == new.handler or move == _move(file_of(job.handler), file_of(new.handler))


def _is_same_handler(before: str, after: str, exists: Exists) -> bool:
    if before == after:
        return True
    old = file_of(before)
    return bool(old) and handler_name(before) == handler_name(after) and not exists(old)


def _move(before: str, after: str) -> tuple[PurePath, PurePath] | None:
    """The two folders that a path was moved between; None if its name differs."""
    old, new = PurePath(before), PurePath(after)
    if old == new or old.name != new.name:
        return None
    while old.name == new.name and old.name:
        old, new = old.parent, new.parent
    return old, new


def moved_path(path: str, job: Job, new: NewJob) -> str:
    """The new path of a file, if it was in the folder that was moved with a job's source."""
    move = _move(job.source, new.source)
    if move is None or not PurePath(path).is_relative_to(move[0]):
        return path
    return str(move[1] / PurePath(path).relative_to(move[0]))


def binding_changes(job: Job, binding: Binding) -> str:
    pairs = [
        (name, getattr(job, name), getattr(binding, name))
        for name in ("handler", "source")
        if getattr(job, name) != getattr(binding, name)
    ]
    return "; ".join(f"{name} {old} → {new}" for name, old, new in pairs) or "options changed"


def result_digest(handler: str, version: str, data: str | Mapping[str, Any]) -> str:
    """A digest that is equal for two items if the result of one is valid for the other.

    `data` is the normalized input where there is one, else the input; as JSON text or as a value,
    with its members in any order.
    """
    value = msgspec.json.decode(data) if isinstance(data, str) else data
    return blake2b(_canonical([handler, version, value]), digest_size=16).hexdigest()
