"""Profiles and the table of models: what loads, and that a fault is one line that names the thing and the remedy."""

import copy
import os

import pytest
import yaml

from creativemath_utils import models, profile
from creativemath_utils.models import Model, load_table
from creativemath_utils.profile import load_profile
from creativemath_utils.records import KitError
from creativemath_utils.store import ROOT

PLAIN = {
    "run": "mine",
    "corpus": {"source": "demo"},
    "generators": ["qwen-coder-1.5b"],
    "judges": ["rules", "qwen-coder-1.5b"],
}


@pytest.fixture
def load(tmp_path):
    """A function that writes a profile (a mapping laid over PLAIN, or a text) and loads it."""

    def write_and_load(content=None, **changes):
        file = tmp_path / "my.yaml"
        text = content if isinstance(content, str) else yaml.safe_dump({**copy.deepcopy(PLAIN), **changes})
        file.write_text(text, "utf-8", newline="")
        return load_profile(file)

    return write_and_load


def refusal(load, content=None, **changes):
    """The error of a profile that must not load: one line that begins with the file's name."""
    with pytest.raises(KitError) as caught:
        load(content, **changes)
    message = str(caught.value)
    assert "\n" not in message
    assert "my.yaml" in message
    return message.split("my.yaml", 1)[1]


# --- what a profile says --------------------------------------------------------------------------


def test_the_defaults_are_the_papers(load):
    loaded = load()
    assert loaded.decoding_of("qwen-coder-1.5b") == {"max_new_tokens": 1024, "temperature": 0}
    assert loaded.compared == loaded.generators == ("qwen-coder-1.5b",)
    assert (loaded.concurrency, loaded.offline, loaded.limit, loaded.select) == (50, False, None, None)
    assert (loaded.verdict_rule, loaded.judge_truncated, loaded.judge_retries) == ("strict", True, 0)
    assert (loaded.early_stop, loaded.max_cost_usd, loaded.max_calls) == (False, None, None)
    assert loaded.paths.problems == ROOT / "data" / "runs" / "mine" / "problems.jsonl"


def test_a_key_with_nothing_behind_it_is_no_key(load):
    # What is left of a section when all its lines are commented out.
    assert load(models=None, select=None, decoding=None, similarity=None) == load()


@pytest.mark.parametrize(
    "changes, judge, expected",
    [
        ({"decoding": {"max_new_tokens": 9}}, False, {"max_new_tokens": 9, "temperature": 0}),  # greedy still
        ({"decoding": {"temperature": 0.7}}, False, {"max_new_tokens": 1024, "temperature": 0.7}),
        ({"judge_decoding": {"max_new_tokens": 9}}, True, {"max_new_tokens": 9, "temperature": 0}),
        ({"judge_decoding": {"max_new_tokens": 9}}, False, {"max_new_tokens": 1024, "temperature": 0}),
        ({"decoding": {"temperature": 0.7}}, True, {"max_new_tokens": 1024, "temperature": 0.7}),  # judges too
        ({"decoding": {"temperature": None}}, False, {"max_new_tokens": 1024, "temperature": None}),  # the endpoint's
    ],
)
def test_decoding_is_laid_over_the_greedy_default(load, changes, judge, expected):
    assert load(**changes).decoding_of("qwen-coder-1.5b", judge=judge) == expected


def test_a_models_own_decoding_wins(load):
    loaded = load(
        decoding={"max_new_tokens": 512, "temperature": 0},
        judge_decoding={"max_new_tokens": 256},
        models={"qwen-coder-1.5b": {"decoding": {"max_new_tokens": 8192}}},
    )
    for judge in (False, True):
        assert loaded.decoding_of("qwen-coder-1.5b", judge=judge) == {"max_new_tokens": 8192, "temperature": 0}


def test_numbers_of_the_decoding_stay_as_written(load):
    # 0 and 0.0 are two texts in JSON, so two keys: nothing may turn one into the other.
    values = load(decoding={"temperature": 0, "top_p": 1.0}).decoding_of("rules")
    assert repr(values) == "{'max_new_tokens': 1024, 'temperature': 0, 'top_p': 1.0}"


