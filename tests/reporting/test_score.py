"""`lapsus score`: every metric takes its columns from files that are joined by id."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lapsus import metrics
from lapsus.cli.main import main
from lapsus.reporting.score import list_metric_columns, score


@pytest.fixture
def write(tmp_path):
    def written(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return written


@pytest.fixture
def noisy(write):
    """Three annotators; the second one lacks an example."""
    scores = ([1, 1, 0], [0, None, 1], [1, 0, 0])
    return [
        write(f"keyboard.{number}.jsonl", [{"id": i, "score": s} for i, s in enumerate(column) if s is not None])
        for number, column in enumerate(scores, 1)
    ]


def test_the_columns_of_every_metric_are_known():
    for name in metrics.list_metrics():
        columns = list_metric_columns(name)
        assert next(iter(columns)) == "predictions"
        assert not {"confidence_level", "group_names", "label_map", "direction"} & columns.keys()
    assert {"groups", "clusters", "original_predictions"} <= list_metric_columns("prediction_consistency").keys()


def test_annotators_come_from_several_files(noisy, write):
    data = write("data.jsonl", [{"id": i, "label": "ab"[i % 2]} for i in range(4)])
    clean = write("clean.jsonl", [{"id": i, "acc": 1.0} for i in range(3)])
    options = {"groups": "label", "clean_scores": f"{clean}:acc", "n_resamples": "0"}
    found = score("micro_worst_average", noisy, data, options)
    rows = [[1, 0, 1], [1, None, 0], [0, 1, 0]]
    expected = metrics.micro_worst_average(rows, groups=["a", "b", "a"], clean_scores=[1, 1, 1], n_resamples=0)
    assert found.pop("join") == {
        "examples": 3,
        "not_predicted": {"count": 1, "ids": ["3"]},
        "not_in_keyboard.2.jsonl": {"count": 1, "ids": ["1"]},
    }
    assert found == expected


def test_annotators_may_be_lists_in_one_file(write):
    path = write("lists.jsonl", [{"id": 1, "score": [1, 0]}, {"id": 2, "score": [1, 1]}])
    assert score("micro_worst_average", [path])["worst_average"] == 0.5


def test_answers_are_not_taken_for_scores(write):
    rows = [{"id": i, "prediction": i % 2, "gold": 1} for i in range(4)]
    answers, gold = write("answers.jsonl", rows), write("gold.jsonl", [{"id": i, "label": 1} for i in range(4)])
    bare = write("bare.jsonl", [{"id": row["id"], "prediction": row["prediction"]} for row in rows])
    said = (
        "takes scores, and column 'prediction' beside '(gold|label)' holds answers; add a column 'score', or name the"
    )
    for name, files in (("micro_worst_average", (answers, None)), ("micro_worst_average", (bare, gold))):
        with pytest.raises(LookupError, match=f"{name} {said}"):
            score(name, [files[0]], files[1])
    with pytest.raises(LookupError, match=f"win_rate {said}"):
        score("win_rate", [answers])
    told = CliRunner().invoke(main, ["score", "micro_worst_average", "--predictions", str(answers)])
    assert told.exit_code == 1 and told.output.endswith("with scores: add --option predictions=acc\n")
    assert score("micro_worst_average", [answers], options={"predictions": "prediction"})["micro_average"] == 0.5
    assert score("micro_worst_average", [bare])["micro_average"] == 0.5
    scored = write("scored.jsonl", [row | {"score": row["prediction"]} for row in rows])
    assert score("micro_worst_average", [scored])["micro_average"] == 0.5
    pair = write("pair.jsonl", [{"id": 1, "prediction": 0.9, "reference": 0.1}])
    assert score("win_rate", [pair])["wins"] == 1


def test_labels_join_whatever_their_type(write):
    """lm-evaluation-harness writes the index of a choice as a number, and the target as text."""
    new = write("new.jsonl", [{"id": i, "prediction": p} for i, p in enumerate([1, 0, 1])])
    old = write("old.jsonl", [{"id": i, "prediction": p} for i, p in enumerate(["1", "1", "1"])])
    gold = write("gold.csv.jsonl", [{"id": i, "label": "1"} for i in range(3)])
    found = score("prediction_consistency", [new], gold, {"original_predictions": str(old)})
    assert (found["changed"], found["transitions"]["correct_to_wrong"], found["examples"]) == (1, 1, 3)
    mapped = score("prediction_consistency", [new], gold, {"original_predictions": str(old), "label_map": '{"0": "1"}'})
    assert mapped["changed"] == 0


def test_predictions_are_not_taken_for_the_original_ones(write):
    rows = [{"id": i, "prediction": p, "gold": "a"} for i, p in enumerate("aba")]
    noisy = write("alpha.keyboard.1.jsonl", rows)
    clean = write("alpha.clean.jsonl", [row | {"prediction": "a"} for row in rows])
    for references in (None, clean):
        with pytest.raises(LookupError, match=r"give the option original_predictions=clean\.jsonl\.$"):
            score("prediction_consistency", [noisy], references)
        found = score("prediction_consistency", [noisy], references, {"original_predictions": str(clean)})
        assert found["changed"] == 1
    both = write("both.jsonl", [row | {"original_prediction": "a"} for row in rows])
    assert score("prediction_consistency", [both])["changed"] == 1


def test_the_same_column_name_on_both_sides_is_kept_apart(write):
    first = write("a.jsonl", [{"id": 1, "score": 0.9}, {"id": 2, "score": 0.2}])
    second = write("b.jsonl", [{"id": 2, "score": 0.3}, {"id": 1, "score": 0.1}])
    assert score("win_rate", [first], second)["wins"] == 1
    guess = write("guess.jsonl", [{"id": 1, "intent": "play", "tags": ["B-x", "O"]}])
    truth = write("truth.jsonl", [{"id": 1, "intent": "play", "tags": ["B-x", "B-x"], "tokens": ["a", "b"]}])
    assert score("slu_accuracy", [guess], truth)["counts"] == {"true": 2, "predicted": 1, "correct": 1}
    only_intents = write("intents.jsonl", [{"id": 1, "intent": "play"}])
    with pytest.raises(LookupError, match="slu_accuracy finds no column for its predictions"):
        score("slu_accuracy", [only_intents], truth)  # and does not take the true tags


def test_texts_are_named_by_the_user(write):
    path = write("rows.jsonl", [{"id": 1, "question": "花贝提额", "clean_question": "花呗提额"}])
    found = score("noise_rate", [path], None, {"predictions": "question", "references": "clean_question"})
    assert found["micro_average"] == 0.25
    bare = write("bare.jsonl", [{"id": 1, "question": "花贝提额", "meant": "花呗提额"}])
    with pytest.raises(LookupError, match=r"no column for its predictions .*: give the option predictions=question\.$"):
        score("noise_rate", [bare])
    said = CliRunner().invoke(main, ["score", "noise_rate", "--predictions", str(bare)])
    assert said.exit_code == 1 and said.output.rstrip().endswith(": add --option predictions=question")


def test_the_output_of_perturb_says_itself_what_is_noisy_and_what_is_clean(write):
    row = {"id": 1, "text": "花贝提额", "clean_text": "花呗提额", "edits": [], "operator": "{}"}
    path, same = write("o1.jsonl", [row]), write("o2.jsonl", [row | {"text": row["clean_text"]}])
    assert score("noise_rate", [path])["micro_average"] == 0.25
    assert score("noise_rate", [path, same])["annotator_averages"] == [0.25, 0]
    two = write("two.jsonl", [row | {"title": "a", "clean_title": "b"}])
    with pytest.raises(LookupError, match="finds no column for its predictions"):
        score("noise_rate", [two])
    for name in ("prediction_consistency", "annotated_bleu"):  # texts are neither labels nor translations
        with pytest.raises(LookupError, match=f"{name} finds no column for its predictions"):
            score(name, [path])
    predicted = write("predicted.jsonl", [row | {"prediction": row["clean_text"]}])
    assert score("noise_rate", [predicted])["micro_average"] == 0


def test_where_keeps_rows_of_the_other_files_too(write):
    def samples(name, strict):
        rows = [{"id": i, "prediction": "ab"[i % 2], "gold": "a", "filter": "strict"} for i in range(4)]
        return write(name, [*(row | strict for row in rows), *(row | {"filter": "loose"} for row in rows)])

    noisy = samples("noisy.jsonl", {"prediction": "a"})
    clean = samples("clean.jsonl", {})
    options = {"original_predictions": str(clean)}
    found = score("prediction_consistency", [noisy], clean, options, where={"filter": "strict"})
    rows = ["a"] * 4, ["a"] * 4, ["a", "b"] * 2
    assert found.pop("join") == {"examples": 4}
    assert found == metrics.prediction_consistency(*rows)
    plain = write("plain.jsonl", [{"id": i, "prediction": "ab"[i % 2], "gold": "a"} for i in range(4)])
    other = score(
        "prediction_consistency", [noisy], plain, {"original_predictions": str(plain)}, where={"filter": "strict"}
    )
    assert {name: other[name] for name in found} == found


def test_files_are_the_conditions_of_mixed_effects(noisy, write):
    clean = write("clean.jsonl", [{"id": i, "score": 1 - i / 10} for i in range(3)])
    found = score("mixed_effects", [clean, *noisy], None, {"baseline": "clean"})
    assert set(found["coefficients"]) == {"keyboard.1", "keyboard.2", "keyboard.3"}
    assert (found["examples"], found["observations"]) == (3, 11)
    years = [write(f"{year}.jsonl", [{"id": i, "score": i + year % i} for i in range(1, 5)]) for year in (2023, 2024)]
    assert score("mixed_effects", years, None, {"baseline": "2024"})["intercept"]["condition"] == "2024"
    rows = [{"example": i, "condition": c, "score": i + len(c)} for i in range(4) for c in ("a", "bb")]
    alone = score("mixed_effects", [write("long.jsonl", rows)])
    assert alone["observations"] == 8


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        (
            "win_rates",
            {},
            r"^there is no metric 'win_rates'; did you mean win_rate or noise_rate\? .known: annotated_bleu, ",
        ),
        ("win_rate", {"tie": "drop"}, r"^win_rate: there is no option 'tie'; did you mean ties\?"),
        ("win_rate", {"references": "gold"}, r"win_rate finds no column 'gold' in the files; they have 'id', 'score'"),
        ("win_rate", {}, r"win_rate finds no column for its references in the files"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(write, name, options, sentence):
    path = write("p.jsonl", [{"id": 1, "score": 1}])
    with pytest.raises(LookupError, match=sentence):
        score(name, [path], None, options)


def test_ids_that_never_join_are_an_error(write):
    first, second = write("a.jsonl", [{"id": "t-1", "score": 1}]), write("b.jsonl", [{"id": "u-1", "score": 1}])
    with pytest.raises(ValueError, match=r"none of its ids is in .*b\.jsonl \('t-1' against 'u-1'\)"):
        score("win_rate", [first], second)
    with pytest.raises(ValueError, match="win_rate takes one file of predictions, not 2"):
        score("win_rate", [first, second])
    with pytest.raises(LookupError, match=r"b\.jsonl: lacks 1 of the 1 ids \('t-1'\)"):
        score("win_rate", [first], None, {"references": str(second)})


def test_results_are_plain_json(noisy):
    json.dumps(score("micro_worst_average", noisy), allow_nan=False)


@pytest.fixture
def built(tmp_path):
    """Data as `lapsus build` writes them: classes are numbers, also in lists."""
    from datasets import ClassLabel, Dataset, Features, List, Value

    tag = ClassLabel(names=["O", "B-city"])
    features = {"id": Value("string"), "intent": ClassLabel(names=["book", "cancel"]), "tags": List(tag)}
    rows = [{"id": str(i), "intent": i % 2, "tags": [1, 0]} for i in range(8)]
    path = tmp_path / "test.parquet"
    Dataset.from_list(rows, features=Features(features)).to_parquet(str(path))
    return path


@pytest.mark.parametrize("say", [int, str, "LABEL_{}".format, ["book", "cancel"].__getitem__])
def test_classes_of_a_built_folder_have_names(write, built, say):
    path = write("p.jsonl", [{"id": str(i), "prediction": say(i % 2)} for i in range(8)])
    found = score("prediction_consistency", [path], built, {"original_predictions": str(path)})
    assert (found["accuracy"], found["changed"]) == (1.0, 0)


def test_intents_and_tags_of_a_built_folder_have_names(write, built):
    rows = [{"id": str(i), "intent": ["book", "cancel"][i % 2], "tags": ["B-city", "O"]} for i in range(8)]
    found = score("slu_accuracy", [write("p.jsonl", rows)], built)
    assert found["slot_f1"] == found["intent_accuracy"] == 1.0
    strange = [row | {"intent": "LABEL_1"} for row in rows]
    with pytest.raises(ValueError, match=r"p\.jsonl: no prediction equals any gold label \(predictions: 'LABEL_1'"):
        score("slu_accuracy", [write("p.jsonl", strange)], built)


def test_classes_in_other_words_are_refused_unless_they_are_mapped(write):
    path = write("p.jsonl", [{"id": i, "prediction": "AB"[i % 2], "label": ["yes", "no"][i % 2]} for i in range(8)])
    options = {"original_predictions": str(path)}
    with pytest.raises(ValueError, match=r"\(predictions: 'A', 'B'; gold: 'yes', 'no'\); use the gold labels"):
        score("prediction_consistency", [path], None, options)
    mapped = score("prediction_consistency", [path], None, options | {"label_map": '{"A": "yes", "B": "no"}'})
    assert mapped["accuracy"] == 1.0
