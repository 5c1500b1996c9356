"""What every metric must do, whichever it is: units are found by looking at the folders."""

import ast
import doctest
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from paths import ROOT, TESTS

import lapsus.metrics
from lapsus.hub.metric_space import (
    HANDWRITTEN_SECTIONS,
    load_metric_class,
    parse_docstring_section,
    render_app,
    render_metric_card,
)
from lapsus.metrics import micro_worst_average, prediction_consistency, win_rate

NAMES = lapsus.metrics.list_metrics()


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
    return load_metric_class(name).EXAMPLE


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
        "for name in lapsus.metrics.list_metrics(): assert callable(getattr(lapsus.metrics, name))\n"
        "heavy = {'evaluate', 'datasets', 'torch', 'transformers', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_the_app_of_a_space_is_of_its_metric(name):
    program = {"__name__": "app"}
    exec(render_app(name), program)  # noqa: S102 - our own program
    assert program[name] is getattr(lapsus.metrics, name)
    assert program[load_metric_class(name).__name__].EXAMPLE
    assert not (ROOT / "metrics" / name / "app.py").exists()


def test_the_module_is_one_that_evaluate_can_load(name):
    source = (ROOT / "metrics" / name / f"{name}.py").read_text("utf-8")
    body = ast.parse(source).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    assert len(classes) == 1
    assert body[-1] is classes[0]
    assert f"\nfrom .score import {name}\n" in source, "evaluate takes a comment on this line for an address"


def test_the_module_keeps_the_convention_that_evaluate_tests(metric, monkeypatch):
    """What `tests/test_metric_common.py` of evaluate does with every module."""
    monkeypatch.chdir(ROOT)
    parameters = inspect.signature(type(metric)._compute).parameters
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters.values())
    outcome = doctest.testmod(sys.modules[type(metric).__module__], raise_on_error=True)
    assert outcome.failed == 0
    assert outcome.attempted > 1


def test_compute_has_the_parameters_of_the_function(metric, name):
    this, *parameters = inspect.signature(type(metric)._compute).parameters.values()
    assert this.name == "self"
    assert parameters == list(inspect.signature(getattr(lapsus.metrics, name)).parameters.values())


def test_documentation_and_features_are_complete(metric, name):
    assert metric.name == name
    assert metric.citation.startswith("@")
    assert metric.description == inspect.getdoc(type(metric))
    arguments = inspect.signature(type(metric)._compute.__get__(metric)).parameters
    assert list(parse_docstring_section(metric.inputs_description, "Args")) == list(arguments)
    given = [
        features.keys() for features in (metric.features if isinstance(metric.features, list) else [metric.features])
    ]
    required = {key for key, argument in arguments.items() if argument.default is argument.empty}
    assert all(required <= keys <= arguments.keys() for keys in given)
    assert metric.inputs_description in metric.compute.__doc__


def test_the_example_of_the_package_runs():
    outcome = doctest.testmod(lapsus.metrics)
    assert outcome.failed == 0
    assert outcome.attempted


def documented_keys(name):
    """Return the keys that every result has, and those that some have, as the docstring says."""
    always, sometimes = set(), set()
    for keys, text in parse_docstring_section(inspect.getdoc(getattr(lapsus.metrics, name)), "Returns").items():
        (sometimes if " only" in text.partition(":")[0] else always).update(keys.split(", "))
    return always, sometimes


def test_a_result_has_the_documented_keys_in_plain_json(metric, name, example):
    columns, options = split(metric, example)
    result = metric.compute(**columns, **options)
    always, sometimes = documented_keys(name)
    assert always <= result.keys() <= always | sometimes
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
    with pytest.raises(TypeError, match=r"predictions\[1\] is 3: give a text; str\(3\) makes one"):
        load(evaluate, "noise_rate").compute(predictions=["a", 3], references=["a", "b"])
    columns = {"references": [0, 1], "original_predictions": [0, 1]}
    with pytest.raises(TypeError, match=r"predictions\[1\] is 1.7: give a whole number"):
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
import json, sys
import evaluate
sys.path[:0] = json.loads(sys.argv[1])
from test_every_metric import NAMES, example_of, load, split
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
    command = [sys.executable, "-c", PROCESS, json.dumps([str(Path(__file__).parent), str(TESTS / "helpers")])]
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


def test_the_card_says_all(name):
    text = (ROOT / "metrics" / name / "README.md").read_text("utf-8")
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Description", "How to use", "Inputs and options", "Output", *HANDWRITTEN_SECTIONS, "Citation"]
    for argument in inspect.signature(getattr(lapsus.metrics, name)).parameters:
        assert f"- **{argument}**" in text