@pytest.mark.parametrize("name", [".", "..", "...", "a/b", "../a", "/a", "a\\b", "a b", "", "ü", "a\n"])
def test_a_run_name_that_could_leave_its_folder_is_refused(load, name):
    assert refusal(load, run=name).startswith(f": run {name!r} may hold only letters")


@pytest.mark.parametrize("name", ["0012", "a.b-c_D", "..a"])
def test_a_run_name_stays_the_text_it_is(load, name):
    assert load(run=name).run == name


# --- paths ----------------------------------------------------------------------------------------


def test_paths_are_below_the_profiles_folder_then_the_kits(load, tmp_path, monkeypatch):
    loaded = load(recording="data/demo")
    monkeypatch.setenv("MY_FOLDER", str(tmp_path / "else"))
    assert loaded.recording_path == ROOT / "data/demo"
    (tmp_path / "data/demo").mkdir(parents=True)
    assert loaded.recording_path == tmp_path / "data/demo"
    assert loaded.path("not/there.jsonl") == ROOT / "not/there.jsonl"
    assert loaded.path("/x/y.json") == type(tmp_path)("/x/y.json")
    assert loaded.path("$MY_FOLDER/y.json") == tmp_path / "else/y.json"
    assert loaded.path("~/y.json") == type(tmp_path).home() / "y.json"


def test_a_relative_profile_survives_a_change_of_the_working_folder(load, tmp_path, monkeypatch):
    load()
    (tmp_path / "rec").mkdir()
    monkeypatch.chdir(tmp_path)
    loaded = load_profile("./my.yaml")
    monkeypatch.chdir(os.sep)
    assert loaded.path("rec") == tmp_path / "rec"


