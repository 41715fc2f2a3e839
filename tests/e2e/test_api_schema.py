"""The OpenAPI document is true: Schemathesis finds nothing on a live server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.api_server import ApiServer, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
PHASES = "examples,coverage,fuzzing,stateful"
CONFIGURATION = Path(__file__).parents[1] / "schemathesis.toml"


FRESH = pytest.param(
    ["--max-examples", "100"], id="new seeds", marks=[pytest.mark.soak, pytest.mark.timeout(3_000)]
)
AGAIN = pytest.param(
    # As Hypothesis does it in CI: what fails there must fail here as well.
    ["--max-examples", "10", "--seed", "224976636701276005526588150689177028189"],
    id="again",
    marks=pytest.mark.timeout(1_200),
)


@pytest.mark.parametrize("bounds", [AGAIN, FRESH])
def test_schemathesis_finds_nothing(api: ApiServer, tmp_path: Path, bounds: list[str]):
    admin = api.admin()
    job_id = admin.done(rows_csv(3, r1="review", r2="fail"))
    until(lambda: admin.get("/readyz").status == 200, what="a worker")
    known = {
        "HEADGATE_TEST_TOKEN": api.token,
        "HEADGATE_TEST_JOB": job_id,
        "HEADGATE_TEST_ITEM": admin.items(job_id)[0]["id"],
    }
    place = f"{api.url}/api/openapi.json"
    words = [str(SCHEMATHESIS), "--config-file", str(CONFIGURATION), "run", place]
    ended = subprocess.run(
        [*words, "--url", api.url, "--checks", "all", "--no-color", "--phases", PHASES, *bounds],
        cwd=tmp_path,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-2_000:]
    assert " found " not in ended.stdout.splitlines()[-1]
    assert "request failed" not in api.talk  # nothing unforeseen happened either
