"""Where settings come from, what they may be, and the messages for invalid ones."""

from pathlib import Path

import msgspec
import pytest

from headgate.app.settings import (
    LEAVES,
    Flag,
    Loaded,
    LogFormat,
    OriginKind,
    Settings,
    load,
    value_of,
)
from headgate.core.errors import BadSetting
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Limit
from headgate.core.retry import RetryPolicy


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text: str, name: str = "headgate.toml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_those_of_the_policy_classes():
    loaded = load()
    assert loaded.settings == Settings()
    assert loaded.settings.retry == RetryPolicy()
    assert loaded.settings.database_url == "sqlite:///headgate.db"
    assert {origin.kind for origin in loaded.origins.values()} == {OriginKind.DEFAULT}


def test_flags_override_the_environment_which_overrides_the_file():
    written('database_url = "sqlite:///file.db"\n[retry]\nmax_attempts_error = 7\n')
    environment = {
        "HEADGATE_DATABASE_URL": "sqlite:///env.db",
        "HEADGATE_WORKER__CONCURRENCY": "9",
    }
    flag = Flag("database_url", "--db", "sqlite:///flag.db")
    settings, origins, warnings = load(None, environment, (flag,))
    assert settings.database_url == "sqlite:///flag.db"
    assert settings.worker.concurrency == 9
    assert settings.retry.max_attempts_error == 7
    assert str(origins["database_url"]) == "flag --db"
    assert str(origins["worker.concurrency"]) == "environment HEADGATE_WORKER__CONCURRENCY"
    assert str(origins["retry.max_attempts_error"]) == "file headgate.toml"
    assert str(origins["claim.claim_max"]) == "default"
    assert warnings == ()


def test_a_flag_that_was_not_given_changes_nothing():
    assert load(None, {}, (Flag("worker.concurrency", "--concurrency", None),)) == load()


def test_a_named_file_is_read_instead_of_the_default_one():
    written("[log]\nlevel = 'debug'\n")
    other = written("[log]\nformat = 'json'\n", "other.toml")
    loaded = load(other)
    assert loaded.settings.log.format is LogFormat.JSON
    assert loaded.settings.log.level == "warning"


EXAMPLES = {
    "gates.ledger": "redis://localhost/0",
    "gates.rate": "5/s",
    "download.email": "me@example.org",
}


def test_every_variable_of_every_setting_is_known():
    for leaf in LEAVES.values():
        shown = value_of(Settings(), leaf.path)
        shown = EXAMPLES.get(leaf.path, "something") if shown == "" else shown  # empty is not set
        shown = ("one", "two") if shown == () else shown
        text = ",".join(shown) if isinstance(shown, tuple) else str(shown)
        text = "null" if shown is None else text
        loaded = load(None, {leaf.variable: text})
        assert value_of(loaded.settings, leaf.path) == shown
        assert loaded.origins[leaf.path].name == leaf.variable


def test_a_list_in_the_environment_has_commas_and_in_the_file_brackets():
    written('handlers = ["shop.py", "mypackage.handlers"]\n')
    assert load().settings.handlers == ("shop.py", "mypackage.handlers")
    assert load(None, {"HEADGATE_HANDLERS": "a.py, b.toml"}).settings.handlers == ("a.py", "b.toml")
    written('handlers = "shop.py"\n')
    with pytest.raises(BadSetting, match=r"handlers = 'shop\.py' in file headgate\.toml"):
        load()


def test_bare_database_url_is_never_used():
    assert load(None, {"DATABASE_URL": "postgresql://elsewhere/app"}) == load()


def test_an_empty_variable_is_not_a_value():
    assert load(None, {"HEADGATE_DATABASE_URL": ""}).settings == Settings()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("HEADGATE_MAX_ATTEMPTS_ERROR", "; did you mean HEADGATE_RETRY__MAX_ATTEMPTS_ERROR?"),
        ("HEADGATE_WORKER_CONCURRENCY", "; did you mean HEADGATE_WORKER__CONCURRENCY?"),
        ("HEADGATE_DATABASE_URI", "; did you mean HEADGATE_DATABASE_URL?"),
        ("HEADGATE_XYZZY", ""),
    ],
)
def test_an_unknown_variable_warns_with_a_suggestion(name: str, hint: str):
    loaded = load(None, {name: "1"})
    assert loaded.warnings == (f"the environment variable {name} sets nothing{hint}",)
    assert loaded.settings == Settings()


