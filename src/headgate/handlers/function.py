"""The `@handler` decorator."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from headgate.core.errors import UsageError
from headgate.core.provider import ProviderPolicy
from headgate.ports.handler import HandlerSpec

Function = TypeVar("Function", bound=Callable[..., Any])

MARK = "__headgate_handler__"


def handler(  # noqa: PLR0913 (each is an option that users write by name)
    name: str,
    *,
    provider: str | None = None,
    rate: str = "",
    burst: int | None = None,
    concurrency: int | None = None,
    budget: Mapping[str, str] | None = None,
    gate_of: Callable[[Mapping[str, Any]], str] | None = None,
    strategies: Sequence[str] = (),
    normalize: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
    pack: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    version: str = "",
    needs: Sequence[str] = (),
    config_schema: Mapping[str, Any] | None = None,
) -> Callable[[Function], Function]:
    """Make a function a handler; the function stays callable as before.

        @handler("price.lookup", timeout=30)
        async def price(item, ctx):
            return {"price": 12.5}

    `provider` names the service of the requests, as in the settings. `rate="5/s"`, `burst`,
    `concurrency` and `budget={"tokens": "90000/min"}` set its limits where the settings do not.
    `gate_of(input)` names the host or provider that a single item waits for. `strategies` are query
    variants, tried in order while the outcome is NotFound: see `ctx.strategy`. `normalize(input)`
    fills `item.normalized`. With `pack=N` the function takes a list of up to N items and returns
    a list of as many outcomes. `timeout` is in seconds, for one item or one pack. Change `version`
    when the same input gives another result than before, so that earlier results are not reused.
    `needs` names the columns that a row must have. `config_schema` is the JSON Schema of a job's
    config. Users see both before they start a job.
    """
    _check(name, pack, timeout, memory_mb)
    _check_words(name, version, needs)
    limits = _limits(name, rate=rate, burst=burst, concurrency=concurrency, budget=budget or {})

    def mark(function: Function) -> Function:
        spec = HandlerSpec(
            name=name,
            reference=f"{function.__module__}:{getattr(function, '__qualname__', name)}",
            call=function,
            is_async=is_async(function),
            provider=provider or (name if limits else None),
            gate_of=gate_of,
            strategies=tuple(strategies),
            normalize=normalize,
            pack=pack,
            timeout_s=timeout,
            memory_mb=memory_mb,
            limits=limits,
            about=first_line(function.__doc__),
            version=version,
            needs=tuple(needs),
            config_schema=config_schema,
        )
        setattr(function, MARK, spec)
        return function

    return mark


def marked(function: object) -> HandlerSpec | None:
    spec = getattr(function, MARK, None)
    return spec if isinstance(spec, HandlerSpec) else None


def first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0].strip()


def is_async(function: object) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 (the method is looked at, not called)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _limits(name: str, **given: object) -> ProviderPolicy | None:
    if not any(given.values()):
        return None
    try:
        return msgspec.convert(given, ProviderPolicy)
    except ValueError as error:
        raise UsageError(f"handler {name}: {error}") from error


def _check(name: object, pack: int | None, timeout: float | None, memory_mb: int | None) -> None:
    if callable(name):
        raise UsageError('write `@handler("some.name")` above the function, not a bare `@handler`')
    if not isinstance(name, str) or not name.strip():
        raise UsageError("a handler needs a name, such as `price.lookup`")
    _check_number(name, "timeout", timeout, "in seconds, such as timeout=5")
    _check_number(name, "memory_mb", memory_mb, "in megabytes, such as memory_mb=500")
    _check_number(name, "pack", pack, "the size of a pack, such as pack=50")
    if pack is not None and pack < 1:
        raise UsageError(f"handler {name}: `pack` is the size of a pack, at least 1, not {pack}")
    if timeout is not None and timeout <= 0:
        raise UsageError(f"handler {name}: `timeout` is in seconds, above 0, not {timeout}")
    if memory_mb is not None and memory_mb < 1:
        raise UsageError(f"handler {name}: `memory_mb` is at least 1, not {memory_mb}")


def _check_number(name: str, option: str, value: object, meaning: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UsageError(f"handler {name}: `{option}` is a number, {meaning}, not {value!r}")


def _check_words(name: str, version: object, needs: object) -> None:
    if not isinstance(version, str):
        raise UsageError(f'handler {name}: `version` is text, such as "2", not {version!r}')
    if isinstance(needs, str):
        raise UsageError(f"handler {name}: `needs` is a list of columns: [{needs!r}]")
