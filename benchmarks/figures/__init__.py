"""One module a figure; the order here is the order of the table."""

from __future__ import annotations

from benchmarks.figures import (
    browsing,
    cache,
    download,
    drain_postgres,
    drain_sqlite,
    extract,
    http,
    ingest,
    memory,
    paging,
    scale,
    serving,
    strays,
    waiting,
    xlsx,
)
from benchmarks.harness import Figure

FIGURES: tuple[Figure, ...] = (
    *drain_sqlite.FIGURES,
    *drain_postgres.FIGURES,
    *ingest.FIGURES,
    *waiting.FIGURES,
    *memory.FIGURES,
    *scale.FIGURES,
    *paging.FIGURES,
    *cache.FIGURES,
    *http.FIGURES,
    *strays.FIGURES,
    *extract.FIGURES,
    *download.FIGURES,
    *serving.FIGURES,
    *xlsx.FIGURES,
    *browsing.FIGURES,
)
