"""Finds handlers, with what the settings say about those that are shipped."""

import importlib
from collections.abc import Mapping
from functools import partial

import msgspec

from headgate.app.settings import Settings
from headgate.handlers.registry import DOWNLOAD, resolve
from headgate.ports.handler import HandlerSpec


class HandlerFinder:
    """Finds them as the processes of one project do."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        """The environment tells which keys of services are there."""
        self._settings = settings
        self._environment = environment

    def __call__(self, reference: str) -> HandlerSpec:
        """The handler, or UnknownHandler saying what was tried."""
        spec = resolve(reference, self._settings.handlers)
        return self._download(spec) if spec.reference == DOWNLOAD else spec

    def _download(self, spec: HandlerSpec) -> HandlerSpec:
        # Loaded by then; most commands never ask for it.
        download = importlib.import_module("headgate.handlers.download.handler")
        settings = self._settings
        known = download.Known(
            settings.download, settings.providers, self._environment, settings.net.user_agent
        )
        return msgspec.structs.replace(spec, for_job=partial(download.of_config, known=known))
