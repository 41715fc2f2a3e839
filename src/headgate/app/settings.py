"""Load the settings from the file, the environment and the flags; each value has an origin.

Defaults and bounds are on the policy classes; this file only knows where values come from.
"""

from collections.abc import Iterator, Mapping
from enum import EnumType, StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from headgate.app.providers import SECTION, provider_leaf, with_presets
from headgate.app.providers import fields as provider_fields
from headgate.app.server_policy import ServerPolicy
from headgate.core.errors import BadSetting
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.gates.config import GateLimits, GatePolicy
from headgate.core.provider import ProviderPolicy
from headgate.core.redact_values import without_secrets
from headgate.core.retry import RetryPolicy
from headgate.core.sizing import ClaimPolicy, IngestPolicy
from headgate.engine.policy import Policies, RetentionPolicy, WorkerPolicy
from headgate.handlers.download.resolvers.options import ResolverPolicy
from headgate.net.policy import NetPolicy
from headgate.transfer.limits import Limits
from headgate.transfer.places.settings import PlaceSettings

DEFAULT_FILE = Path("headgate.toml")
PREFIX = "HEADGATE_"
SERVER_VARIABLE = "HEADGATE_SERVER"
"""Variable with the server for commands, if neither `--server` nor `--db` is given."""
NOT_SETTINGS = frozenset({"HEADGATE_DEBUG", SERVER_VARIABLE, "HEADGATE_TOKEN"})
"""Headgate's variables that are not settings."""


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class LogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the log on standard error."""

    level: LogLevel = LogLevel.WARNING
    """Lowest level that is logged."""
    format: LogFormat = LogFormat.TEXT
    """Format of the log: text for people, JSON for programs."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings."""

    database_url: str = "sqlite:///headgate.db"
    """The store: `sqlite:///FILE` or `postgresql://USER@HOST/NAME`."""
    handlers: tuple[str, ...] = ()
    """Handler sets: Python files, modules and TOML files, whose handlers are found by name."""
    retry: RetryPolicy = msgspec.field(default_factory=RetryPolicy)
    claim: ClaimPolicy = msgspec.field(default_factory=ClaimPolicy)
    ingest: IngestPolicy = msgspec.field(default_factory=IngestPolicy)
    worker: WorkerPolicy = msgspec.field(default_factory=WorkerPolicy)
    log: LogSettings = msgspec.field(default_factory=LogSettings)
    retention: RetentionPolicy = msgspec.field(default_factory=RetentionPolicy)
    net: NetPolicy = msgspec.field(default_factory=NetPolicy)
    gates: GatePolicy = msgspec.field(default_factory=GatePolicy)
    breaker: BreakerPolicy = msgspec.field(default_factory=BreakerPolicy)
    places: PlaceSettings = msgspec.field(default_factory=PlaceSettings)
    limits: Limits = msgspec.field(default_factory=Limits)
    download: ResolverPolicy = msgspec.field(default_factory=ResolverPolicy)
    server: ServerPolicy = msgspec.field(default_factory=ServerPolicy)
    providers: Mapping[str, ProviderPolicy] = msgspec.field(
        default_factory=lambda: with_presets([])
    )
    """Outside services by name, each as `[providers.NAME]`; the built-in ones are included."""

    @property
    def gate_limits(self) -> GateLimits:
        return GateLimits(self.providers, self.gates)

    @property
    def policies(self) -> Policies:
        return Policies(self.worker, self.claim, self.retry, self.retention)


