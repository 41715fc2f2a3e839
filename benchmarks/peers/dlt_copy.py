"""dlt copies the rows of a Datasette into DuckDB, by Parquet, which is its fastest way there."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"


def resource(name: str, options: argparse.Namespace, **extra: int) -> dict[str, Any]:
    params = {"_size": options.page, "_shape": "objects", "_nofacet": 1, "_nosuggest": 1}
    return {
        "name": name,
        "table_name": "articles",
        "endpoint": {
            "path": "articles.json",
            "params": {**params, "_nocount": 1, **extra},
            "data_selector": "rows",
            "paginator": {"type": "json_link", "next_url_path": "next_url"},
        },
    }


def resources(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One as people write it, or as many ranges of ids as there are parts."""
    if options.parts == 1:
        return [resource("articles", options)]
    step = -(-options.rows // options.parts)
    return [
        {
            **resource(f"articles_{part}", options, id__gt=part * step, id__lte=(part + 1) * step),
            "parallelized": True,
        }
        for part in range(options.parts)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--page", type=int, required=True)
    parser.add_argument("--parts", type=int, required=True)
    options = parser.parse_args()
    started = time.perf_counter()
    import dlt  # noqa: PLC0415  a user who starts it waits for this too
    from dlt.sources.rest_api import rest_api_source  # noqa: PLC0415

    config = {
        "client": {"base_url": f"{options.url}/"},
        "resource_defaults": {"primary_key": "id", "write_disposition": "append"},
        "resources": resources(options),
    }
    source = rest_api_source(config, name="datasette", parallelized=options.parts > 1)
    pipeline = dlt.pipeline(
        "copy",
        destination=dlt.destinations.duckdb(f"{options.folder}/out.duckdb"),
        dataset_name="data",
        pipelines_dir=f"{options.folder}/pipelines",
    )
    pipeline.extract(source, max_parallel_items=20, workers=8, loader_file_format="parquet")
    pipeline.normalize(workers=1)
    pipeline.load()
    seconds = time.perf_counter() - started
    count = pipeline.last_trace.last_normalize_info.row_counts["articles"]
    print(json.dumps({"rows": count, "seconds": seconds, "rows_per_s": count / seconds}))


if __name__ == "__main__":
    main()
