"""`lapsus dialect`: the tables of the dialect paper for any metric, from a built dataset to the plot."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import ConditionScores
from lapsus.evaluation.dialect import DialectSentences, score_conditions
from lapsus.evaluation.text_metrics import FunctionMetric
from lapsus.metrics import mixed_effects, win_rate
from lapsus.reporting.dialect import (
    compute_awareness,
    compute_success_rates,
    draw_coefficients,
    fit_coefficients,
    make_tables,
)

ROWS = [
    {"id": str(i), "base": f"the tram {i} is late", "dialect": f"the streetcar {i} is late", "perturbed": f"the tram {i} is early",
     "source": f"o bonde {i}", "translated": f"tram {i} was late"}
    for i in range(6)
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A dataset as a user has it: other files beside the rows."""
    home = tmp_path / "dialect-pt"
    home.mkdir()
    (home / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    (home / "README.md").write_text(
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: test.jsonl\n---\n"
    )
    (home / "notes.txt").write_text("mine")
    return home


def lapsus(*words):
    return CliRunner().invoke(main, ["dialect", *map(str, words)])


def test_tables_scores_and_plot_of_several_metrics(tmp_path, folder):
    file = tmp_path / "mt.jsonl"
    file.write_text("".join(f"{json.dumps({'id': row['id'], 'prediction': row['translated']})}\n" for row in ROWS[:5]))
    done = lapsus("chrf", "ter", "--data", folder, "--translations", file, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "1 sentences have no translation" in done.output
    for told in (
        "Success rates (Table 1)",
        "Mixed-effects regression (Table 11)",
        "translated > perturbed",
        "dialect > translated",
    ):
        assert told in done.output
    assert "Awareness" not in done.output  # neither metric reads a tag
    kept = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text().splitlines()]
    assert len(kept) == 2 * 5 * 3
    made = json.loads((tmp_path / "out" / "tables.json").read_text())
    columns = {
        name: [row["score"] for row in kept if row["metric"] == "chrf" and row["condition"] == name]
        for name in ("dialect", "perturbed", "translated")
    }
    own = win_rate(columns["dialect"], columns["perturbed"], comparisons=5, alternative="two-sided")
    first = made["success"][0]
    assert (first["wins"], first["losses"], first["p_value"]) == (own["wins"], own["losses"], own["p_value"])
    fitted = mixed_effects(
        [each for values in columns.values() for each in values], [name for name in columns for _ in range(5)],
        list(range(5)) * 3, baseline="perturbed", confidence_level=0.99, correction="none",
    )  # fmt: skip
    effect = fitted["coefficients"]["dialect"]
    assert made["coefficients"][0]["difference"] == pytest.approx([effect["estimate"], *effect["ci"]])
    svg = (tmp_path / "out" / "coefficients.svg").read_text()
    assert svg.startswith("<svg") and "chrf" in svg and "var(--" not in svg
    assert (tmp_path / "out" / "coefficients.png").read_bytes().startswith(b"\x89PNG")
    assert "## Success rates (Table 1)\n\n| metric | data |" in (tmp_path / "out" / "tables.md").read_text()


def test_json_is_json(folder):
    done = lapsus("bleu", "--data", folder, "--json")
    assert set(json.loads(done.stdout)) == {"success", "coefficients", "awareness"}


def test_a_dataset_that_the_project_wrote_is_built(tmp_path):
    done = lapsus("chrf", "--data", "dialect-en", "--out", tmp_path / "out")
    assert done.exit_code == 0 and "dialect-en" in done.output, done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing METRICS"),
        (["chrf"], "missing --data"),
        (["chrf", "--data", "FOLDER/.."], "DATASET="),
        (["chrf", "--data", "FOLDER", "--data", "FOLDER"], "twice"),
        (["chr", "--data", "FOLDER"], "did you mean chrf"),
        (["chrf", "--data", "FOLDER", "--no-references"], "chrf reads references, which were not given"),
        (["chrf", "--data", "FOLDER", "--translations", "dialect-zh=x"], "not among --data"),
        (["chrf", "--data", "dialect-pt"], "missing the rows of dialect-pt; add --data"),
    ],
)
def test_a_mistake_is_one_sentence(folder, words, said):
    done = lapsus(*(word.replace("FOLDER", str(folder)) for word in words))
    assert done.exit_code != 0 and said in done.output and "Traceback" not in done.output, done.output


