"""Checks an imported source as a pass would, with invented values for its settings."""

import re
from collections.abc import Mapping
from typing import Any, Final

from headgate.core.errors import UsageError
from headgate.handlers.extract.handler import bound_source
from headgate.handlers.extract.source import texts_in

_NAMED: Final = re.compile(r"(?<!\{)\{([^{}?]+)\??\}(?!\})")
_INVENTED: Final = "invented"


def binding_problem(tree: Mapping[str, Any]) -> tuple[str, str] | None:
    """The stream that is wrong and why; an empty name if it is not a stream. None: all is well."""
    try:
        bound_source(_with_fixed_host(tree), _values(tree), _Anything())
    except UsageError as error:
        reason = str(error)
        return _stream_of(reason, tree), reason
    return None


class _Anything(dict[str, str]):
    """An environment in which every variable is set."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002  as a mapping has it
        return _INVENTED


def _with_fixed_host(tree: Mapping[str, Any]) -> dict[str, Any]:
    client = dict(tree["client"])
    if client["base_url"].startswith("{"):
        client["base_url"] = "https://example.org/" + client["base_url"]
    return {**tree, "client": client}


def _values(tree: Mapping[str, Any]) -> dict[str, str]:
    names = {name for text in texts_in(tree) for name in _NAMED.findall(text)}
    return {name: _INVENTED for name in names if not name.startswith(("env.", "resources."))}


def _stream_of(reason: str, tree: Mapping[str, Any]) -> str:
    numbered = re.match(r"resources\[(\d+)\]", reason)
    if numbered:
        return str(tree["resources"][int(numbered[1])]["name"])
    names = [str(each["name"]) for each in tree["resources"]]
    fitting = [name for name in names if reason.startswith((f"{name}.", f"{name}:"))]
    return max(fitting, key=len, default="")
