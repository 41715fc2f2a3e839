"""What is remembered of a file, and for whom."""

from headgate.handlers.download.expected import MOST_INPUTS, CachedFileNote, read_note

NOTE = CachedFileNote("a.pdf", "0" * 64, 5, "application/pdf", ("doi:10.5555/a",))


def test_a_note_is_read_as_it_was_written():
    assert read_note(NOTE.encoded()) == NOTE


def test_an_invalid_note_is_ignored():
    assert [read_note(text) for text in ("", "{}", "[1]", "nonsense")] == [None] * 4


def test_a_file_may_be_that_of_several_inputs_but_not_of_endlessly_many():
    note = NOTE
    assert note.known_to("doi:10.5555/a") is None
    for number in range(MOST_INPUTS - 1):
        more = note.known_to(f"url:http://{number}.example/")
        assert more is not None
        note = more
    assert len(note.inputs) == MOST_INPUTS
    assert note.known_to("doi:10.5555/b") is None
