"""What every metric must do, whichever it is: units are found by looking at the folders."""

import ast
import doctest
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lapsus.metrics

ROOT = Path(__file__).parents[1]
NAMES = lapsus.metrics.names()

# the contract of DESIGN: options may grow, these keys may not go
KEYS = {
    "noise_rate": "micro_average worst_average annotator_averages corpus_rate examples skipped",
    "micro_worst_average": "micro_average worst_average annotator_averages examples micro_average_ci worst_average_ci "
    "groups clean_average micro_drop worst_drop clean_average_ci micro_drop_ci worst_drop_ci",
    "prediction_consistency": "changed examples changed_rate changed_rate_ci accuracy original_accuracy transitions "
    "changed_rate_when_correct changed_rate_when_wrong mcnemar_p",
    "slu_accuracy": "e2e_accuracy intent_accuracy slot_f1 slot_precision slot_recall counts slot_types examples",
    "win_rate": "win_rate wins losses ties trials p_value p_value_bonferroni significant win_rate_ci "
    "minimum_detectable_rate",
    "mixed_effects": "coefficients intercept example_variance residual_variance log_likelihood paired examples "
    "observations",
    "dialect_awareness": "awareness_rate wins ties losses trials p_value",
    "human_likeness": "auc human_aucs synthetic human humans features examples",
    "annotated_bleu": "micro_average worst_average annotator_averages signature examples",
}


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    os.environ.setdefault("HF_HOME", str(tmp_path_factory.mktemp("hf")))
    return pytest.importorskip("evaluate")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def metric(evaluate, name):
    return load(evaluate, name)


@pytest.fixture
def example(name):
    return example_of(name)


def load(evaluate, name, **kwargs):
    return evaluate.load(str(ROOT / "metrics" / name), **kwargs)


def example_of(name):
    return runpy.run_path(str(ROOT / "metrics" / name / "app.py"))["EXAMPLE"]


def split(metric, example):
    columns = {key: example[key] for key in metric._feature_names()}
    return columns, {key: value for key, value in example.items() if key not in columns}


def singular(columns):
    names = {"predictions": "prediction", "references": "reference"}
    rows = zip(*columns.values(), strict=True)
    return [dict(zip((names.get(key, key) for key in columns), row, strict=True)) for row in rows]


