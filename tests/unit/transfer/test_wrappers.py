"""Columns under other names."""

from pathlib import Path

from headgate.transfer.sources import open_source
from headgate.transfer.wrappers import RenamedSource


def test_rows_texts_and_columns_have_the_new_names(tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_text("Title,Price\nlamp,3\nchair,\n")
    plain = open_source(file)
    renamed = RenamedSource(plain, {"Title": "title"})
    assert renamed.fingerprint() == plain.fingerprint()
    reader = renamed.open()
    batch = reader.take(10, 1_000_000)
    assert reader.columns == ("title", "Price")
    assert list(batch.values) == [
        {"title": "lamp", "Price": "3"},
        {"title": "chair", "Price": ""},
    ]
    assert list(batch.texts) == ['{"title":"lamp","Price":"3"}', '{"title":"chair","Price":""}']
    reader.close()
    further = renamed.open(batch.position)
    assert not further.take(10, 1_000_000).values
    further.close()
