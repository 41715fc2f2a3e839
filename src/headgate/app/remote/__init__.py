"""The service interface of `app/service.py` over HTTP; one module per topic."""

from headgate.app.remote.service import RemoteService, connected

__all__ = ["RemoteService", "connected"]
