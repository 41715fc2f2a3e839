"""No secret of a URL is seen when it is shown."""

from collections.abc import Callable
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.redact_text import HIDDEN, is_secret_name, redacted
from headgate.core.redact_values import (
    request_without_secrets,
    source_without_secrets,
    values_without_secrets,
    without_secrets,
)


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


@pytest.mark.parametrize(
    "name",
    [
        *("key", "api_key", "apiKey", "X-Api-Key", "openai_key", "auth", "oauth2", "private_key"),
        *("pwd", "PGPASSWORD", "bearer", "Authorization", "set-cookie", "client-secret", "jwt"),
        *("accessToken", "credentials", "session", "passphrase", "authentication"),
        *("creds", "aws_creds", "pat", "githubPat", "pin", "pw", "dbPass", "AccountKey"),
    ],
)
def test_names_of_secrets_are_known(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("page", "monkey", "keyword", "sigma", "q", "country", "author", "authority", "authors"),
        *("sort_key", "primaryKey", "key_columns", "passenger", "bypass_cache", "path"),
        *("spin", "pattern", "pinned", "credit", "routing_key", "pin_columns"),
    ],
)
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


def test_secrets_are_hidden_wherever_they_are_in_a_config():
    config = {
        "model": "small",
        "max_tokens": 500,
        "author": "Ann",
        "key": "k1",
        "auth": {"user": "me", "pass": "p1"},
        "steps": [{"token": "t1", "n": 1}, ["a", {"deep": [{"Private-Key": "p2"}]}]],
        "headers": [["Authorization", "Bearer b1"], ["Accept", "text/csv"]],
        "more": ({"name": "X-Api-Key", "value": "v1"}, {"name": "size", "value": 3}),
        "items": [{"key": "password", "value": "i1"}, {"key": "k2", "value": 3}],
        "raw": [(b"x-api-key", b"r1")],
        "url": "https://me:u1@host/x?sig=s1&page=2",
        "none": {"password": None},
    }
    assert values_without_secrets(config) == {
        "model": "small",
        "max_tokens": 500,
        "author": "Ann",
        "key": HIDDEN,
        "auth": HIDDEN,
        "steps": [{"token": HIDDEN, "n": 1}, ["a", {"deep": [{"Private-Key": HIDDEN}]}]],
        "headers": [["Authorization", HIDDEN], ["Accept", "text/csv"]],
        "more": [{"name": "X-Api-Key", "value": HIDDEN}, {"name": "size", "value": 3}],
        "items": [{"key": "password", "value": HIDDEN}, {"key": HIDDEN, "value": 3}],
        "raw": [[b"x-api-key", HIDDEN]],
        "url": "https://me:***@host/x?sig=***&page=2",
        "none": {"password": None},
    }


