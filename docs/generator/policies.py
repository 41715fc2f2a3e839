"""Settings and providers, from the classes that use them."""

import inspect
import re
from collections.abc import Mapping
from enum import EnumType

import msgspec

from generator.tables import changes, documented_fields, field_table, one_line, table
from headgate.app.settings import LEAVES, Leaf, Settings
from headgate.core import login, provider
from headgate.core.gates.config import GatePolicy
from headgate.core.provider import CachePolicy, CredentialPolicy, InlineRetry, ProviderPolicy

PROVIDER_PARTS: Mapping[str, type[msgspec.Struct]] = {
    "providers.NAME": ProviderPolicy,
    "providers.NAME.credentials.KEY": CredentialPolicy,
    "providers.NAME.credentials.KEY.login": login.LoginPolicy,
    "providers.NAME.credentials.KEY.user": login.UserPassword,
    "providers.NAME.retry": InlineRetry,
    "providers.NAME.cache": CachePolicy,
    "gates": GatePolicy,
}
MANNERS = re.compile(r'((?: +# .*\n)+) +"(\w+)": ProviderPolicy\(')
"""What stands above a shipped provider: what it asks for, and where it says so."""
ADDRESS = re.compile(r"https://\S+?(?=[:;,.)]*(?:\s|$))")


def setting_sections() -> str:
    """A table for each section of the settings."""
    sections: dict[str, list[Leaf]] = {}
    for leaf in LEAVES.values():
        sections.setdefault(leaf.path.rpartition(".")[0], []).append(leaf)
    meanings = dict(documented_fields(Settings))
    parts = []
    for section, found in sections.items():
        rows = [
            (f"`{leaf.path}`", f"`{leaf.variable}`", _default(leaf), meanings[leaf.path])
            for leaf in found
        ]
        title = f"## The section `[{section}]`" if section else "## At the top of the file"
        parts += [title, table(("setting", "variable", "default", "meaning"), rows)]
    return "\n\n".join(parts)


def _default(leaf: Leaf) -> str:
    if leaf.default is None:
        return "unset"
    if leaf.default == ():
        return "none"
    choices: list[str] = list(leaf.type) if isinstance(leaf.type, EnumType) else []
    others = [f"`{each}`" for each in choices if each != leaf.default]
    return f"`{leaf.default}`" + (f" (or {', '.join(others)})" if others else "")


def provider_settings() -> str:
    """A table for providers, for each of their parts, and for what holds at every gate."""
    return "\n\n".join(
        f"## The section `[{section}]`\n\n{field_table(policy)}"
        for section, policy in PROVIDER_PARTS.items()
    )


def shipped_providers() -> str:
    """Each with what it asks for, where it says so, and what is made of that."""
    manners = {name: text for text, name in MANNERS.findall(inspect.getsource(provider))}
    return "\n\n".join(
        f"### {name}\n\n{_linked(manners[name])}\n\n"
        f"```toml\n[providers.{name}]\n{changes(policy)}\n```"
        for name, policy in provider.PRESETS.items()
    )


def _linked(comment: str) -> str:
    text = one_line(re.sub(r"^ *# ", "", comment, flags=re.MULTILINE))
    return ADDRESS.sub(lambda found: f"<{found[0]}>", text)