def test_a_card_without_its_hand_written_sections_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(lapsus.metrics, "FOLDER", tmp_path)
    with pytest.raises(LookupError, match="has no section 'Values from the papers': write it"):
        render_metric_card(name)


def test_the_app_answers(name, example):
    from lapsus.integrations.metric_app import compute_from_json

    metric = getattr(lapsus.metrics, name)
    assert compute_from_json(metric, json.dumps(example)) == metric(**example)
    with pytest.raises(ValueError, match="no JSON"):
        compute_from_json(metric, "{")
    with pytest.raises(TypeError, match="one JSON object"):
        compute_from_json(metric, "[]")


def test_the_app_answers_a_file_and_draws(name, example, tmp_path):
    from lapsus.integrations.metric_app import compute_from_files, draw_points, extract_points, split_example

    metric = getattr(lapsus.metrics, name)
    rows, options = split_example(name, example)
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    result = compute_from_files(name, [str(tmp_path / "rows.jsonl")], "\n".join(options))
    assert {key: value for key, value in result.items() if key not in {"join", "warnings"}} == metric(**example)
    drawn = extract_points(result)
    assert drawn and all(point.low is None or point.low <= point.value <= point.high for point in drawn)
    (axes,) = draw_points(result).axes
    assert [text.get_text() for text in axes.get_yticklabels()][::-1] == [p.name.replace("_", " ") for p in drawn]
    (tmp_path / "rows.jsonl").write_text("{", "utf-8")
    for files, options, sentence in (
        ([str(tmp_path / "rows.jsonl")], "", r"^rows.jsonl, line 1"),
        ([], "", "There is no file"),
        ([str(tmp_path / "rows.jsonl")], "seed", "The option 'seed' has no value"),
    ):
        with pytest.raises(ValueError, match=sentence):
            compute_from_files(name, files, options)


def test_the_app_says_cures_that_its_box_of_options_takes(tmp_path):
    from lapsus.integrations.metric_app import compute_from_files

    said = {"noisy.jsonl": "ab", "clean.jsonl": "bb"}
    for name, answers in said.items():
        rows = [{"id": place, "heard": answer, "gold": "b"} for place, answer in enumerate(answers)]
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    files = [str(tmp_path / name) for name in said]
    options: list[str] = []
    for cure in ("predictions=heard", "original_predictions=clean.jsonl"):
        with pytest.raises(ValueError, match=f"give the option {cure}\\.$"):
            compute_from_files("prediction_consistency", files[:1], "\n".join(options))
        options.append(cure)
    options[-1] += ":heard"
    assert compute_from_files("prediction_consistency", files, "\n".join(options))["changed"] == 1
    with pytest.raises(ValueError, match="The option 'predictions' is given twice: give it once"):
        compute_from_files("prediction_consistency", files, "\n".join([*options, "predictions = gold"]))


def test_a_metric_of_another_package_is_listed_and_scored(tmp_path):
    package, facts = tmp_path / "otherpack.py", tmp_path / "otherpack-1.dist-info"
    package.write_text(
        "from collections.abc import Iterable\n"
        "def doubled(predictions: 'Iterable[float]') -> dict:\n"
        '    """Return twice the sum."""\n'
        "    return {'doubled': 2 * sum(predictions)}\n"
        "UNITS = (doubled,)\n"
    )
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: otherpack\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[lapsus.metrics]\notherpack = otherpack\n")
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "score": 2}\n{"id": "2", "score": 3}\n')
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*words):
        command = [sys.executable, "-m", "lapsus", *words]
        return subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout

    assert {"name": "doubled", "summary": "Return twice the sum", "needs": "", "language": ""} in json.loads(
        run("list", "--json")
    )["metrics"]
    assert json.loads(run("score", "doubled", "--predictions", "rows.jsonl"))["doubled"] == 10


def test_a_metric_of_another_package_cannot_take_the_name_of_ours(monkeypatch):
    def win_rate():
        return {}

    point = SimpleNamespace(value="otherpack", dist=None, load=lambda: SimpleNamespace(UNITS=(win_rate,)))
    monkeypatch.setattr("lapsus.core.plugins.entry_points", lambda **_: [point])
    with pytest.raises(
        ValueError, match=r"lapsus\.metrics\.win_rate\.score and otherpack both have a unit called 'win_rate'"
    ):
        lapsus.metrics.load_metrics()