@pytest.mark.parametrize("name", ["notebooks/profiles/demo.yaml", "demo"])
def test_a_profile_is_found_from_any_folder(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert load_profile(name).run == "demo"


@pytest.mark.parametrize(
    "name, hint",
    [("demmo", "did you mean 'demo'"), ("", "known: "), ("..", "known: "), ("no/such.yaml", "known: ")],
)
def test_an_unknown_profile_is_named(name, hint):
    with pytest.raises(KitError) as caught:
        load_profile(name)
    assert str(caught.value).startswith(f"no profile {name!r}; {hint}")


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"generater": []}, ": unknown key 'generater'; did you mean 'generators'?"),
        ({"table": {}}, ": unknown key 'table'; "),  # the kit's own field, no key of a file
        ({"concurency": None}, ": unknown key 'concurency'; did you mean 'concurrency'?"),  # also with nothing behind
        ({"corpus": {"source": "demo", "colums": {}}}, ": unknown key 'corpus.colums'; did you mean 'columns'?"),
        ({"select": {"per_competition": 5, "sed": 1}}, ": unknown key 'select.sed'; did you mean 'seed'?"),
        ({"judges": None}, ": judges is missing"),
        ({"corpus": {"path": "x"}}, ": corpus.source is missing"),
        ({"corpus": {"source": "demmo"}}, ": corpus.source: Input should be 'demo', 'creativemath', "),
        ({"generators": "rules"}, ": generators: Input should be a valid tuple (found 'rules'); write a list"),
        (
            {"generators": []},
            ": generators: Tuple should have at least 1 item after validation, not 0 (found []); name one or more",
        ),
        (
            {"limit": "ten"},
            ": limit: Input should be a valid integer, unable to parse string as an integer (found 'ten'); write a wh",
        ),
        ({"corpus": {"source": "demo", "columns": {"a": "b"}}}, ": corpus: columns: belongs to source hub, this is"),
        (
            {"models": {"a": {"backend": "api", "id": "x", "extra_body": {"model": "y"}}}},
            ": models.a: extra_body: 'model' is set by the kit, from `id`; take it out",
        ),
        (
            {"models": {"a": {"backend": "api", "id": "x", "extra_body": {"temperature": 1}}}},
            ": models.a: extra_body: 'temperature' is set by the kit, from `decoding`; take it out",
        ),
        (
            {"models": {"a": {"backend": "api", "id": "x", "quantization": "4bit"}}},
            ": models.a: quantization: 4bit is how a local model is loaded",
        ),
        ({"run": 10}, ": run: Input should be a valid string (found 10); put it in quotes"),  # from `run: 0012`
        ({"judges": [False]}, ": judges.0: Input should be a valid string (found False); put it in quotes"),  # `no`
        ({"limit": 0}, ": limit: Input should be greater than 0 (found 0)"),
        ({"concurrency": 1.5}, ": concurrency: Input should be a valid integer"),
        ({"offline": "maybe"}, ": offline: Input should be a valid boolean"),
        ({"max_calls": 0}, ": max_calls: Input should be greater than 0"),
        ({"max_cost_usd": -1}, ": max_cost_usd: Input should be greater than 0"),
        ({"max_cost_usd": float("inf")}, ": max_cost_usd: Input should be a finite number"),  # no limit is no key
        ({"early_stop": "maybe"}, ": early_stop: Input should be a valid boolean"),
        ({"verdict_rule": "loose"}, ": verdict_rule: Input should be 'strict' or 'release'"),
        ({"decoding": {"max_tokens": 9}}, ": decoding: unknown key 'max_tokens'; did you mean 'max_new_tokens'?"),
        ({"decoding": {"max_new_tokens": 0}}, ": decoding: max_new_tokens must be int from 1 on, found 0"),
        ({"decoding": {"temperature": "1e-3"}}, ": decoding: temperature must be int or float from 0 on"),  # YAML 1.1
        ({"judge_decoding": {"seed": True}}, ": judge_decoding: seed must be int, found True"),
        ({"generators": ["qwen-coder-1.5B-t"]}, ": generators: model 'qwen-coder-1.5B-t' is in no table; did you mean"),
        ({"judges": ["rulez"]}, ": judges: model 'rulez' is in no table; did you mean 'rules'? Add it under `models:`"),
        ({"judges": ["rules", "rules"]}, ": judges names a model twice"),  # one vote counted as two
        ({"similarity": ["gpt-4o"]}, ": similarity: 'gpt-4o' is not among the generators"),
        ({"generators": ["rules"]}, ": generators: 'rules' is no language model, it can only judge; take it out"),
        ({"models": {"pairs": {"backend": "api", "id": "x"}}}, ": model name 'pairs' is the name of a file"),
        ({"models": {"a/b": {"backend": "api", "id": "x"}}}, ": model name 'a/b' may hold only letters"),
        ({"models": {"a": None}}, ": models.a must be a mapping such as {backend: api, id: ...}"),
        ({"models": {"a": {"backend": "api"}}}, ": models.a: id is missing; an entry with a backend or id of its own"),
        ({"models": {"a": {"backend": "api", "id": "x", "name": "b"}}}, ": models.a: unknown key 'name'; "),
        ({"models": {"a": {"backend": "api", "id": "x", 1: 2}}}, ": models.a: unknown key 1; "),
        (
            {"models": {"a": {"backend": "api", "id": "x", "quant": "4bit"}}},
            ": models.a: unknown key 'quant'; did you mean 'quantization'?",
        ),
        (
            {"models": {"a": {"backend": "api", "id": "x", "price": {"inptu": 1, "output": 1, "date": "d"}}}},
            ": models.a: price.input is missing",
        ),
        (
            {"models": {"a": {"backend": "api", "id": "x", "price": {"input": 1, "output": 1, "date": "d", "in": 1}}}},
            ": models.a: unknown key 'price.in'; did you mean 'input'?",
        ),
        ({"models": {"a": {"backend": "llama", "id": "x"}}}, ": models.a: backend: Input should be 'api', 'local', "),
    ],
)
def test_a_fault_is_one_line_with_thing_and_remedy(load, changes, message):
    assert refusal(load, **changes).startswith(message)


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("api_key_env", "sk-proj-secret", "must be the name of an environment variable"),  # the key for its name
        ("base_url", "me:secret@host/v1", "must be an address that begins with http:// or https://"),
    ],
)
def test_a_secret_in_the_wrong_place_is_not_shown(load, field, value, message):
    entry = {"backend": "api", "id": "x", "base_url": "https://a/v1", field: value}
    said = refusal(load, models={"a": entry})
    assert said.startswith(f": models.a: {field} {message}")
    assert "secret" not in said