class OriginKind(StrEnum):
    """Origins of values; a later one overrides an earlier one."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class SettingOrigin(NamedTuple):
    kind: OriginKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


class Leaf(NamedTuple):
    """A single setting: `retry.max_attempts_error`, with its type and default."""

    path: str
    type: Any
    default: Any

    @property
    def variable(self) -> str:
        return PREFIX + self.path.replace(".", "__").upper()


class Flag(NamedTuple):
    """A value from the command line; None means that the flag was not given."""

    path: str
    name: str
    value: Any


class Loaded(NamedTuple):
    settings: Settings
    origins: Mapping[str, SettingOrigin]
    warnings: tuple[str, ...]


class _Given(NamedTuple):
    value: Any
    origin: SettingOrigin


def load(
    file: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    flags: tuple[Flag, ...] = (),
) -> Loaded:
    """Settings from `file` (or ./headgate.toml if it exists), the environment and the flags."""
    given: dict[str, _Given] = dict(_from_file(file))
    in_environment, warnings = _from_environment(environment)
    given.update(in_environment)
    for flag in flags:
        if flag.value is not None:
            given[flag.path] = _Given(flag.value, SettingOrigin(OriginKind.FLAG, flag.name))
    origins = {leaf.path: SettingOrigin(OriginKind.DEFAULT) for leaf in LEAVES.values()}
    origins |= {path: one.origin for path, one in given.items()}
    return Loaded(_build(given), origins, warnings)


def leaves(struct: type[msgspec.Struct] = Settings, prefix: str = "") -> Iterator[Leaf]:
    for field in msgspec.structs.fields(struct):
        path = prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from leaves(field.type, path + ".")
        elif path != "providers":
            made = field.default_factory
            default = field.default if made is msgspec.NODEFAULT else made()
            yield Leaf(path, field.type, default)


LEAVES: Mapping[str, Leaf] = {leaf.path: leaf for leaf in leaves()}


def value_of(settings: Settings, path: str) -> Any:
    value: Any = settings
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _from_file(file: Path | None) -> Iterator[tuple[str, _Given]]:
    if file is None and not DEFAULT_FILE.exists():
        return
    import tomllib  # noqa: PLC0415  few projects have a file

    path = file or DEFAULT_FILE
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = ""
        if "=" in path.name or path.name.startswith("{"):
            hint = f"; -c is for the settings file: use --config {path} to configure the handler"
        raise BadSetting(f"cannot read the settings file {path}: {error.strerror}{hint}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} is not valid TOML: {error}") from error
    origin = SettingOrigin(OriginKind.FILE, str(path))
    for key, value in _flatten(tree):
        if not _is_setting(key):
            raise BadSetting(f"{path}: unknown setting {key!r}{_did_you_mean(key, _known(key))}")
        yield key, _Given(value, origin)


def _is_setting(path: str) -> bool:
    return path in LEAVES or provider_leaf(path) is not None


def _leaf(path: str) -> Leaf:
    found = provider_leaf(path)
    return Leaf(*found) if found else LEAVES[path]


def _known(path: str) -> list[str]:
    """The settings that the user may have meant."""
    if not path.startswith(SECTION):
        return [*LEAVES]
    name = path.removeprefix(SECTION).partition(".")[0]
    return [f"{SECTION}{name}.{field}" for field in provider_fields()]


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict) and not _is_setting(prefix + name):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _from_environment(
    environment: Mapping[str, str],
) -> tuple[dict[str, _Given], tuple[str, ...]]:
    known = {leaf.variable: leaf.path for leaf in LEAVES.values()}
    given: dict[str, _Given] = {}
    warnings: list[str] = []
    for name, text in sorted(environment.items()):
        if not name.startswith(PREFIX) or name in NOT_SETTINGS:
            continue
        path = known.get(name) or _provider_path(name)
        if path is None:
            hint = _did_you_mean(name, [*known])
            warnings.append(f"the environment variable {name} sets nothing{hint}")
        elif text:
            # An empty variable, as compose files and shells leave behind, is not a value.
            given[path] = _Given(text, SettingOrigin(OriginKind.ENVIRONMENT, name))
    return given, tuple(warnings)


def _provider_path(variable: str) -> str | None:
    """`HEADGATE_PROVIDERS__WIKIDATA__RATE` is `providers.wikidata.rate`."""
    path = variable.removeprefix(PREFIX).lower().replace("__", ".")
    return path if provider_leaf(path) else None


def _did_you_mean(name: str, known: list[str]) -> str:
    ending = name.removeprefix(PREFIX).rpartition(".")[2]
    same_ending = [one for one in known if one.endswith(("." + ending, "__" + ending))]
    import difflib  # noqa: PLC0415  only for mistyped names

    close = same_ending or difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _build(given: Mapping[str, _Given]) -> Settings:
    tree: dict[str, Any] = {}
    providers: list[tuple[str, Any]] = []
    for path, one in given.items():
        section, _, name = path.rpartition(".")
        value = _converted(_leaf(path), one)
        if path.startswith(SECTION):
            providers.append((path, value))
        else:
            (tree.setdefault(section, {}) if section else tree)[name] = value
    for field in msgspec.structs.fields(Settings):
        if isinstance(values := tree.get(field.name), dict):
            tree[field.name] = _section(field.type, field.name, values, given)
    if providers:
        tree["providers"] = with_presets(providers)
    return Settings(**tree)


def _section(
    kind: Any,
    name: str,
    values: Mapping[str, Any],
    given: Mapping[str, _Given],
) -> msgspec.Struct:
    try:
        section: msgspec.Struct = kind(**values)
    except ValueError as error:
        # Two values contradict each other: show the origin of every value of the section.
        origins = sorted({str(given[f"{name}.{key}"].origin) for key in values})
        raise BadSetting(f"[{name}] {error} (from {', '.join(origins)})") from error
    return section


def _is_list(kind: Any) -> bool:
    return any(get_origin(one) is tuple for one in (kind, *get_args(kind)))


def _converted(leaf: Leaf, given: _Given) -> Any:
    strict = given.origin.kind is OriginKind.FILE
    value = given.value
    if not strict and isinstance(value, str) and value != "null" and _is_list(leaf.type):
        value = [part.strip() for part in value.split(",")]
    try:
        if isinstance(value, str) and get_origin(leaf.type) is Mapping:
            value = msgspec.json.decode(value)
        return msgspec.convert(value, leaf.type, strict=strict)
    except msgspec.DecodeError as error:
        shown = without_secrets(given.value) if isinstance(given.value, str) else given.value
        choices: list[str] = list(leaf.type) if isinstance(leaf.type, EnumType) else []
        wanted = f"use one of {', '.join(choices)}" if choices else str(error).replace("`", "")
        raise BadSetting(f"{leaf.path} = {shown!r} in {given.origin}: {wanted}") from error