def test_a_generator_keeps_its_first_row(metric, example):
    columns, options = split(metric, example)
    expected = metric.compute(**columns, **options)
    assert metric.compute(**{key: iter(column) for key, column in columns.items()}, **options) == expected


@pytest.mark.parametrize("rows", [np.ma.array([[1, 0.5], [0, 1]], mask=[[0, 1], [0, 0]]), [[1, None], [0, 1]]], ids=str)
def test_what_a_mask_hides_is_missing(evaluate, rows):
    metric, expected = load(evaluate, "micro_worst_average"), micro_worst_average([[1, None], [0, 1]], n_resamples=0)
    assert expected["micro_average"] == 0.75
    assert micro_worst_average(rows, n_resamples=0) == expected
    assert metric.compute(predictions=rows, n_resamples=0) == expected
    assert metric.compute(predictions=list(rows), n_resamples=0) == expected
    for row in rows:
        metric.add(prediction=row)
    assert metric.compute(n_resamples=0) == expected


def test_a_hidden_number_where_none_may_be_missing_is_named(evaluate):
    hidden = np.ma.array([1.0, 2.0], mask=[0, 1])
    for score in (win_rate, load(evaluate, "win_rate").compute):
        with pytest.raises(TypeError, match=r"predictions\[1\] is None"):
            score(predictions=hidden, references=[0, 0])


@pytest.mark.parametrize("column", [{0.9: 1, 0.8: 2}, {0.9, 0.8}, "ab"], ids=str)
def test_what_has_no_order_is_no_column(evaluate, column):
    for score in (win_rate, load(evaluate, "win_rate").compute):
        with pytest.raises(TypeError, match="one element per example in a list"):
            score(predictions=column, references=[0.1, 0.1])


def test_more_dimensions_than_annotators_are_refused(evaluate):
    with pytest.raises(TypeError, match=r"predictions\[0\] is array"):
        load(evaluate, "micro_worst_average").compute(predictions=np.ones((2, 3, 4)))
    with pytest.raises(TypeError, match=r"the shape \(2, 3, 4\)"):
        micro_worst_average(np.ones((2, 3, 4)))


@pytest.mark.parametrize("label_map", [{"a": "b"}, {"0": "1"}, {0: "1"}], ids=str)
def test_a_label_map_of_other_labels_is_refused(evaluate, label_map):
    rows = {"predictions": [0, 1], "references": [1, 1], "original_predictions": [0, 0]}
    for score in (prediction_consistency, load(evaluate, "prediction_consistency").compute):
        with pytest.raises(TypeError, match="labels are not of its kind: give an integer"):
            score(**rows, label_map=label_map)
        with pytest.raises(ValueError, match=r"label_map names \[7\], none of which is a label; the labels are 0, 1"):
            score(**rows, label_map={7: 0})


@pytest.mark.parametrize("option", ["n_resamples", "seed"])
def test_a_number_of_times_is_a_whole_number(option):
    for number in (np.int64(3), np.uint8(3)):
        found = micro_worst_average(
            [[1, 0], [0, 0]], **{option: number, **({} if option == "n_resamples" else {"n_resamples": 9})}
        )
        assert json.dumps(found)
    for wrong in (True, 2.0, "3", None):
        with pytest.raises(TypeError, match=f"{option} is {wrong!r}: give a whole number from 0 on"):
            micro_worst_average([[1, 0]], **{option: wrong})
    with pytest.raises(ValueError, match=f"{option} is -1: give a whole number from 0 on"):
        micro_worst_average([[1, 0]], **{option: -1})


def test_labels_beyond_64_bits_are_refused_in_a_sentence():
    for labels in ([0, 2**70], [0, -(2**70)], np.array([0, 2**64 - 1], np.uint64)):
        with pytest.raises(ValueError, match=r"predictions\[1\] is -?\d+, more than 64 bits hold: use strings"):
            prediction_consistency(labels, [0, 1], [0, 1])


def test_examples_that_wait_are_not_scored_with_others(evaluate):
    metric = load(evaluate, "win_rate")
    metric.add_batch(predictions=[1, 1], references=[0, 0])
    metric.add(prediction=1, reference=0)
    with pytest.raises(ValueError, match="win_rate still holds 3 examples of add or add_batch"):
        metric.compute(predictions=[0], references=[1])
    assert metric.compute()["trials"] == 3
    assert metric.compute(predictions=[0], references=[1])["trials"] == 1


