"""Python code as handlers: import it, find its functions, and report what is wrong with it."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import traceback
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from headgate.core.errors import UnknownHandler
from headgate.handlers.function import first_line, is_async, marked
from headgate.handlers.search_path import importing_from, is_hidden
from headgate.ports.handler import HandlerSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load_entry(entry: "EntryPoint") -> object:
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise UnknownHandler(f"handler {entry.name!r} ({entry.value}): {_cause(error)}") from error


def load_module(name: str) -> ModuleType:
    file = Path(*name.split(".")).with_suffix(".py")
    if is_hidden(name) and file.is_file():
        raise UnknownHandler(
            f"{name!r} is also a module of Python, which hides your file {file};"
            f" write `{file}:function`, or rename the file"
        )
    try:
        with importing_from(Path.cwd()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UnknownHandler(f"the module {name!r} does not exist") from error
        raise UnknownHandler(f"module {name!r} cannot be imported: {_cause(error)}") from error
    except (Exception, SystemExit) as error:
        raise UnknownHandler(f"module {name!r} cannot be imported: {_cause(error)}") from error


def load_file(path: Path) -> ModuleType:
    """Load a file once for each process, under a module name that its path decides."""
    if not path.is_file():
        raise UnknownHandler(f"the file {path} does not exist")
    with _loading:
        return _load_file(path)


_loading = threading.RLock()
"""Lets one thread load at a time: another must not find a half-executed module."""


class _HandlerLoader(SourceFileLoader):
    """Compiles the file each time it is loaded.

    Python takes cached bytecode for current if the source has the same size and was saved in the
    same second. A one-letter fix right after a failed run would have no effect.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _load_file(path: Path) -> ModuleType:
    name = f"headgate_file_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    if path.suffix != ".py":
        raise UnknownHandler(f"{path} is not a Python file")
    loader = _HandlerLoader(name, str(path))
    spec = ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with importing_from(path.parent):
            loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UnknownHandler(f"{path} cannot be imported: {_cause(error, path)}") from error
    return module


def member(module: ModuleType, name: str, where: str) -> object:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            hint = did_you_mean(name, functions_in(module))
            raise UnknownHandler(f"{where} has no function {name!r}{hint}")
    return found


def functions_in(module: ModuleType) -> list[str]:
    """Names of the module's own functions, functions with `@handler` first."""
    functions = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (marked(value) or (inspect.isfunction(value) and value.__module__ == module.__name__))
    }
    return sorted(functions, key=lambda name: marked(functions[name]) is None)


def did_you_mean(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415  needed only after a typing error

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f" (it has {', '.join(known[:8])})" if known else ""


def described(function: object, reference: str) -> HandlerSpec:
    if inspect.isclass(function) or not callable(function):
        raise UnknownHandler(f"{reference} is a {_kind(function)}, not a function")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise UnknownHandler(f"{reference} yields; a handler returns its outcome")
    spec = marked(function)
    _check_parameters(function, reference, pack=spec is not None and spec.pack is not None)
    if spec is not None:
        return msgspec.structs.replace(spec, reference=reference)
    about = first_line(function.__doc__)
    return HandlerSpec(reference, reference, function, is_async(function), about=about)


def _kind(value: object) -> str:
    return "class" if inspect.isclass(value) else type(value).__name__


def _check_parameters(function: object, reference: str, *, pack: bool) -> None:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]  # it was found callable
    except ValueError:
        return  # some functions written in C have no signature
    try:
        signature.bind(None, None)
    except TypeError as error:
        wanted = "(items, ctx)" if pack else "(item, ctx)"
        raise UnknownHandler(
            f"{reference} takes {signature}, but a handler is called with {wanted}",
        ) from error


def _cause(error: BaseException, path: Path | None = None) -> str:
    """Describe an error in the user's code, with its line."""
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if path is None or frame.filename == str(path)]
    frame = own[-1] if own else (frames[-1] if frames else None)
    where = f"line {frame.lineno} of {frame.filename}: " if frame else ""
    return f"{where}{what}"
