"""No secret of a URL is seen when it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.secret import is_secret_name, without_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("headgate.db", "headgate.db"),
        ("/data/a file.csv", "/data/a file.csv"),
        ("sqlite:///headgate.db", "sqlite:///headgate.db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://me:s3cret@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("postgresql://me:s3@cr/et@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?user=me&password=x", "postgresql://host/db?user=me&password=***"),
        ("postgresql://host/db?sslpassword=x&a=1", "postgresql://host/db?sslpassword=***&a=1"),
        ("https://ghp_abc@host/x", "https://***@host/x"),
        ("https://host:8443/x?page=2&sort=name", "https://host:8443/x?page=2&sort=name"),
        ("https://host/x?sig=abc;key=def&n=1", "https://host/x?sig=***;key=***&n=1"),
        ("https://host/x?API-Key=abc", "https://host/x?API-Key=***"),
        ("https://host/x?acc%65ss_tok%65n=abc", "https://host/x?acc%65ss_tok%65n=***"),
        ("https://host/x#access_token=abc", "https://host/x#access_token=***"),
        (
            "https://b.s3.example.org/k?X-Amz-Credential=AK%2F1&X-Amz-Expires=60&versionId=3",
            "https://b.s3.example.org/k?X-Amz-Credential=***&X-Amz-Expires=***&versionId=3",
        ),
        ("sftp://me:pa?ss=wo&rd@host/in", "sftp://me:***@host/in"),
    ],
)
def test_what_is_shown_of_a_url(url: str, shown: str):
    assert without_secrets(url) == shown


@pytest.mark.parametrize("name", ["page", "monkey", "keyword", "sigma", "q", "country"])
def test_harmless_names_stay_readable(name: str):
    assert not is_secret_name(name)


@given(
    st.sampled_from(["https", "ftp", "sftp", "postgresql"]),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1),
)
def test_no_password_is_shown_whatever_it_is_made_of(scheme: str, password: str):
    secret = f"<<{password}>>"
    assert "<<" not in without_secrets(f"{scheme}://me:{secret}@host/path")


@given(st.sampled_from(["token", "X-Amz-Signature", "password", "my_secret"]), st.text(min_size=1))
def test_no_secret_parameter_is_shown(name: str, text: str):
    value = "".join(one for one in text if one not in "&;#@")
    shown = without_secrets(f"https://host/path?a=1&{name}={value}&b=2")
    assert shown == f"https://host/path?a=1&{name}=***&b=2"