class TestTensors:
    """Torch's tensors are columns too, whole, in a list, and of kinds that numpy has not."""

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    def test_labels(self, evaluate):
        labels = self.torch.tensor([0, 1, 1]), self.torch.tensor([0, 1, 0]), self.torch.tensor([0, 0, 0])
        expected = prediction_consistency([0, 1, 1], [0, 1, 0], [0, 0, 0])
        for score in (prediction_consistency, load(evaluate, "prediction_consistency").compute):
            for columns in (labels, [list(column) for column in labels]):
                assert (
                    score(**dict(zip(("predictions", "references", "original_predictions"), columns, strict=True)))
                    == expected
                )

    @pytest.mark.parametrize("kind", ["bfloat16", "float16", "float64"])
    def test_scores(self, evaluate, kind):
        high = self.torch.tensor([1.0, 2.0], dtype=getattr(self.torch, kind), requires_grad=True)
        for score in (win_rate, load(evaluate, "win_rate").compute):
            assert score(predictions=high, references=self.torch.tensor([1, 1]))["wins"] == 1
            assert score(predictions=list(high), references=[1, 1])["wins"] == 1

    def test_tables(self, evaluate):
        table = self.torch.tensor([[1.0, 0.5], [0.0, 1.0]], dtype=self.torch.bfloat16)
        metric = load(evaluate, "micro_worst_average")
        for rows in (table, list(table)):
            assert micro_worst_average(rows, n_resamples=0)["worst_average"] == 0.25
            assert metric.compute(predictions=rows, n_resamples=0)["worst_average"] == 0.25


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mixed_effects"])  # its rows have ids of examples
def test_rows_of_one_original_count_once_in_every_interval_and_test(name):
    function, example = getattr(lapsus.metrics, name), example_of(name)
    number = len(example["predictions"])

    def repeated(times):
        columns = {key: value * times if isinstance(value, list) else value for key, value in example.items()}
        return function(**columns, clusters=list(range(number)) * times)

    twice, often = repeated(2), repeated(3)
    kept = [key for key in twice if key.endswith(("_ci", "_p", "p_value"))]
    assert kept
    for key in kept:
        assert often[key] == pytest.approx(twice[key]), key
    assert "confidence_level" in inspect.signature(function).parameters


def test_labels_that_are_called_otherwise_are_refused(evaluate):
    said, right = ["LABEL_0", "LABEL_1"] * 5, ["no", "yes"] * 5
    with pytest.raises(
        ValueError, match=r"predictions are 'LABEL_0', 'LABEL_1' and references are 'no', 'yes': none is"
    ):
        load(evaluate, "classification").compute(predictions=said, references=right)
    mapped = load(evaluate, "classification").compute(
        predictions=said, references=right, label_map={"LABEL_0": "no", "LABEL_1": "yes"}
    )
    assert mapped["accuracy"] == 1
    consistency = load(evaluate, "prediction_consistency")
    with pytest.raises(
        ValueError, match="original_predictions are 'LABEL_0', 'LABEL_1' and predictions are 'no', 'yes'"
    ):
        consistency.compute(predictions=right, references=right, original_predictions=said)
    with pytest.raises(ValueError, match="none is ever equal"):
        lapsus.metrics.classification([1, 2] * 5, [3, 4] * 5)
    assert lapsus.metrics.classification(["neutral"] * 10, right)["accuracy"] == 0  # one class only may be wrong
    assert lapsus.metrics.classification(["b", "c"] * 4, ["a", "d"] * 4)["accuracy"] == 0  # so few, too


def test_percentages_and_shares_are_not_compared():
    with pytest.raises(ValueError, match=r"clean_scores are 100 on average and predictions 0.5: give both as shares"):
        lapsus.metrics.micro_worst_average([[1, 0], [0, 1]], clean_scores=[100, 100], n_resamples=0)
    with pytest.raises(ValueError, match=r"predictions are 75 on average and clean_scores 0.9"):
        lapsus.metrics.micro_worst_average([[90, 80], [70, 60]], clean_scores=[0.8, 1.0], n_resamples=0)
    counts = lapsus.metrics.micro_worst_average([[20], [9]], clean_scores=[0, 1], direction="lower", n_resamples=0)
    assert counts["micro_drop"] == 14


def test_a_first_value_that_no_type_takes_is_shown_with_all_of_them(evaluate):
    with pytest.raises(TypeError, match=r"predictions\[0\] is 1.0: give a text or a whole number\.$"):
        load(evaluate, "classification").compute(predictions=np.array([1.0, 0.0]), references=[1, 0])
