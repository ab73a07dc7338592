"""Settings come from defaults, TOML, environment and secret files; whatever is wrong is named, all of it at once."""

import traceback
from pathlib import Path

import msgspec
import pytest

from shared.errors import JadaError
from shared.secret import Secret
from shared.settings import Settings, SettingsError, load
from shared.settings.fields import all_fields

PLANTED = "sk-planted-0123456789"


def value_of(settings: Settings, key: str) -> object:
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def toml(folder: Path, text: str) -> Path:
    path = folder / "jada.toml"
    path.write_text(text, "utf-8")
    return path


def problems(env: dict[str, str], path: Path | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as refused:
        load(env=env, path=path)
    assert str(refused.value) == "\n".join(refused.value.problems)
    assert all("\n" not in problem for problem in refused.value.problems)
    return refused.value.problems


def test_nothing_set_gives_the_defaults() -> None:
    assert load(env={"PATH": "/bin", "HOME": "/"}) == Settings()


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("JADA_HTTP_PORT", "0", "http.port", 0),
        ("JADA_HTTP_PORT", "65535", "http.port", 65535),
        ("JADA_BUS_MAX_STORE_BYTES", "1_073_741_824", "bus.max_store_bytes", 1024**3),
        ("JADA_BUS_REPLICAS", "3", "bus.replicas", 3),
        ("JADA_EMBEDDED_SYNC", "100ms", "embedded.sync", "100ms"),
        ("JADA_AGENT_ROUTE_TIMEOUT_S", "1.5", "agent.route_timeout_s", 1.5),
        ("JADA_AGENT_ROUTE_TIMEOUT_S", "2", "agent.route_timeout_s", 2.0),
        ("JADA_MODEL_KEY", PLANTED, "model.key", Secret(PLANTED)),
        ("JADA_MODEL_KEY", " spaces stay ", "model.key", Secret(" spaces stay ")),
        ("JADA_MODEL_URL", "http://127.0.0.1:11434/v1", "model.url", "http://127.0.0.1:11434/v1"),
        ("JADA_MODEL_URL", "https://host.example/@cf/v1", "model.url", "https://host.example/@cf/v1"),
        ("JADA_MODEL_NAME", "123", "model.name", "123"),
        ("JADA_BUS_URL", "nats://a:4222,nats://b:4222", "bus.url", "nats://a:4222,nats://b:4222"),
        ("JADA_DATA", "/var/lib/jada", "embedded.data_dir", "/var/lib/jada"),
        ("JADA_HTTP_PORT", "", "http.port", 8787),
        ("JADA_MODEL_KEY_FILE", "", "model.key", Secret("")),
    ],
)
def test_a_variable_sets_its_field(variable: str, text: str, key: str, value: object) -> None:
    got = value_of(load(env={variable: text}), key)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("[http]\nport = 1", "http.port", 1),
        ("[agent]\nack_wait_s = 5", "agent.ack_wait_s", 5.0),
        ("[agent]\nack_wait_s = 5.5", "agent.ack_wait_s", 5.5),
        ("bus.replicas = 3", "bus.replicas", 3),
        ("[log]\nlevel = 'debug'", "log.level", "debug"),
        (f"[model]\nkey = '{PLANTED}'", "model.key", Secret(PLANTED)),
        ("[agent]\ndefault_profile = 'niñera'", "agent.default_profile", "niñera"),
        ("", "http.port", 8787),
        ("[http]", "http.port", 8787),
    ],
)
def test_a_toml_key_sets_its_field(tmp_path: Path, text: str, key: str, value: object) -> None:
    got = value_of(load(env={}, path=toml(tmp_path, text)), key)
    assert got == value
    assert type(got) is type(value)


def test_every_field_can_be_set_by_variable_by_file_and_by_toml(tmp_path: Path) -> None:
    for field in all_fields().values():
        other = {str: "other", Secret: "other", int: 777, float: 0.5}.get(field.base)
        value = field.choices[-1] if field.choices else other
        if field.meta.pattern:
            value = "https://other"
        if isinstance(value, int | float) and field.meta.ge is not None:
            value = field.base(field.meta.ge)
        expected = field.convert(value)
        file = tmp_path / "value"
        file.write_text(f"{value}\n", "utf-8")
        written = toml(tmp_path, f"[{field.section}]\n{field.name} = {msgspec.json.encode(value).decode()}")
        assert value_of(load(env={field.variable: str(value)}), field.key) == expected, field.key
        assert value_of(load(env={f"{field.variable}_FILE": str(file)}), field.key) == expected, field.key
        assert value_of(load(env={}, path=written), field.key) == expected, field.key


def test_the_environment_wins_over_toml_and_toml_over_the_default(tmp_path: Path) -> None:
    path = toml(tmp_path, "[http]\nport = 1\nhost = 'toml'")
    settings = load(env={"JADA_HTTP_PORT": "2"}, path=path)
    assert (settings.http.port, settings.http.host, settings.http.health_port) == (2, "toml", 8788)


def test_an_empty_variable_does_not_hide_toml(tmp_path: Path) -> None:
    assert load(env={"JADA_HTTP_PORT": ""}, path=toml(tmp_path, "[http]\nport = 1")).http.port == 1


