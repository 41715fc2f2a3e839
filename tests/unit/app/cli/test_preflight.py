"""What would fail for every row is refused before the first, and nothing is written."""

import pytest

from headgate.app.cli.run_checks import EmptyColumns, empty_in

TOML = """
[request]
url = "{url}"
[columns]
price = "price"
"""


def described(headgate, url, rows="sku,name\nA-1,pear\n", file="products.csv"):
    (headgate.folder / "shop.toml").write_text(TOML.replace("{url}", url))
    (headgate.folder / file).write_text(rows)
    return headgate("run", "shop.toml", file)


@pytest.mark.parametrize(
    ("column", "rows", "file", "hint"),
    [
        ("skuu", "sku,name\nA-1,pear\n", "p.csv", "; did you mean 'sku'?"),
        ("Name ", "sku,name\nA-1,pear\n", "p.csv", "; did you mean 'name'?"),
        ("isbn", "sku\tname\nA-1\tpear\n", "p.tsv", "; it has sku, name"),
        ("skuu", '{"sku": 1}\n{"name": 2}\n', "p.jsonl", "; did you mean 'sku'?"),
    ],
)
def test_a_column_that_the_file_does_not_have(headgate, column, rows, file, hint):
    said = described(headgate, f"https://shop.example/prices/{{{column}}}", rows, file)
    assert said.code == 2
    assert said.err == (
        f"error: shop needs a column {column!r}, which {file} does not have{hint}\n"
    )
    assert not (headgate.folder / "headgate.db").exists()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:8080/x", "loopback"),
        ("http://10.1.2.3/{sku}", "private"),
        ("https://192.168.7.7/{sku}?a=b", "private"),
        ("http://[::1]:9/x", "loopback"),
        ("http://169.254.169.254/latest", "link-local"),
        ("http://localhost:5000/x", "loopback"),
    ],
)
def test_a_fixed_address_that_is_not_public(headgate, url, kind):
    said = described(headgate, url)
    assert said.code == 2
    assert f"which is {kind} and not public: every row would be refused" in said.err
    assert "allow_private = true" in said.err
    assert not (headgate.folder / "headgate.db").exists()


def test_columns_without_any_value():
    results = [{"a": 1, "b": None}, {"a": None, "b": None, "c": 0}]
    assert empty_in(results, ["a", "b", "c", "d"]) == ["b", "d"]
    assert empty_in([], ["a"]) == []


def test_a_path_that_matches_nothing_is_warned_of_once(headgate):
    job_id = headgate.finished_job()

    async def act(store):
        empty = EmptyColumns(store.reads, job_id, {"price": "price", "prise": "prise"})
        return [
            await empty.check(2),
            await empty.check(0, at_end=True),
            await empty.check(2, at_end=True),
            await empty.check(2, at_end=True),
        ]

    early, nothing, found, again = headgate.store(act)
    assert (early, nothing, again) == ([], [], [])
    (warning,) = found
    assert warning.startswith("the column 'prise' is empty in all of the first 2 results:")
    assert warning.endswith("does its path 'prise' match the reply?")