def test_our_other_variables_do_not_warn():
    assert load(None, {"HEADGATE_DEBUG": "1", "PATH": "/bin"}).warnings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[retry]\nmax_attempt_error = 3",
            "'retry.max_attempt_error'; did you mean retry.max_attempts_error?",
        ),
        (
            "concurrency = 3",
            "headgate.toml: unknown setting 'concurrency'; did you mean worker",
        ),
        ("[nonsense]\nx = 1", "headgate.toml: unknown setting 'nonsense.x'"),
        ("retry = 3", "headgate.toml: unknown setting 'retry'"),
        ("[retry\n", "headgate.toml is not valid TOML"),
        (
            "[retry]\nmax_attempts_error = 'three'",
            "retry.max_attempts_error = 'three' in file headgate.toml: Expected int, got str",
        ),
        ("[retry]\nmax_attempts_error = '3'", "Expected int, got str"),
        (
            "[worker]\nconcurrency = 0",
            "worker.concurrency = 0 in file headgate.toml: Expected int >= 1",
        ),
        (
            "[log]\nlevel = 'loud'",
            "log.level = 'loud' in file headgate.toml: use one of debug, info",
        ),
        (
            "[claim]\nclaim_min = 2000",
            "[claim] claim_min is above claim_max (from file headgate.toml)",
        ),
        ("[claim]\nlock_floor_s = 301.0", "[claim] lock_floor_s is above lock_cap_s"),
        ("[ingest]\nmin_rows = 9000", "[ingest] min_rows is above max_rows"),
        ("[ingest]\ndb_p50_ms = 900", "[ingest] db_p50_ms is above db_p95_ms"),
        ("[worker]\nitem_timeout_s = inf", "worker.item_timeout_s"),
    ],
)
def test_a_bad_file_is_refused_with_file_and_key(text: str, message: str):
    written(text)
    with pytest.raises(BadSetting) as caught:
        load()
    assert message in str(caught.value)


def test_a_bad_variable_is_named():
    with pytest.raises(BadSetting, match="in environment HEADGATE_INGEST__MIN_ROWS: Expected int"):
        load(None, {"HEADGATE_INGEST__MIN_ROWS": "many"})


def test_a_bad_flag_is_named():
    with pytest.raises(BadSetting, match=r"item_timeout_s = -1.0 in flag --item-timeout"):
        load(None, {}, (Flag("worker.item_timeout_s", "--item-timeout", -1.0),))


def test_a_file_that_was_asked_for_must_exist():
    with pytest.raises(BadSetting, match=r"cannot read the settings file nowhere\.toml"):
        load(Path("nowhere.toml"))


def test_a_list_in_the_environment_has_commas():
    loaded = load(None, {"HEADGATE_PLACES__ROOTS": "/data/in, /data/more"})
    assert loaded.settings.places.roots == ("/data/in", "/data/more")


def test_a_list_in_a_file_is_a_list(tmp_path: Path):
    file = tmp_path / "headgate.toml"
    file.write_text('[places]\nroots = ["/data/in"]\n')
    assert load(file).settings.places.roots == ("/data/in",)
    file.write_text('[places]\nroots = "/data/in"\n')
    with pytest.raises(BadSetting, match=r"places\.roots"):
        load(file)


def test_a_bad_database_url_is_masked_in_its_error():
    with pytest.raises(BadSetting) as caught:
        load(None, {}, (Flag("worker.concurrency", "--x", "postgresql://me:s3cret@h/d"),))
    assert "s3cret" not in str(caught.value)


def test_loaded_is_a_value():
    assert isinstance(load(), Loaded)


# ---- providers ---------------------------------------------------------------------------------


def test_a_provider_is_a_section_of_the_settings():
    written(
        """
        [providers.prices]
        hosts = ["api.prices.example"]
        rate = "10/s, 100/min"
        retry.retries = 1
        [providers.prices.credentials.main]
        env = "PRICES_TOKEN"
        """
    )
    loaded = load()
    prices = loaded.settings.providers["prices"]
    assert prices.limits == (Limit(10.0, 1.0), Limit(100.0, 60.0))
    assert prices.retry.retries == 1
    assert prices.retry.budget_s == ProviderPolicy().retry.budget_s
    assert prices.credentials["main"].env == "PRICES_TOKEN"
    assert str(loaded.origins["providers.prices.rate"]) == "file headgate.toml"


def test_the_environment_adds_settings_to_a_provider():
    written("[providers.prices]\nrate = '10/s'\n")
    loaded = load(None, {"HEADGATE_PROVIDERS__PRICES__CONCURRENCY": "3"})
    prices = loaded.settings.providers["prices"]
    assert (prices.rate, prices.concurrency) == ("10/s", 3)
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "rat = '5/s'",
            "unknown setting 'providers.prices.rat'; did you mean providers.prices.rate?",
        ),
        ("rate = '5 per second'", "'5 per second' is not a limit"),
        ("rate = 5", "providers.prices.rate = 5 in file headgate.toml"),
        ("concurrency = 0", "providers.prices.concurrency = 0"),
        ("hosts = ['not a host']", "'not a host' is not a host"),
        ("credentials.main.env = 'T'", "credentials need `hosts`"),
    ],
)
def test_an_error_in_a_provider_section_names_the_setting(text: str, words: str):
    written(f"[providers.prices]\n{text}\n")
    with pytest.raises(BadSetting) as caught:
        load()
    assert words in str(caught.value)


def test_settings_with_providers_reach_a_worker_whole():
    written("[providers.prices]\nrate = '10/s'\n[net]\nallow_private = true\n")
    settings = load().settings
    assert msgspec.json.decode(msgspec.json.encode(settings), type=Settings) == settings
