"""The verbs of `app/service.py` asked of a server; one file per noun."""

from headgate.app.remote.service import RemoteService, connected

__all__ = ["RemoteService", "connected"]