OWN = """
def boom(candidates, references, sources, tags):
    return 1 / 0
def two(candidates, references):
    return [0.0] * len(candidates)
def one(candidates, references, sources, tags):
    return len(candidates)
def named(candidates, references, sources, tags):
    return {"scores": [1.0] * len(candidates)}
def none(candidates, references, sources, tags):
    return [None] * len(candidates)
def short(candidates, references, sources, tags):
    return (1.0 for _ in "a")
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("boom", "boom raised ZeroDivisionError: division by zero (own_metric.py, line 3); a metric takes"),
        ("two", "two takes (candidates, references), but a metric takes lists of candidates, references, sources"),
        ("one", "one returned int, not a list; a metric takes"),
        ("named", "named returned dict, not a list; a metric takes"),
        ("none", "none returned None in place 0; a metric takes"),
        ("short", "short gave 1 numbers for 6 texts; it must give one each"),
    ],
)
def test_a_function_that_is_no_metric_is_one_sentence(tmp_path, monkeypatch, folder, name, said):
    (tmp_path / "own_metric.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_metric", raising=False)
    done = lapsus(f"python:own_metric:{name}", "--data", folder)
    assert done.exit_code == 1 and done.output.startswith("Error: ") and done.output.count("\n") == 1
    assert said in done.output


def test_a_list_of_metrics():
    done = CliRunner().invoke(main, ["list", "text-metrics"])
    assert done.exit_code == 0 and "bertscore:PATH-OR-ID[@LAYER]" in done.output


def tagged(like):
    """Return a metric that gives 1 to a candidate with the word that a tag likes."""
    return FunctionMetric(
        "m", lambda asked: [float(like[tag] in text) for text, tag in zip(asked.candidates, asked.tags, strict=True)],
        required=("tags",), optional=("references", "sources"),
    )  # fmt: skip


def test_what_a_metric_is_told_under_each_condition():
    seen = []
    metric = FunctionMetric(
        "m", lambda asked: seen.append(asked) or [0.0] * len(asked.candidates), optional=("sources", "tags")
    )
    score_conditions(metric, DialectSentences("dialect-pt", ("pt-BR", "pt-PT"), ROWS), sources=True)
    texts = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    assert [(each.candidates, each.references, each.tags[0]) for each in seen] == [
        (texts["dialect"], texts["base"], "pt-any"),
        (texts["perturbed"], texts["base"], "pt-any"),
        (texts["translated"], texts["base"], "pt-any"),
        (texts["base"], texts["translated"], "pt-BR"),
        (texts["base"], texts["translated"], "pt-PT"),
        (texts["dialect"], texts["translated"], "pt-BR"),
        (texts["dialect"], texts["translated"], "pt-PT"),
    ]
    assert all(each.sources == texts["source"] for each in seen)
    plain = [{name: row[name] for name in row if name != "translated"} for row in ROWS]
    seen.clear()
    metric = FunctionMetric("m", metric.rate, required=("sources", "tags"))
    found = score_conditions(
        metric, DialectSentences("dialect-pt", ("pt-BR", "pt-PT"), plain), references=False, sources=True
    )
    assert list(found.conditions) == ["base", "dialect", "perturbed"] and not any(each.references for each in seen)


def test_awareness_of_both_dialects():
    sentences = DialectSentences("dialect-pt", ("pt-BR", "pt-PT"), ROWS)
    aware = compute_awareness(
        score_conditions(tagged({"pt-any": "x", "pt-BR": "tram", "pt-PT": "streetcar"}), sentences)
    )
    assert [(each.text_dialect, each.own_tag_mean, each.other_tag_mean, each.aware) for each in aware] == [
        ("pt-BR", 1, 0, True),
        ("pt-PT", 1, 0, True),
    ]
    biased = compute_awareness(score_conditions(tagged({"pt-any": "x", "pt-BR": "the", "pt-PT": "none"}), sentences))
    assert [each.aware for each in biased] == [True, False]
    some = compute_awareness(score_conditions(tagged({"pt-any": "x", "pt-BR": "5", "pt-PT": "none"}), sentences))
    assert [(each.rate, each.aware) for each in some] == [(1, True), (5 / 6, False)]  # Definition 2.3 has "at least"


def test_a_metric_that_reads_no_tag_is_not_aware():
    sentences = DialectSentences("dialect-pt", ("pt-BR", "pt-PT"), ROWS)
    scored = score_conditions(tagged({"pt-any": "x", "pt-BR": "the", "pt-PT": "the"}), sentences)
    assert [(each.reads_tag, each.aware) for each in compute_awareness(scored)] == [(False, False)] * 2
    assert [row[-2:] for row in make_tables([scored])["Awareness (Table 5)"][1]] == [["–", "reads no tag"]] * 2


@pytest.mark.parametrize(
    ("wins", "losses", "mark"), [(115, 0, "better"), (10, 105, "worse"), (60, 55, "few"), (510, 490, "")]
)
def test_marks_say_which_way_and_where_there_are_too_few(wins, losses, mark):
    ids = [str(place) for place in range(wins + losses)]
    scores = ConditionScores(
        "m", "d", ids, {"dialect": [1.0] * wins + [0.0] * losses, "perturbed": [0.5] * (wins + losses)}
    )
    (found,) = compute_success_rates(scores)
    assert found.mark == mark and (found.wins, found.losses) == (wins, losses)


def test_the_plot_has_a_panel_for_each_metric():
    scores = [
        ConditionScores(name, f"dialect-{language}", ["1", "2", "3"], {"dialect": [0.1, 0.5, 0.2], "perturbed": [0.3, 0.2, 0.9]})
        for name in ("chrf", "$x$ & <b>") for language in ("zh", "pt")
    ]  # fmt: skip
    drawn = draw_coefficients(scores)
    assert [drawn.svg.count(f">{text}<") for text in ("chrf", "$x$ &amp; &lt;b&gt;", "dialect − perturbed")] == [
        1,
        1,
        1,
    ]
    low, high = fit_coefficients(scores[0])[0].difference.interval
    assert low < 0 < high
