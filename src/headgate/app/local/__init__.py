"""The service interface of `app/service.py` on an open store; one module per topic."""

from headgate.app.local.service import LocalService

__all__ = ["LocalService"]
