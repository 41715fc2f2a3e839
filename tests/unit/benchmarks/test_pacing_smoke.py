"""The pacing benchmark stays runnable: a sliver of every experiment."""

import json

import pytest

from benchmarks.pacing.__main__ import EXPERIMENTS, main


def test_every_experiment_runs(tmp_path, capsys):
    document = tmp_path / "pacing.json"
    assert main(["all", "--smoke", "--jobs", "1", "--json", str(document)]) == 0
    experiments = json.loads(document.read_text())["experiments"]
    assert [each["name"] for each in experiments] == list(EXPERIMENTS)
    assert all(each["figures"] for each in experiments)
    assert "verdict" in capsys.readouterr().out


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(tmp_path, capsys):
    documents = [tmp_path / "one.json", tmp_path / "two.json"]
    for jobs, document in enumerate(documents, start=1):
        main(["recovery", "--smoke", "--jobs", str(jobs), "--json", str(document)])
    one, two = (json.loads(each.read_text())["experiments"][0]["scores"] for each in documents)
    assert one == two


def test_a_run_can_be_followed(tmp_path):
    svg, csv = tmp_path / "run.svg", tmp_path / "run.csv"
    words = ["trace", "tb2 b2 none", "--rule", "reference", "--svg", str(svg), "--csv", str(csv)]
    assert main(words) == 0
    assert len(csv.read_text().splitlines()) == 1 + 900
    picture = svg.read_text()
    assert picture.startswith("<svg")
    assert "tb2 b2 none" in picture


def test_an_unknown_provider_is_named(capsys):
    assert main(["trace", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