def test_a_value_of_any_depth_can_be_shown():
    value: object = "innermost"
    for _ in range(5_000):
        value = [value]
    assert "innermost" not in str(values_without_secrets(value))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no secret here", "no secret here"),
        ("GET https://me:pw@host/x failed", "GET https://me:***@host/x failed"),
        ("postgresql://me:s3@cr/et@host/db", "postgresql://me:***@host/db"),
        ("git clone https://abcdef@host/x", "git clone https://***@host/x"),
        ("url?api_key=abc123&x=1", "url?api_key=***&x=1"),
        ("https://h/x?key=abc&page=2#top", "https://h/x?key=***&page=2#top"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("Authorization: ApiKey abc", "Authorization: ApiKey ***"),
        ("{'Authorization': 'Bearer abc'}", "{'Authorization': '***'}"),
        ("('X-Api-Key', 'abc')", "('X-Api-Key', '***')"),
        ('{"password": "hunter2"}', '{"password": "***"}'),
        ("token=xyz, next", "token=***, next"),
        ("ValueError: password=hunter2secret", "ValueError: password=***"),
        ("the password: swordfish failed", "the password: *** failed"),
        ("AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=***"),
        ("Cookie: sid=1; user=2", "Cookie: ***"),
        ("got Bearer abcdefgh1234567", "got Bearer ***"),
        ("bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "bad ***"),
        ("bad eyJhbGciOiJBIn0..aXYtaXYtaXY.Y2lwaGVy.dGFn. Try again", "bad ***. Try again"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----!", "***!"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE, cut", "***"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----.",
            "***.",
        ),
        ("(b'x-api-key', b'abc')", "(b'x-api-key', b'***')"),
        ("[(b'Ocp-Apim-Subscription-Key', b'ab12')]", "[(b'Ocp-Apim-Subscription-Key', b'***')]"),
        ("GET /v1/find?q=a&key=abc&page=2", "GET /v1/find?q=a&key=***&page=2"),
        ("find?key=abc failed", "find?key=*** failed"),
        ("find?key=12ab&n=1", "find?key=***&n=1"),
        ("tool --pin 1234", "tool --pin ***"),
        ("Ocp-Apim-Subscription-Key: abc", "Ocp-Apim-Subscription-Key: ***"),
        ("error: X-Master-Key: abc", "error: X-Master-Key: ***"),
        (
            "Protocol=https;AccountName=me;AccountKey=a/b+c==;Suffix=x",
            "Protocol=https;AccountName=me;AccountKey=***;Suffix=x",
        ),
        ("the account key: a/b+c was refused", "the account key: *** was refused"),
        ("API key = abc", "API key = ***"),
        ('{\\"token\\":\\"abc\\",\\"n\\":1}', '{\\"token\\":\\"***\\",\\"n\\":1}'),
        ('{\\"token\\":\\"a\\\\\\"b\\"}', '{\\"token\\":\\"***\\"}'),
        ('{"password": "hun\\"ter2", "n": 1}', '{"password": "***", "n": 1}'),
        ('{"password": "it\'s me", "n": 1}', '{"password": "***", "n": 1}'),
        ("Authorization: Custom abc", "Authorization: ***"),
        (
            'Authorization: Digest username="me", response="abc", qop=auth\nHost: x',
            "Authorization: Digest ***\nHost: x",
        ),
        (
            "Authorization: AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=host, Signature=abc",
            "Authorization: AWS4-HMAC-SHA256 ***",
        ),
        ("Authorization: abc was refused", "Authorization: *** was refused"),
        ("proxy-authorization: Custom abc\nHost: x", "proxy-authorization: ***\nHost: x"),
        ("curl -H 'Authorization: Custom abc' host", "curl -H 'Authorization: ***' host"),
        ("no sk_live_abcdefghij12 today", "no *** today"),
        ("rk_live_abcdefghij12", "***"),
        ("hf_abcdefghijklmnopqrst", "***"),
        ("npm_abcdefghijklmnopqrst", "***"),
        ("SG.abcdefghijklmnop.abcdefghijklmnop", "***"),
        ("xapp-1-A0123-4567-abcdef", "***"),
        ("glpat-abcdefghij", "***"),
        ("github_pat_11ABCDEFGH", "***"),
        ("<user>me</user><password>abc</password>", "<user>me</user><password>***</password>"),
        ('<ns:Token kind="x">abc</ns:Token>', '<ns:Token kind="x">***</ns:Token>'),
        ("mysql --user me --password abc db", "mysql --user me --password *** db"),
        ("tool --token 'a b' --verbose", "tool --token '***' --verbose"),
        ("['tool', '--token', 'abc']", "['tool', '--token', '***']"),
        ("pw=abc", "pw=***"),
        ("db_pw: abc", "db_pw: ***"),
        ("creds=abc", "creds=***"),
        ("github_pat=abc", "github_pat=***"),
        ('{"pin": "1234"}', '{"pin": "***"}'),
        ("pin: 1234", "pin: ***"),
        ('[{"key":"password","value":"abc"}]', '[{"key":"password","value":"***"}]'),
        ("names['token'] = 'abc'", "names['token'] = '***'"),
        ("curl -u me:abc https://host", "curl -u me:*** https://host"),
        ("curl -sSu 'me:a b' https://host", "curl -sSu 'me:***' https://host"),
        ("curl -ume:a:b x", "curl -ume:*** x"),
        ("curl x --user me:abc", "curl x --user me:***"),
        ("curl --proxy-user=me:abc x", "curl --proxy-user=me:*** x"),
        ("curl \\\n  -U me:abc \\\n  x", "curl \\\n  -U me:*** \\\n  x"),
        ("['curl', '-u', 'me:abc', 'x']", "['curl', '-u', 'me:***', 'x']"),
        ('{"run": "curl -u \\"me:abc\\" x"}', '{"run": "curl -u \\"me:***\\" x"}'),
    ],
)
def test_secrets_are_hidden_in_text(text: str, shown: str):
    assert redacted(text) == shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "send `Authorization: Bearer …`, or log in",
        "send Authorization: Bearer TOKEN",
        '--cost tokens: there is no such budget; declare it as budget = {tokens = "5000/min"}',
        "password: should have at most 1000 characters",
        "password: String should have at least 10 characters",
        "token: Field required",
        "api_key: missing",
        "KeyError: 'token'",
        "set HEADGATE_TOKEN=$TOKEN, or password=<yours>",
        "max_tokens=100 is too small; tokens: 5",
        "duplicate key=42; sort key: name",
        "http://host:8080/x?mail=me@example.org was refused",
        "the signature of the function does not match",
        "tokenizer: bert; authors: Ann, Bob",
        "key=2024 is there twice; the primary key: 7; row_key=7",
        "there is no column 'pin', 'city' or 'join_key', 'other_key'",
        "account_key=42 and customer-key: 17 have no row",
        "Pat: hello; session: 3 rows; pin the version; the pattern: *.csv",
        "routing_key=orders.new, cache-key: a1b2",
        "<Key>reports/2024.csv</Key><pattern>a1</pattern>",
        "give --password or --token TOKEN, or --token-file path/to/file",
        "a new pat on the back, path=/a/b, spinner=on",
        "Authorization: required",
        "headgate plan 3 --credentials 4",
        "GET /api/items?key=42&jobId=1",
        "curl -u me https://host; curl --user-agent a:b; docker run -u 1000 image",
        "docker run -u 1000:1000 image",
    ],
)
def test_messages_that_mention_secrets_stay_readable(text: str):
    assert redacted(text) == text


