"""What the URL of a source says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.errors import BadSource
from headgate.transfer.places.address import is_plain, parse_address, plain_name

NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(is_plain)


def test_all_parts_are_read():
    address = parse_address("sftp://me%40home:p%2Fw@Host.example:2222/in/a%20b.csv")
    assert (address.scheme, address.host, address.port) == ("sftp", "host.example", 2222)
    assert (address.user, address.password) == ("me@home", "p/w")
    assert address.path == "/in/a b.csv"


@pytest.mark.parametrize(("scheme", "port"), [("ftp", 21), ("ftps", 990), ("sftp", 22)])
def test_each_has_its_port(scheme: str, port: int):
    assert parse_address(f"{scheme}://host").port == port
    assert parse_address(f"{scheme}://host").path == "/"
    assert parse_address(f"{scheme}://[2001:db8::1]/x").host == "2001:db8::1"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp:///a.csv", "has no host"),
        ("ftp://me:s3cret@/a.csv", "has no host"),
        ("ftp://me:s3cret@host:99999/a.csv", "is not a URL"),
        ("ftp://me:s3cret@host:x/a.csv", "is not a URL"),
        ("ftp://me:s3cret@[::1/a.csv", "is not a URL"),
        ("ftp://me:s3cret@host/a\r\nDELE b", "control characters"),
        ("ftp://me:s3cret@host/a%0d%0aDELE%20b", "control character"),
        ("sftp://me:s3cret@host/a%00b", "control character"),
        ("ftp://me%0d%0aDELE:s3cret@host/a", "control character"),
        ("ftp://me:s3cret%0d%0a@host/a", "control character"),
    ],
)
def test_what_is_not_an_address_is_rejected(url: str, problem: str):
    with pytest.raises(BadSource, match=problem) as caught:
        parse_address(url)
    assert "s3cret" not in str(caught.value)


def test_an_address_keeps_its_password_to_itself():
    assert "s3cret" not in repr(parse_address("ftp://me:s3cret@host/x"))


@given(NAMES)
def test_a_file_of_a_folder_has_a_url_of_its_own(name: str):
    folder = parse_address("sftp://me:p%2Fw@host:2222/in%20here/")
    file = parse_address(folder.inside(name))
    assert file.path == f"/in here/{name}"
    assert (file.host, file.port, file.user, file.password) == ("host", 2222, "me", "p/w")


@given(st.text())
def test_any_name_is_made_fit_for_a_file(text: str):
    name = plain_name(text)
    assert is_plain(name)
    assert len(name.encode()) <= 200
    assert not set(name) & set('/\\:*?"<>|')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/in/a b.csv", "a b.csv"),
        ("..", "unnamed"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.csv", "a.csv"),
        (".hidden", ".hidden"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
    ],
)
def test_what_remains_of_a_name(text: str, name: str):
    assert plain_name(text) == name
