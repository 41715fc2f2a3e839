"""The verbs of `app/service.py` on a store at hand; one file per noun."""

from headgate.app.local.service import LocalService

__all__ = ["LocalService"]