@given(st.sampled_from(["password=", "token: ", "Bearer ", "https://me:", "key", "://"]), st.text())
def test_any_text_can_be_redacted_twice(start: str, rest: str):
    once = redacted(start + rest)
    assert redacted(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        *("token", "password ", "://a:", "eyJ", "cookie=", "a-", "?key="),
        *("-eyJ", "eyJhbGciOiJI-", "eyJhbGciOiJI.a.", "?", "?a", "#", "a://?", "bearer/", "-sk-"),
        *("a.b-", "token=", "token='", 'token="\\', "\\\\", 'token=\\"\\\\', "--token "),
        *("<token>", "<token ", "api key ", "'token',", "b'token',\\'value", "authorization: a "),
        *("authorization: a=", 'authorization: a="', "authorization: a=b, ", 'a="b", '),
        *("-----BEGIN PRIVATE KEY", "SG.aaaaaaaaaaaaaaaaaa", "hf_", "-xapp-", "pin: ", "key = "),
        *("token" + " " * 50, "'token'" + " " * 50 + ",", "--token" + "\t" * 50, "token=Bearer "),
        *("curl -u 'a:", "curl -u a", "curl" + "-u" * 50, "curl --user ", "curl -u '\\\\'"),
    ],
)
@pytest.mark.parametrize(
    "hide", [redacted, without_secrets, request_without_secrets, source_without_secrets]
)
def test_long_texts_take_no_more_than_their_length(hide: Callable[[str], str], piece: str):
    # A pattern that tries again from each position would take half a minute for these.
    text = "https://host/" + piece * (200_000 // len(piece))
    began_s = thread_time()
    hide(text)
    assert thread_time() - began_s < 5.0
