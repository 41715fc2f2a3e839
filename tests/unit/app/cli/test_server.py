"""`--server` and its variables before any request, and the commands that need a server."""

import pytest

NOWHERE = "http://127.0.0.1:1"


@pytest.mark.parametrize("words", [("doctor",), ("db", "status"), ("config", "show"), ("worker",)])
def test_commands_of_this_machine_refuse_a_server_on_either_side(headgate, words):
    for given in ((*words, "--server", NOWHERE), ("--server", NOWHERE, *words)):
        said = headgate(*given)
        assert said.code == 2
        assert "does not work with a server" in said.err


def test_the_variable_is_read_by_commands_that_can_use_a_server(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_SERVER", NOWHERE)
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_secret")
    headgate("db", "migrate")
    assert headgate("doctor").code == 0
    shown = headgate("config", "show", "--json")
    assert shown.code == 0
    assert "hg_secret" not in shown.out + shown.err
    assert "sets nothing" not in shown.err


def test_a_store_on_the_command_line_counts_more_than_the_variable(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_SERVER", NOWHERE)
    headgate.job()
    said = headgate("jobs", "ls", "--db", "headgate.db", "--json")
    assert [job["id"] for job in said.json["jobs"]] == [1]
    both = headgate("jobs", "ls", "--db", "headgate.db", "--server", NOWHERE)
    assert (both.code, "not both" in both.err) == (2, True)


def test_an_empty_variable_names_no_server(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_SERVER", "")
    headgate.job()
    assert headgate("jobs", "ls").code == 0


@pytest.mark.parametrize("url", ["ftp://host", "http://me:secret@host"])
def test_an_invalid_server_address_is_wrong_usage(headgate, url):
    said = headgate("jobs", "ls", "--server", url)
    assert said.code == 2
    assert "secret" not in said.err


def test_an_item_says_why_it_waits(headgate):
    headgate.job()
    said = headgate("items", "why", 1)
    assert said.out.startswith("item 1 is PENDING: no worker is running")
    assert headgate("items", "why", 1, "--json").json["waiting"]["kind"] == "worker"
    headgate.finished_job()
    assert headgate("items", "why", 6).out == "item 6 is DONE: it is finished\n"
    assert headgate("items", "why", 6, "--json").json == {
        "item_id": 6,
        "status": "DONE",
        "waiting": None,
        "ended": "it is finished",
        "todo": None,
    }


@pytest.mark.parametrize(
    "words", [("accept", 1), ("accept", 1, "--candidate", "x"), ("reject", 1), ("skip", 1)]
)
def test_only_items_in_review_can_be_decided(headgate, words):
    headgate.finished_job()
    said = headgate("items", *words)
    assert said.code == 2
    assert "DONE" in said.err


def test_dead_letters_of_one_job_are_those_of_its_handler(headgate):
    job = headgate.finished_job()
    assert len(headgate("dlq", "ls", "--job", job, "--json").json["items"]) == 2
    assert headgate("dlq", "ls", "--job", job, "--handler", "other", "--json").json["items"] == []
    assert headgate("dlq", "ls", "--job", 99).code == 2


def test_a_list_shows_results(headgate):
    job = headgate.finished_job()
    items = headgate("items", "ls", job, "--json").json["items"]
    assert [item["result"] for item in items] == [{"price": 1}, {"price": 1}, None, None, None]