@pytest.mark.parametrize(
    "text, message",
    [
        ("run: mine\ncorpus: {source: demo\njudges: [rules]\n", ":3: not readable as YAML ("),
        ("run: mine\n\tcorpus: x\n", ":2: not readable as YAML ("),  # a tab
        ("run: mine\njudges: [*nobody]\n", ":2: not readable as YAML (found undefined alias"),
        ("run: !!python/name:os.system\n", ":1: not readable as YAML (could not determine a constructor"),
        ("run: mi\x00ne\n", ": not readable as YAML (unacceptable character"),
        ("run: mine\njudges: [a]\nlimit: 3\njudges: [b]\n", ":4: key 'judges' stands twice; take one of them out"),
        ("run: mine\nmodels:\n  a: {id: x}\n  a: {id: y}\n", ":4: key 'a' stands twice"),
        ("1: 2\n", ": unknown key 1; known: "),
        ("- run\n", ": expected a mapping with run, corpus, generators and judges"),
        ("", ": expected a mapping"),
    ],
)
def test_a_file_that_is_no_profile_is_refused_with_its_line(load, text, message):
    assert refusal(load, text).startswith(message)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "my.yaml").write_bytes(b"run: m\xfcne\n")
    with pytest.raises(KitError, match=r"my\.yaml: not readable as YAML \('utf-8' codec"):
        load_profile(tmp_path / "my.yaml")


# --- the table of models --------------------------------------------------------------------------


def test_a_single_field_is_laid_over_the_table():
    plain, table = load_table()["qwen-coder-1.5b"], load_table({"qwen-coder-1.5b": {"base_url": "http://b/v1"}})
    assert table["qwen-coder-1.5b"] == plain.model_copy(update={"base_url": "http://b/v1"})
    assert table["qwen-coder-1.5b"].identity() == plain.identity()


def test_the_same_id_said_again_still_inherits():
    again = {"id": "Qwen/Qwen2.5-Coder-1.5B-Instruct", "quantization": "Q8_0"}
    model = load_table({"qwen-coder-1.5b": again})["qwen-coder-1.5b"]
    assert (model.window, model.quantization) == (4096, "Q8_0")


def test_an_entry_with_another_id_inherits_nothing():
    entry = {"backend": "api", "id": "gpt-9", "base_url": "https://a/v1"}
    model = load_table({"gpt-4o": entry})["gpt-4o"]
    assert model == Model(name="gpt-4o", **entry)  # no price, window or system prompt of the old model


def test_another_id_alone_is_no_entry():
    with pytest.raises(KitError, match=r"models\.gpt-4o: backend is missing; an entry .* inherits nothing"):
        load_table({"gpt-4o": {"id": "gpt-9"}})


def test_a_new_model_may_be_anything_the_contract_names():
    table = load_table(
        {
            "my-model": {"backend": "api", "id": "some-model", "base_url": "http://127.0.0.1:8000/v1",
                         "api_key_env": "MY_KEY", "label": "My Model", "system": None,
                         "decoding": {"max_new_tokens": 8192}, "extra_body": {}},
            "small": {"backend": "local", "id": "path", "gguf_file": "x.gguf", "dtype": "float32",
                      "quantization": None, "batch_size": 8},
        }
    )  # fmt: skip
    assert (table["my-model"].shown, table["small"].shown) == ("My Model", "small")
    assert table["my-model"].identity() == {"id": "some-model"}
    assert table["small"].identity() == {"id": "path", "gguf_file": "x.gguf", "dtype": "float32"}