def test_reserved_variables_are_let_through() -> None:
    assert load(env={"JADA_API": "http://x", "JADA_TOKEN": "t", "JADA_PLAYBOOK_CASES": "cases"}) == Settings()


def test_the_config_file_is_the_given_one_then_the_variables_then_the_folders(tmp_path: Path) -> None:
    folder, given_dir, named_dir = tmp_path, tmp_path / "given", tmp_path / "named"
    given_dir.mkdir()
    named_dir.mkdir()
    toml(folder, "[http]\nport = 1")
    named = toml(named_dir, "[http]\nport = 2")
    path = toml(given_dir, "[http]\nport = 3")
    env = {"JADA_CONFIG": str(named)}
    assert load(env=env, path=path, folder=folder).http.port == 3
    assert load(env=env, folder=folder).http.port == 2
    assert load(env={}, folder=folder).http.port == 1
    assert load(env={}, folder=tmp_path / "elsewhere").http.port == 8787


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"key", "key"),
        (b"key\n", "key"),
        (b"key\r\n", "key"),
        (b"key\n\n", "key\n"),
        (b" key ", " key "),
        ("ñandú".encode(), "ñandú"),
    ],
)
def test_a_secret_file_loses_one_newline_and_nothing_else(tmp_path: Path, content: bytes, value: str) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    assert load(env={"JADA_MODEL_KEY_FILE": str(file)}).model.key.reveal() == value


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("JADA_HTTP_PORT", "65536", ["http.port", "JADA_HTTP_PORT", "65536", "integer from 0 to 65535"]),
        ("JADA_HTTP_PORT", "-1", ["http.port", "-1", "integer from 0 to 65535"]),
        ("JADA_HTTP_PORT", "87.5", ["'87.5'", "integer from 0 to 65535"]),
        ("JADA_HTTP_PORT", "tcp://10.0.0.1:8787", ["tcp://10.0.0.1:8787", "integer"]),
        ("JADA_HTTP_PORT", "9" * 5000, ["integer from 0 to 65535"]),
        ("JADA_AGENT_POLL_S", "nan", ["agent.poll_s", "nan", "number from 0.05 to 60"]),
        ("JADA_AGENT_POLL_S", "inf", ["inf", "number from 0.05 to 60"]),
        ("JADA_AGENT_POLL_S", "-1e400", ["number from 0.05 to 60"]),
        ("JADA_AGENT_POLL_S", "2s", ["'2s'", "number from 0.05 to 60"]),
        ("JADA_BUS_REPLICAS", "2", ["bus.replicas", "'2'", "one of 1, 3"]),
        ("JADA_LOG_LEVEL", "INFO", ["log.level", "'INFO'", 'one of "debug", "info", "warning", "error"']),
        ("JADA_BUS_URL", f"nats://user:{PLANTED}@host", ["bus.url", "without credentials"]),
        ("JADA_MODEL_URL", f"https://user:{PLANTED}@host/v1", ["model.url", "without credentials"]),
        ("JADA_MODEL_URL", "localhost:8080", ["model.url"]),
        ("JADA_HTTP_PROT", "1", ["'JADA_HTTP_PROT'", "did you mean JADA_HTTP_PORT?"]),
        ("JADA_MODEL_KEY_FIEL", PLANTED, ["'JADA_MODEL_KEY_FIEL'", "did you mean JADA_MODEL_KEY_FILE?"]),
        ("JADA_CONFIG_FILE", "x", ["'JADA_CONFIG_FILE'"]),
        ("JADA_CONFG", "x", ["did you mean JADA_CONFIG?"]),
        ("JADA_QQQQQQQQ", PLANTED, ["'JADA_QQQQQQQQ'", "docs/settings.md"]),
        ("JADA_", "", ["'JADA_'"]),
        ("JADA_A\nB", "", ["'JADA_A\\nB'"]),
        ("JADA_MODEL_KEY_FILE", f"/no/{PLANTED}", ["model.key", "JADA_MODEL_KEY_FILE", "No such file"]),
        ("JADA_HTTP_PORT", "\udcff", ["http.port", "JADA_HTTP_PORT is not UTF-8 text"]),
        ("JADA_MODEL_KEY", "\udcff", ["model.key", "JADA_MODEL_KEY is not UTF-8 text"]),
        ("JADA_MODEL_KEY_FILE", "/", ["model.key", "JADA_MODEL_KEY_FILE", "directory"]),
        ("JADA_CONFIG", "/no/such.toml", ["/no/such.toml", "No such file"]),
    ],
)
def test_a_bad_variable_is_refused_with_one_line(variable: str, text: str, said: list[str]) -> None:
    (problem,) = problems({variable: text})
    assert [part for part in said if part not in problem] == []
    assert PLANTED not in problem
    assert len(problem) < 400


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[http]\nport = '1'", ["http.port", "jada.toml", "'1'", "integer from 0 to 65535"]),
        ("[http]\nport = true", ["http.port", "True"]),
        ("[http]\nport = 1.0", ["http.port", "1.0"]),
        ("[http]\nport = []", ["http.port", "[]"]),
        ("[http.port]\na = 1", ["http.port"]),
        ("[http]\nport = 2000-01-01", ["http.port", "integer"]),
        ("[agent]\npoll_s = nan", ["agent.poll_s", "nan"]),
        ("[agent]\npoll_s = true", ["agent.poll_s", "True"]),
        ("[agent]\ndefault_profile = ''", ["agent.default_profile", "not empty"]),
        ("[bus]\nreplicas = true", ["bus.replicas", "one of 1, 3"]),
        ("[bus]\nreplicas = 3.0", ["bus.replicas", "one of 1, 3"]),
        ("[model]\nkey = 12345", ["model.key", "this int", "secret text"]),
        (f"[model]\nkey = ['{PLANTED}']", ["model.key", "this list", "secret text"]),
        (f"[model]\nname = ['{PLANTED}']", ["model.name", "this list", "text"]),
        (f"model = '{PLANTED}'", ["model must be a section"]),
        (f"key = '{PLANTED}'", ["unknown section 'key'", "known: bus, embedded, http"]),
        ("[modle]", ["unknown section 'modle'", "did you mean model?"]),
        ("[http]\nprot = 1", ["unknown key 'http.prot'", "did you mean http.port?"]),
        ("[agent]\nport = 1", ["unknown key 'agent.port'", "did you mean http.port?"]),
        ("[log]\nxyzzy = 1", ["unknown key 'log.xyzzy'", "known: level, format"]),
        ('[log]\n"a\\nb" = 1', ["unknown key 'log.a\\nb'"]),
        ('"http.port" = 1', ["unknown section 'http.port'"]),
        (f"[model]\nkey = {PLANTED}", ["not valid TOML", "line 2"]),
        ("[http]\nport = 1\nport = 2", ["not valid TOML"]),
        ("a = " + "[" * 100_000, ["not valid TOML"]),
        ("a = " + "9" * 5000, ["not valid TOML"]),
    ],
)
def test_a_bad_toml_file_is_refused_with_one_line(tmp_path: Path, text: str, said: list[str]) -> None:
    (problem,) = problems({}, toml(tmp_path, text))
    assert [part for part in said if part not in problem] == []
    assert PLANTED not in problem