def test_every_folder_is_a_metric():
    folders = {path.name for path in (ROOT / "metrics").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(NAMES)


def test_the_function_wins_over_its_folder(name):
    program = (
        f"from lapsus.metrics.{name}.score import {name} as first\n"
        f"import lapsus.metrics\n"
        f"assert lapsus.metrics.{name} is first, lapsus.metrics.{name}\n"
        f"assert {name!r} in dir(lapsus.metrics)\n"
    )
    exec(program, {})  # noqa: S102 - our own program


def test_functions_import_neither_evaluate_nor_datasets():
    program = (
        "import sys, lapsus.metrics\n"
        "for name in lapsus.metrics.names(): assert callable(getattr(lapsus.metrics, name))\n"
        "heavy = {'evaluate', 'datasets', 'torch', 'transformers', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_the_module_is_one_that_evaluate_can_load(name):
    source = (ROOT / "metrics" / name / f"{name}.py").read_text("utf-8")
    body = ast.parse(source).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    assert len(classes) == 1
    assert body[-1] is classes[0]
    assert f"\nfrom .score import {name}\n" in source, "evaluate takes a comment on this line for an address"


def test_documentation_runs(metric, name, monkeypatch):
    monkeypatch.chdir(ROOT)
    for module in (sys.modules[type(metric).__module__], sys.modules[lapsus.metrics.__name__]):
        failed, attempted = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        assert failed == 0
        assert attempted > (module is not lapsus.metrics)
    assert name in getattr(lapsus.metrics, name).__doc__


def test_result_has_the_agreed_keys_in_plain_json(metric, name, example):
    columns, options = split(metric, example)
    result = metric.compute(**columns, **options)
    assert set(KEYS[name].split()) <= result.keys()
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result == getattr(lapsus.metrics, name)(**example)


def test_add_and_add_batch_give_the_same(metric, example):
    columns, options = split(metric, example)
    expected = metric.compute(**columns, **options)
    for row in singular(columns):
        metric.add(**row)
    assert metric.compute(**options) == expected
    metric.add_batch(**{key: column[:1] for key, column in columns.items()})
    for row in singular({key: column[1:2] for key, column in columns.items()}):
        metric.add(**row)
    if len(columns["predictions"]) > 2:
        metric.add_batch(**{key: column[2:] for key, column in columns.items()})
    assert metric.compute(**options) == expected


def test_more_rows_than_one_write(evaluate):
    metric = load(evaluate, "win_rate")
    for number in range(2500):
        metric.add(prediction=number % 3, reference=1)
    result = metric.compute()
    assert (result["wins"], result["ties"], result["losses"]) == (833, 833, 834)


WRONG = {"string": [3, b"x", 1.5, True, None, ["z"]], "double": ["1", None, b"1"], "int64": [1.7, "1", None]}


def test_every_element_is_checked(metric, example):
    columns, options = split(metric, example)
    metric.compute(**columns, **options)
    metric.add_batch(**columns)  # so that the features are chosen
    for key, field in ((field.name, field.type) for field in metric.selected_feature_format.arrow_schema):
        for wrong in WRONG.get(str(field), ["z", 3, None]):
            column = [*columns[key][:-1], wrong]
            with pytest.raises(TypeError, match=rf"^{key}.*\[{len(column) - 1}\] is "):
                metric.add_batch(**{**columns, key: column})
            with pytest.raises(TypeError, match=rf"^{key}"):
                getattr(lapsus.metrics, metric.name)(**{**example, key: column})


def test_the_second_element_is_not_cast_to_the_type_of_the_first(evaluate):
    with pytest.raises(TypeError, match=r"predictions\[1\] is 3: string is expected"):
        load(evaluate, "noise_rate").compute(predictions=["a", 3], references=["a", "b"])
    columns = {"references": [0, 1], "original_predictions": [0, 1]}
    with pytest.raises(TypeError, match=r"predictions\[1\] is 1.7: int64 is expected"):
        load(evaluate, "prediction_consistency").compute(predictions=[0, 1.7], **columns)
    with pytest.raises(TypeError, match="ud800"):
        load(evaluate, "noise_rate").compute(predictions=["a", "\ud800"], references=["a", "b"])


def test_numbers_of_mixed_types_are_numbers(evaluate):
    mixed = [1, True, np.float32(0.5), np.int8(0)]
    result = load(evaluate, "win_rate").compute(predictions=mixed, references=[0] * 4)
    assert (result["wins"], result["ties"]) == (3, 1)
    assert (
        load(evaluate, "win_rate").compute(predictions=np.array([1.0, 2.0]), references=np.array([1, 1]))["wins"] == 1
    )


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_tables_of_any_kind(evaluate, kind):
    table = [[1, 0.5], [0, 1]]
    result = load(evaluate, "micro_worst_average").compute(predictions=kind(table), n_resamples=0)
    assert result["micro_average"] == 0.625
    assert result["worst_average"] == 0.25


def test_unknown_options_raise(metric, name, example):
    with pytest.raises(TypeError, match="colour"):
        metric.compute(**example, colour="red")
    with pytest.raises(TypeError, match="colour"):
        getattr(lapsus.metrics, name)(**example, colour="red")


def test_missing_and_unequal_columns_are_named(metric, example):
    columns, _ = split(metric, example)
    shorter = {**columns, "predictions": columns["predictions"] * 2}
    if len(columns) > 1:
        with pytest.raises(
            ValueError, match=f"columns differ in length .*{2 * len(columns['predictions'])} predictions"
        ):
            metric.add_batch(**shorter)
        with pytest.raises(ValueError, match="it needs predictions"):
            metric.add_batch(predictions=columns["predictions"])
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()


def test_empty_columns_raise(metric, name, example):
    columns, _ = split(metric, example)
    with pytest.raises(ValueError, match=r"empty|nothing to score"):
        metric.compute(**{key: [] for key in columns})
    with pytest.raises(ValueError, match=r"empty|nothing to score"):
        getattr(lapsus.metrics, name)(**{key: [] for key in columns})


def test_neither_a_second_instance_nor_a_failed_one_stalls(evaluate, name, example):
    first, second = load(evaluate, name), load(evaluate, name)
    columns, options = split(first, example)
    first.add_batch(**columns)
    assert first.filelock is None, "a cache file's lock is what others would wait for"
    result = second.compute(**columns, **options)
    with pytest.raises(TypeError):
        second.compute(**{**columns, "predictions": [object()] * len(columns["predictions"])})
    assert second.compute(**columns, **options) == result
    assert load(evaluate, name).compute(**columns, **options) == result
    assert first.compute(**options) == result


def test_a_failed_compute_leaves_nothing_behind(evaluate):
    metric = load(evaluate, "noise_rate")
    with pytest.raises(ValueError, match=r"references\[0\] is empty"):
        metric.compute(predictions=["a"], references=[""])
    assert metric.compute(predictions=["ab"], references=["a"])["examples"] == 1


def test_combine(evaluate):
    both = evaluate.combine([str(ROOT / "metrics" / name) for name in ("win_rate", "dialect_awareness")])
    both.add_batch(predictions=[2.0, 1.0], references=[1.0, 1.0])
    both.add(prediction=0.0, reference=1.0)
    result = both.compute()
    assert result["win_rate"] == 1 / 3
    assert result["awareness_rate"] == 2 / 3


PROCESS = """
import json, sys, runpy
import evaluate
sys.path.insert(0, sys.argv[1])
from test_metrics import NAMES, example_of, load, split
number = int(sys.argv[2])
for name in NAMES:
    metric = load(evaluate, name, num_process=2, process_id=number, experiment_id="two", cache_dir=sys.argv[3])
    columns, options = split(metric, example_of(name))
    middle = (len(columns["predictions"]) + 1) // 2
    mine = slice(None, middle) if number == 0 else slice(middle, None)
    part = {key: column[mine] for key, column in columns.items()}
    metric.add_batch(**part) if part["predictions"] else metric.add_batch(**{key: [] for key in part})
    result = metric.compute(**options)
    assert (result is None) == (number == 1)
    if number == 0:
        print(json.dumps({name: result}))
"""


@pytest.mark.slow
def test_two_processes_score_together(tmp_path):
    command = [sys.executable, "-c", PROCESS, str(Path(__file__).parent)]
    processes = [
        subprocess.Popen(
            [*command, str(number), str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    (output, errors), (_, other_errors) = (process.communicate(timeout=240) for process in processes)
    assert [process.returncode for process in processes] == [0, 0], errors + other_errors
    results = {key: value for line in output.splitlines() for key, value in json.loads(line).items()}
    assert results == {name: getattr(lapsus.metrics, name)(**example_of(name)) for name in NAMES}


@pytest.mark.usefixtures("evaluate")
def test_the_card_is_fresh(name):
    from lapsus.hub.metric_card import card

    assert (ROOT / "metrics" / name / "README.md").read_text("utf-8") == card(name), (
        "run python -m lapsus.hub.metric_card"
    )


def test_the_card_is_complete(name):
    text = (ROOT / "metrics" / name / "README.md").read_text("utf-8")
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    wanted = [
        "Description",
        "How to use",
        "Inputs and options",
        "Output",
        "Values from the papers",
        "Limits",
        "Citation",
    ]
    assert headings == wanted
    function = getattr(lapsus.metrics, name)
    for argument in function.__annotations__.keys() - {"return"}:
        assert f"- **{argument}**" in text


def test_requirements_name_what_is_imported(name):
    folder = ROOT / "metrics" / name
    required = set((folder / "requirements.txt").read_text("utf-8").split())
    imported = set()
    for script in (folder / f"{name}.py", folder / "score.py"):
        for node in ast.walk(ast.parse(script.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    assert required == imported - set(sys.stdlib_module_names)


def test_the_app_answers(name, example):
    from lapsus.kernel.space import answer

    assert f"app({name}, EXAMPLE)" in (ROOT / "metrics" / name / "app.py").read_text("utf-8")
    metric = getattr(lapsus.metrics, name)
    assert answer(metric, json.dumps(example)) == metric(**example)
    with pytest.raises(ValueError, match="no JSON"):
        answer(metric, "{")
    with pytest.raises(TypeError, match="one JSON object"):
        answer(metric, "[]")