@pytest.mark.parametrize(
    "name, backend, model_id, system, source",
    [  # the paper's models and the system prompts of its release
        ("gemini-1.5-pro", "api", "gemini-1.5-pro", None, "closed"),
        ("claude-3-opus", "api", "claude-3-opus-20240229", None, "closed"),
        ("gpt-4o", "api", "gpt-4o-2024-05-13", "You are a helpful assistant.", "closed"),
        ("deepseek-v2", "api", "deepseek-chat", "You are a helpful assistant", "open"),
        ("llama-3-70b", "local", "meta-llama/Meta-Llama-3-70B-Instruct", None, "open"),
        ("qwen1.5-72b", "local", "Qwen/Qwen1.5-72B-Chat", "You are a helpful assistant.", "open"),
        ("yi-1.5-34b", "local", "01-ai/Yi-1.5-34B-Chat", None, "open"),
        ("mixtral-8x22b", "local", "mistralai/Mixtral-8x22B-Instruct-v0.1", None, "open"),
        ("deepseek-math-7b-rl", "local", "deepseek-ai/deepseek-math-7b-rl", None, "math"),
        ("internlm2-math-20b", "local", "internlm/internlm2-math-20b", None, "math"),
        ("gpt-4", "api", "gpt-4-0613", "You are a helpful assistant.", None),
        ("claude-3.5-sonnet", "api", "claude-3-5-sonnet-20240620", None, None),
    ],
)
def test_the_papers_models(name, backend, model_id, system, source):
    model = load_table()[name]
    assert (model.backend, model.id, model.system, model.source) == (backend, model_id, system, source)
    if backend == "api":
        assert model.base_url and model.api_key_env and model.price
    else:  # bfloat16 takes two bytes a parameter: they must fit into the A100s of 80 GB that are named
        assert model.dtype == "bfloat16" and 2 * model.parameters_b < 80 * model.gpus


def test_the_peculiarities_of_the_papers_local_models():
    table = load_table()
    assert table["llama-3-70b"].end_tokens == ("<|eot_id|>",)
    assert [name for name, model in table.items() if not model.use_fast_tokenizer] == ["yi-1.5-34b"]
    assert [name for name, model in table.items() if model.trust_remote_code] == ["internlm2-math-20b"]
    assert table["deepseek-math-7b-rl"].window == 4096


def test_names_and_labels_of_the_table_are_one_a_model():
    table = load_table()
    assert len({name.lower() for name in table}) == len(table)  # they name files, also where case does not count
    assert len({model.shown for model in table.values()}) == len(table)


@pytest.mark.parametrize(
    "word, hint",
    [("demmo", "did you mean 'demo'?"), ("xyz", "known: corpus, demo"), (12, "known: corpus, demo")],
)
def test_the_nearest_word(word, hint):
    assert models.nearest(word, ["demo", "corpus"]) == hint


# --- the profiles of the kit ----------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(profile.PROFILES.glob("*.yaml")), ids=lambda file: file.stem)
def test_each_profile_of_the_kit_loads_and_is_named_for_its_run(file):
    assert load_profile(file).run == file.stem


def test_the_demo_is_offline():
    demo = load_profile("demo")
    assert demo.offline and demo.recording_path == ROOT / "data/demo/responses"


def test_the_papers_profile_is_the_papers_experiment():
    paper = load_profile("paper")
    assert paper.corpus.source == "creativemath" and paper.limit is None and paper.select is None
    assert [paper.model(name).shown for name in paper.generators] == [
        "Gemini-1.5-Pro", "Claude-3-Opus", "GPT-4o", "DeepSeek-V2", "Llama-3-70B", "Qwen1.5-72B", "Yi-1.5-34B",
        "Mixtral-8x22B", "Deepseek-Math-7B-RL", "Internlm2-Math-20B",
    ]  # fmt: skip
    assert paper.judges == ("gpt-4", "claude-3.5-sonnet", "gemini-1.5-pro")
    assert paper.compared == tuple(name for name in paper.generators if paper.model(name).source != "math")
    assert len(paper.compared) == 8
    for name in paper.generators:
        assert paper.decoding_of(name) == {"max_new_tokens": 1024, "temperature": 0}


def test_the_published_subset_with_a_small_model():
    small = load_profile("creativemath")
    assert (small.corpus.source, small.limit, small.offline) == ("creativemath", 24, False)
    assert (small.generators, small.judges) == (("qwen-coder-1.5b",), ("rules", "qwen-coder-1.5b"))
    assert small.decoding_of("qwen-coder-1.5b") == {"max_new_tokens": 1024, "temperature": 0}
    assert small.decoding_of("qwen-coder-1.5b", judge=True) == {"max_new_tokens": 256, "temperature": 0}
