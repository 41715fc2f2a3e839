import pytest

from headgate.core.item import NewItem
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.stores.postgres.literals import (
    copy_blocks,
    number_array,
    pack_rows,
    settlement_arrays,
    storable,
    stored_forms,
    text_array,
)


def test_numbers_and_booleans_become_array_literals():
    assert number_array([1, -2, 3]) == "{1,-2,3}"
    assert number_array([True, False]) == "{true,false}"
    assert number_array([]) == "{}"


@pytest.mark.parametrize(
    ("values", "literal"),
    [
        (["a", None, ""], '{"a",null,""}'),
        (['q"uote', "back\\slash"], '{"q\\"uote","back\\\\slash"}'),
        (["new\nline"], '{"new\nline"}'),
        (["\\n"], '{"\\\\n"}'),
        (["nul\x00"], '{"nul\ufffd"}'),
        (["half \ud800"], '{"half ?"}'),
        ([], "{}"),
    ],
)
def test_texts_become_array_literals(values, literal):
    assert text_array(values) == literal


def test_what_cannot_be_stored_is_replaced():
    assert storable("plain ünï") == "plain ünï"
    assert storable("a\x00b") == "a\ufffdb"
    assert storable("a\ud83db") == "a?b"


def test_settlements_go_in_order_of_items():
    def made(item_id):
        return Settlement(
            item_id, 1, 2, ItemStatus.DONE, "done", 1, 0, 0, 0, False, False, 0, "{}", None,
            None, None, 5, 6,
        )  # fmt: skip

    arrays = settlement_arrays([made(9), made(3)])
    assert arrays["item_id"] == "{3,9}"
    assert arrays["status"] == '{"DONE","DONE"}'
    assert arrays["normalized"] == "{null,null}"
    assert list(arrays) == list(Settlement.__struct_fields__)


def test_rows_become_one_copy_block():
    items = [
        NewItem("a\tb", '{"x":"\\n"}', 2, "g", "s\\", checkpoint="p"),
        NewItem("c", "{}", 3, problem="line 3:\nbroken"),
    ]
    assert b"".join(copy_blocks(pack_rows(items), [7, "o\n"])).decode() == (
        'a\\tb\t{"x":"\\\\n"}\t2\tg\ts\\\\\tp\t\\N\t\\N\tPENDING\t\\N\t\\N\t7\to\\n\n'
        "c\t{}\t3\t\t\t\tline 3:\\nbroken\tbad_row\tERROR\t"
        "bad_row: line <n>: broken\t\\N\t7\to\\n\n"
    )


def test_a_bad_row_has_a_variant_where_it_quotes_something():
    items = [NewItem("c", "{}", 3, problem="no column 'x'")]
    row = b"".join(copy_blocks(pack_rows(items), [7])).decode()
    assert row.split("\t")[9:11] == ["bad_row: no column <value>", "bad_row: no column 'x'"]


def test_a_row_with_nul_keeps_its_columns():
    packed = pack_rows([NewItem("a\x00b", "{}", 1), NewItem("c\ud800", "{}", 2)])
    lines = b"".join(copy_blocks(packed, [1])).decode().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["a\ufffdb", "c?"]
    assert {line.count("\t") for line in lines} == {11}


def test_values_of_a_query_become_what_can_be_stored():
    given = {"text": "a\x00b", "ids": [1, 2], "flags": (True, False), "keys": ["a,b", None]}
    assert stored_forms({**given, "none": None, "n": 3, "empty": []}) == {
        "text": "a\ufffdb",
        "ids": "{1,2}",
        "flags": "{true,false}",
        "keys": '{"a,b",null}',
        "none": None,
        "n": 3,
        "empty": "{}",
    }