def test_a_toml_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jada.toml"
    path.write_bytes(b"\xff\xfe")
    assert problems({}, path) == (f"{path}: not UTF-8 text",)


def test_a_given_file_must_exist(tmp_path: Path) -> None:
    (problem,) = problems({}, tmp_path / "none.toml")
    assert "No such file" in problem


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "an empty file"), (b"\n", "an empty file"), (b"\xff", "not UTF-8 text")]
)
def test_a_useless_secret_file_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    (problem,) = problems({"JADA_MODEL_KEY_FILE": str(file)})
    assert said in problem


@pytest.mark.parametrize(
    ("env", "key"),
    [
        ({"JADA_MODEL_KEY": "a", "JADA_MODEL_KEY_FILE": "/x"}, "model.key"),
        ({"JADA_DATA": "a", "JADA_EMBEDDED_DATA_DIR": "a"}, "embedded.data_dir"),
        ({"JADA_DATA": "a", "JADA_EMBEDDED_DATA_DIR_FILE": "/x"}, "embedded.data_dir"),
    ],
)
def test_a_field_set_by_two_variables_is_refused(env: dict[str, str], key: str) -> None:
    (problem,) = problems(env)
    assert f"{key} is set more than once" in problem
    assert [name for name in env if name not in problem] == []


def test_what_a_file_holds_is_never_repeated(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(PLANTED, "utf-8")
    (problem,) = problems({"JADA_HTTP_PORT_FILE": str(file)})
    assert "http.port" in problem
    assert PLANTED not in problem


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    path = toml(tmp_path, "[http]\nport = 'x'\nprot = 1\n[nosuch]\n[bus]\nreplicas = 2")
    found = problems({"JADA_LOG_LEVEL": "loud", "JADA_HTTP_PORT": "1", "JADA_MODLE_KEY": "x"}, path)
    expected = ["http.prot", "'nosuch'", "JADA_MODLE_KEY", "http.port", "bus.replicas", "log.level"]
    assert [word for word, problem in zip(expected, found, strict=True) if word not in problem] == []


def test_a_settings_error_is_one_of_ours_and_its_traceback_shows_no_secret(tmp_path: Path) -> None:
    path = toml(tmp_path, f"[model]\nkey = ['{PLANTED}']")
    with pytest.raises(JadaError) as refused:
        load(env={"JADA_BUS_TOKEN": PLANTED, "JADA_HTTP_PORT": "x"}, path=path)
    assert PLANTED not in "".join(traceback.format_exception(refused.value))


def test_secrets_do_not_show_in_the_settings() -> None:
    secret = [field for field in all_fields().values() if field.base is Secret]
    settings = load(env={field.variable: PLANTED for field in secret})
    assert [value_of(settings, field.key) for field in secret] == [Secret(PLANTED)] * len(secret)
    assert PLANTED not in repr(settings)
    assert repr(settings).count("***") == len(secret)
