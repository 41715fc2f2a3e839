"""A worker freezes past its lease and then continues: its late results are refused."""

from collections import Counter
from pathlib import Path

from headgate.core.status import ItemStatus
from tests.faults.matrix import crossed
from tests.kit.command import until
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")
HASTY = {
    "claim__lock_floor_s": 1,
    "claim__claim_max": 8,
    "worker__heartbeat_s": 0.1,
    "worker__concurrency": 8,
}


@crossed("plain_gate", "awaited_gate")
def test_the_late_results_of_a_frozen_worker_are_refused(project: Project, name: str):
    gate = project.folder / "gate"
    file = project.rows(60)
    words = project.batch(f"{HANDLERS}:{name}", file, gate=gate)
    with project.start(*words, **HASTY) as frozen:
        until(lambda: project.executed() >= 8, what="eight items in flight")
        project.freeze(frozen)
        held = [item for item in project.items() if item.status is ItemStatus.PROCESSING]
        assert len(held) >= 8
        in_flight = project.executions().keys()
        gate.touch()
        with project.start("worker", "--drain", **HASTY) as other:
            assert other.wait().code == 0, other.talk
        taken_over = project.results()
        assert None not in taken_over.values()
        # The workers first: a supervisor that finds its workers lost would end them at once.
        for worker in frozen.workers:
            worker.resume()
        until(lambda: len(project.events("discarded")) >= 8, what="results that come too late")
        frozen.wake()
        ended = frozen.wait()

    assert ended.code == 0, ended.err
    items = project.assert_finished(60)
    assert {(item.status, item.attempts, item.crashes) for item in items} == {
        (ItemStatus.DONE, 1, 0)
    }
    assert project.results() == taken_over
    refused = {event.item_id for event in project.events("discarded")}
    assert {item.key for item in items if item.id in refused} == in_flight
    runs = project.executions()
    assert runs == Counter(runs.keys()) + Counter(in_flight)
    project.assert_never_redone(items)


def test_a_command_frozen_for_less_than_its_lease_loses_nothing(sqlite_project: Project):
    project = sqlite_project
    file = project.rows(60)
    words = project.batch(f"{HANDLERS}:awaited", file, pause=0.05)
    patient = {**HASTY, "claim__lock_floor_s": 30}
    with project.start(*words, **patient) as command:
        until(lambda: project.executed() >= 8, what="eight items in flight")
        project.freeze(command)
        assert project.run("worker", "--drain", "--max-stall", "1", **patient).code == 4
        command.wake()
        ended = command.wait()
    assert ended.code == 0, ended.err
    project.assert_finished(60)
    assert set(project.executions().values()) == {1}
    assert project.events("discarded") == []


def test_several_commands_on_one_file_run_every_item_once(sqlite_project: Project):
    """Three commands of two processes each, and a terminal that keeps looking."""
    project = sqlite_project
    files = [project.rows(1_500, name=f"rows-{n}.csv") for n in range(2)]
    first, second = [
        project.batch(f"{HANDLERS}:awaited", file, "--processes", "2", pause=0.002)
        for file in files
    ]
    with project.start(*first) as one, project.start(*second) as other:
        until(lambda: len(project.jobs()) == 2, what="two jobs")
        with project.start(*first) as same:
            while one.running or same.running or other.running:
                looked = project.run("jobs", "ls", "--json")
                assert looked.code == 0, looked.err
                assert "locked" not in looked.err
            endings = [command.wait() for command in (one, same, other)]

    assert [ended.code for ended in endings] == [0, 0, 0], endings
    for ended in endings:
        assert "locked" not in ended.err
        assert "Traceback" not in ended.err
    jobs = project.jobs()
    assert len(jobs) == 2
    for job in jobs:
        items = project.assert_finished(1_500, job.id)
        assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    assert project.executed() == 3_000
