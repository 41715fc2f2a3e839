"""How much an owner has under way."""

from headgate.ports.access import Usage
from headgate.stores.postgres.connection import Session


async def usage_of(session: Session, owner: str) -> Usage:
    """How much an owner has under way, from the maintained counters."""
    return Usage(*await session.row("usage", owner=owner))
