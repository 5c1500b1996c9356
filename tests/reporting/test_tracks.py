"""Tracks are read such that no number misleads: classes by any name, missing answers, names of tracks, logs."""

from __future__ import annotations

import json
import zipfile
from functools import partial

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core import track_names
from lapsus.core.track_names import NO_TRACKS, TrackName
from lapsus.core.types import Track
from lapsus.dataset_scripts import benchmarks
from lapsus.io.labels import map_to_gold_labels
from lapsus.reporting.analysis.caveats import find_warnings
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.report import report
from lapsus.reporting.score_table import align_tracks, score_track
from lapsus.reporting.tracks import list_known_tracks, read_tracks

QUICK = AnalysisOptions(n_resamples=20)
CLASSES = ("order", "refund", "track order")
parse_track_name = partial(track_names.parse_track_name, known=list_known_tracks())
parse_track_names = partial(track_names.parse_track_names, known=list_known_tracks())


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def built(tmp_path):
    """A folder as `lapsus build` writes it: the right answers are numbers of classes."""
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"id": Value("string"), "text": Value("string"), "label": ClassLabel(names=list(CLASSES))})
    rows = [{"id": f"t-{i}", "text": "x", "label": i % 3} for i in range(9)]
    for config in ("clean", "keyboard.1"):
        (tmp_path / "data" / config).mkdir(parents=True)
        data = Dataset.from_list(rows, features=features)
        data.to_parquet(str(tmp_path / "data" / config / "test-00000-of-00001.parquet"))
    return tmp_path / "data"


def warnings_of(tracks):
    return find_warnings(align_tracks(tracks))


def only(records, track):
    [record] = [record for record in records if record.track == track]
    return record


def averages(tracks):
    return [record.average.value for record in measure(tracks, QUICK).tracks]


def saying(path, say):
    return write(path, [{"id": f"t-{i}", "prediction": say(i % 3)} for i in range(9)])


@pytest.mark.parametrize(
    "say",
    [lambda n: n, str, lambda n: f"LABEL_{n}", CLASSES.__getitem__, lambda n: CLASSES[n].title() + " ", float],
    ids=["number", "digits", "LABEL_", "name", "other case", "float"],
)
def test_a_perfect_classifier_is_perfect_however_it_says_its_classes(tmp_path, built, say):
    tracks = read_tracks([saying(tmp_path / "m" / "clean.jsonl", say)], references=built)
    assert averages(tracks) == [1.0]
    assert {row["gold"] for row in tracks[0].rows} == set(CLASSES)
    wrong = read_tracks([saying(tmp_path / "m" / "clean.jsonl", lambda n: say((n + 1) % 3))], references=built)
    assert averages(wrong) == [0.0]


def test_classes_of_predictions_and_of_data_may_be_numbered_in_another_order(tmp_path, built):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"id": Value("string"), "prediction": ClassLabel(names=list(CLASSES[::-1]))})
    rows = [{"id": f"t-{i}", "prediction": 2 - i % 3} for i in range(9)]
    (tmp_path / "m").mkdir()
    Dataset.from_list(rows, features=features).to_parquet(str(tmp_path / "m" / "clean.parquet"))
    assert averages(read_tracks([tmp_path / "m" / "clean.parquet"], references=built)) == [1.0]


def test_classes_of_a_column_that_was_left_out_are_no_hindrance(tmp_path, built):
    import pyarrow.parquet as pq

    [file] = (built / "clean").iterdir()
    pq.write_table(pq.read_table(file).drop_columns("label"), file)  # the schema still tells its classes
    path = write(tmp_path / "m" / "clean.jsonl", [{"id": f"t-{i}", "score": 1} for i in range(9)])
    assert averages(read_tracks([path], references=built)) == [1.0]


def test_label_numbers_are_understood_where_the_data_have_no_names(tmp_path):
    rows = [{"id": i, "prediction": f"LABEL_{i % 2}", "label": i % 2} for i in range(6)]
    assert averages(read_tracks([write(tmp_path / "m" / "clean.jsonl", rows)])) == [1.0]


def test_digits_are_names_or_numbers_and_refused_where_they_could_be_either():
    assert map_to_gold_labels([0, "1"], ["0", "1"], ("0", "1")) == ["0", "1"]
    assert map_to_gold_labels([1, "5"], ["5", "1"], ("1", "2", "3", "4", "5")) == ["1", "5"]  # 5 is the number of none
    assert map_to_gold_labels([0, "1"], ["1", "2"], ("1", "2")) == ["1", "2"]  # 0 is the name of none
    assert map_to_gold_labels(["LABEL_1"], ["2"], ("1", "2")) == ["2"]
    with pytest.raises(ValueError, match=r"the classes are called '1', '0', so '1' may be the name of a class or the"):
        map_to_gold_labels([1], ["0"], ("1", "0"))


def test_examples_without_a_prediction_are_a_doubt(tmp_path, built):
    path = write(tmp_path / "m" / "clean.jsonl", [{"id": f"t-{i}", "prediction": i % 3} for i in range(6)])
    [doubt] = warnings_of(read_tracks([path], references=built))
    assert str(doubt) == "m / clean: 3 of the 9 examples of the data have no prediction, and are left out"


def test_vocabularies_that_share_nothing_are_both_named(tmp_path):
    rows = [{"id": i, "prediction": "AB"[i % 2], "gold": ["yes", "no"][i % 2]} for i in range(6)]
    files = [write(tmp_path / "m" / f"{name}.jsonl", rows) for name in ("clean", "keyboard.1")]
    with pytest.raises(
        ValueError,
        match=r"^m: no prediction equals any gold label \(predictions: 'A', 'B'; gold: 'yes', 'no'\); use",
    ):
        read_tracks(files)
    scored = [write(path, [row | {"score": 0} for row in rows]) for path in files]
    assert averages(read_tracks(scored)) == [0.0, 0.0]
    free = [{"id": i, "prediction": f"said {i}", "gold": f"meant {i}"} for i in range(6)]
    assert averages(read_tracks([write(path, free) for path in files])) == [0.0, 0.0]  # free text may be all wrong


def test_a_track_with_answers_of_its_own_is_refused_by_its_file(tmp_path):
    def said(name, say):
        rows = [{"id": i, "prediction": say((i + i // 7) % 2), "gold": i % 2} for i in range(20)]
        return write(tmp_path / "m" / f"{name}.jsonl", rows)

    clean = said("clean", int)
    with pytest.raises(ValueError, match=r"m/keyboard\.1\.jsonl: no prediction .*predictions: 'false', 'true'; gold"):
        read_tracks([clean, said("keyboard.1", bool)])
    tracks = read_tracks([clean, said("keyboard.1", lambda _: 2)])  # a model may come to say one class only
    assert averages(tracks)[1] == 0.0


def test_a_model_that_answers_all_wrong_by_the_other_class_is_measured():
    rows = [{"id": i, "gold": "ab"[i % 2], "prediction": "ab"[i % 2] if i else "c"} for i in range(20)]
    swapped = [row | {"prediction": "ba"[row["id"] % 2]} for row in rows]
    numbers = measure([Track("m", "clean", rows), Track("m", "keyboard.1", swapped)], QUICK)
    assert numbers.summary[0].changes.flips.correct_to_wrong == 19
    assert numbers.summary[0].changes.flips.wrong_to_other_wrong == 1


def test_answers_that_call_the_right_ones_otherwise_are_doubts():
    names = ("Card lost", "Refund")

    def told(say, right=names, scored=True):
        rows = [{"id": i, "gold": right[i % 2], "prediction": say(i)} for i in range(8)]
        rows = [row | {"score": int(row["prediction"] == row["gold"])} for row in rows] if scored else rows
        return "; ".join(doubt.message for doubt in warnings_of([Track("m", "clean", rows)]))

    assert told(lambda i: f"LABEL_{i % 2}") == (
        "no prediction is correct (predictions: 'LABEL_0', 'LABEL_1'; gold: 'Card lost', 'Refund'); "
        "if they mean the same, use the gold labels"
    )
    for scored in (True, False):
        assert told(lambda i: names[i % 2] if i > 2 else names[i % 2].lower() + " ", scored=scored) == (
            "3 of 8 predictions differ from the gold answer only in writing (case, spaces, marks, width or Unicode "
            "form) and count as wrong, such as 'card lost ' for 'Card lost'; --normalize compares without these"
        )
        assert told(lambda i: names[i % 2], scored=scored) == ""
        assert "in writing" not in told(lambda i: "Aa"[i % 2], "aA", scored=scored)  # two classes of one letter
    assert told(lambda i: i % 2 if i else 1, (1, 2)) == (
        "predictions are the numbers 0 to 1, and gold answers 1 to 2; if both count classes, count them from the "
        "same number on"
    )
    assert told(lambda i: (i // 2) % 2, (0, 1)) == ""


def test_one_class_for_everything_is_a_doubt(tmp_path, built):
    tracks = read_tracks([saying(tmp_path / "m" / "clean.jsonl", lambda _: "refund")], references=built)
    assert [str(doubt) for doubt in warnings_of(tracks)] == [
        "m / clean: the model always predicts 'refund', although there are several gold labels"
    ]
    tracks = read_tracks([saying(tmp_path / "m" / "clean.jsonl", str)], references=built)
    assert warnings_of(tracks) == []


def test_a_track_whose_ids_are_not_those_of_clean_is_refused(tmp_path):
    def ids(name, spelled):
        return write(tmp_path / "m" / f"{name}.jsonl", [{"id": spelled(i), "score": 1} for i in range(6)])

    tracks = read_tracks([ids("clean", str), ids("keyboard.1", "{}.0".format), ids("keyboard.2", str)])
    said = (
        r"^m / keyboard\.1: none of its ids is on clean \('0\.0' against '0'\); write each id as the same text on every"
    )
    with pytest.raises(ValueError, match=said):
        measure(tracks, QUICK)
    tracks = read_tracks([ids("clean", str), ids("keyboard.1", lambda i: f"{i}.0" if i < 2 else str(i))])
    assert [str(doubt) for doubt in measure(tracks, QUICK).warnings] == [
        "m / keyboard: it has 4 of the 6 examples of clean; its drop is of these only",
        "m / keyboard.1: 2 of 6 examples are left out, as clean lacks them (such as id '0.0', '1.0')",
    ]


def test_examples_that_lack_an_annotator_are_a_doubt():
    def track(name, number):
        return Track("m", name, [{"id": i, "score": 1} for i in reversed(range(number))])

    tracks = [track("clean", 6), track("keyboard.1", 6), track("keyboard.2", 2), track("keyboard.3", 4)]
    assert [str(doubt) for doubt in measure(tracks, QUICK).warnings] == [
        "m / keyboard: only 2 of 6 examples have all 3 annotators; the worst of fewer is milder"
    ]
    assert [
        str(doubt) for doubt in warnings_of([track("clean", 6), track("keyboard.1", 4), track("keyboard.2", 4)])
    ] == ["m / keyboard: it has 4 of the 6 examples of clean; its drop is of these only"]


def test_a_repeat_of_the_clean_track_is_not_what_noise_is_compared_with():
    def track(name, number):
        return Track("m", name, [{"id": i, "score": 1} for i in range(number)])

    numbers = measure([track("clean.2", 2), track("clean", 3), track("keyboard.1", 3)], QUICK)
    assert only(numbers.tracks, "keyboard.1").from_clean.compared_examples == 3
    assert numbers.warnings == ()


def test_an_example_without_a_right_answer_is_refused(tmp_path):
    rows = [{"id": i, "prediction": "a", "gold": "a" if i else None} for i in range(3)]
    with pytest.raises(ValueError, match=r"clean\.jsonl: 1 rows have no gold answer \(id '0'\)"):
        read_tracks([write(tmp_path / "m" / "clean.jsonl", rows)])


@pytest.mark.parametrize("nothing", [None, "", " \n", float("nan"), ...])
def test_a_missing_answer_is_wrong_and_counted(tmp_path, nothing):
    gold = [{"id": i, "gold": "ab"[i % 2]} for i in range(8)]
    clean = [row | {"prediction": row["gold"]} for row in gold]
    noisy = [row | {"prediction": nothing} if i >= 4 else row for i, row in enumerate(clean)]
    if nothing is ...:
        noisy = [{"id": row["id"], "gold": row["gold"]} if i >= 4 else row for i, row in enumerate(clean)]
    files = [write(tmp_path / "m" / "clean.jsonl", clean), write(tmp_path / "m" / "keyboard.1.jsonl", noisy)]
    tracks = read_tracks(files)
    numbers = measure(tracks, QUICK)
    assert [(record.average.value, record.unparsed) for record in numbers.tracks] == [(1.0, 0), (0.5, 4)]
    assert numbers.summary[0].changes.changed == 4
    assert ("a", "(no answer)", 2) in {(flip.clean, flip.noisy, flip.count) for flip in numbers.transitions}
    assert [doubt.message for doubt in numbers.warnings] == [
        "4 of 8 examples have no answer or no score, and count as wrong"
    ]
    kept = read_tracks(files, drop_unparsed=True)
    numbers = measure(kept, QUICK)
    assert [(record.average.value, record.unparsed) for record in numbers.tracks] == [(1.0, 0), (1.0, 0)]
    assert kept[1].dropped == ("4", "5", "6", "7")
    assert [doubt.message for doubt in numbers.warnings] == ["4 examples without an answer were left out, as was asked"]


@pytest.mark.parametrize("more", [{}, {"prediction": "a", "gold": "a"}])
def test_a_missing_score_is_a_missing_answer(tmp_path, more):
    rows = [{"id": i, "score": 1 if i < 20 else None} | more for i in range(40)]
    path = write(tmp_path / "m" / "clean.jsonl", rows)
    [record] = measure(read_tracks([path]), QUICK).tracks
    assert (record.average.value, record.unparsed, record.examples) == (0.5, 20, 40)
    [record] = measure(read_tracks([path], drop_unparsed=True), QUICK).tracks
    assert (record.average.value, record.unparsed, record.examples) == (1.0, 0, 20)


def test_an_answer_that_its_row_calls_unparsed_is_counted_though_it_was_scored(tmp_path):
    rows = [{"id": i, "prediction": None, "gold": "a", "score": 0.0, "unparsed": i > 1} for i in range(4)]
    for name in ("clean.jsonl", "clean.csv"):
        path = write(tmp_path / "m" / name, rows)
        if path.suffix == ".csv":
            path.write_text("id,score,unparsed\n" + "".join(f"{i},{i},{str(i == 0).lower()}\n" for i in range(2)))
        [record] = measure(read_tracks([path]), QUICK).tracks
        assert (record.average.value, record.unparsed) == ((0.5, 1) if path.suffix == ".csv" else (0.0, 2))


def test_a_score_above_zero_stands_whatever_else_the_row_says():
    [record] = measure(
        [Track("m", "clean", [{"id": 1, "score": 0.5, "prediction": None, "unparsed": True}])], QUICK
    ).tracks
    assert (record.average.value, record.unparsed) == (0.5, 0)


def test_the_command_warns_and_drops_on_request(tmp_path):
    rows = [{"id": i, "prediction": "ab"[i % 2] if i else None, "gold": "ab"[i % 2]} for i in range(4)]
    path = write(tmp_path / "m" / "keyboard.1.jsonl", rows)
    for more, said in (
        ([], "m / keyboard.1: 1 of 4 examples have no answer or no score, and count as wrong"),
        (["--drop-unparsed"], "m / keyboard.1: 1 examples without an answer were left out, as was asked"),
    ):
        result = CliRunner().invoke(main, ["report", str(path), "--out", str(tmp_path / "out"), *more])
        assert result.exit_code == 0, result.output
        assert result.stderr.splitlines() == [
            "warning: m / keyboard.1: there is no clean track, so drops cannot be computed; add a track named clean",
            f"warning: {said}",
        ]


def test_answers_whose_scores_are_all_missing_are_refused(tmp_path):
    rows = [{"id": i, "prediction": "a", "score": None} for i in range(3)]
    with pytest.raises(ValueError, match="none of its 3 rows has a score"):
        measure(read_tracks([write(tmp_path / "m" / "clean.jsonl", rows)]), QUICK)


def test_the_annotator_of_a_clean_text_makes_no_other_track(tmp_path):
    rows = [{"id": "1", "model": "m", "track": track, "annotator": 1, "score": 1} for track in ("clean", "keyboard")]
    tracks = read_tracks([write(tmp_path / "all.jsonl", rows)])
    assert [track.track for track in tracks] == ["clean", "keyboard.1"]


def test_a_track_beside_a_dataset_keeps_words_that_are_no_known_track(tmp_path):
    tracks = ("clean", "loud-keyboard-1", "keyboard_2")
    rows = [{"id": "1", "model": "m", "dataset": "d", "track": track, "score": 1} for track in tracks]
    found = read_tracks([write(tmp_path / "all.jsonl", rows)])
    assert {(track.dataset, track.track) for track in found} == {
        ("d", "clean"),
        ("d", "loud-keyboard-1"),
        ("d", "keyboard.2"),
    }


def test_the_order_of_the_texts_of_a_row_counts():
    rows = [{"id": i, "score": 1, "text": texts} for i, texts in enumerate((["a", "b"], ["b", "a"], ["a", "b"]))]
    first, swapped, same = score_track(Track("m", "keyboard.1", rows)).text_hashes.tolist()
    assert first == same != swapped


def test_an_empty_answer_may_be_the_right_one():
    [record] = measure([Track("m", "clean", [{"id": 1, "prediction": "", "gold": ""}])], QUICK).tracks
    assert (record.average.value, record.unparsed) == (1.0, 0)


@pytest.mark.parametrize("mark", "._-")
def test_every_config_of_every_dataset_is_known_as_a_track_in_every_spelling(mark):
    for name, benchmark in benchmarks().items():
        for config in benchmark.ROWS:
            if config in NO_TRACKS:
                continue
            spelled = config.replace(".", mark).replace("_", mark)
            assert parse_track_name(spelled) == TrackName("", config)
            assert parse_track_name(spelled.upper()) == TrackName("", config)
            assert parse_track_name(f"{name}{mark}{spelled}") == TrackName(name, config)


def test_names_of_tracks_are_told_apart_from_names_of_datasets():
    assert parse_track_name("readin_afqmc_zh_keyboard.2") == TrackName("readin_afqmc", "zh_keyboard.2")
    assert parse_track_name("sample-nli_rewritten") == TrackName("sample-nli", "rewritten")
    assert parse_track_name("keyboard1") == TrackName("", "keyboard.1")
    assert parse_track_name("mmlu") is parse_track_name("cleanest") is parse_track_name("keyboards") is None
    assert parse_track_names(["mmlu_clean", "mmlu_fancy", "mmlu"]) == {
        "mmlu_clean": TrackName("mmlu", "clean"),
        "mmlu_fancy": TrackName("mmlu", "fancy"),
        "mmlu": TrackName("", "mmlu"),
    }
    assert parse_track_names(["clean", "my_speech"])["my_speech"] == TrackName("", "my_speech")
    assert parse_track_names(["x_clean", "clean", "x_speech"])["x_speech"] == TrackName("x", "speech")


def test_the_names_of_readins_files_are_understood():
    for mark in "._-":
        for name, track in {
            "test_clean": "clean",
            "test_noisy_1": "keyboard.1",
            "test_noisy_keyboard_2": "keyboard.2",
            "test_noisy_asr_3": "speech.3",
            "noisy_asr_3": "speech.3",
        }.items():
            assert (
                parse_track_name(name.replace("_", mark))
                == parse_track_name(name.replace("_", mark).upper())
                == TrackName("", track)
            )
            assert parse_track_name(f"afqmc_{name}".replace("_", mark)) == TrackName("afqmc", track)
    assert parse_track_names(["test_clean", "test_fancy.2"])["test_fancy.2"] == TrackName("", "fancy.2")
    assert parse_track_name("noisy_1") == TrackName("", "noisy.1")  # whether typed or spoken is not said
    assert parse_track_name("contest_clean") == TrackName("contest", "clean")


@pytest.mark.parametrize("names", [("afqmc_clean", "afqmc_keyboard_1"), ("snips-original", "snips-filler-bos")])
def test_a_noisy_track_finds_its_clean_one(tmp_path, names):
    files = [
        write(tmp_path / "m" / f"{name}.jsonl", [{"id": i, "score": int(i != k)} for i in range(4)])
        for k, name in enumerate(names)
    ]
    numbers = measure(read_tracks(files), QUICK)
    [summary] = numbers.summary
    assert summary.averages.clean_average.value == summary.averages.micro_average.value == 0.75
    assert numbers.warnings == ()


def test_noise_without_a_clean_track_is_a_doubt_on_the_page_too(tmp_path):
    rows = [{"id": i, "score": 1} for i in range(4)]
    files = [write(tmp_path / "m" / f"{name}.jsonl", rows) for name in ("afqmc_keyboard_1", "afqmc_keyboard_2")]
    tracks = read_tracks(files)
    said = "there is no clean track, so drops cannot be computed; add a track named afqmc_clean"
    assert [str(doubt) for doubt in warnings_of(tracks)] == [f"afqmc / m / keyboard.1, keyboard.2: {said}"]
    page = report(tracks, tmp_path / "out", n_resamples=20).page
    assert said in page.read_text(encoding="utf-8")
    assert "keyboard.1, keyboard.2" in (tmp_path / "out" / "warnings.csv").read_text(encoding="utf-8-sig")


def log(samples, status="success", track=None, **more):
    spec = {"task": "readin", "model": "openai/gpt", "task_args": {"track": track} if track else {}}
    return {"version": 2, "status": status, "eval": spec, "samples": samples, **more}


def sample(number, said, gold="yes", epoch=1, **metadata):
    output = {"completion": said} if said is not None else {}
    return {"id": number, "epoch": epoch, "target": gold, "output": output, "metadata": metadata}


def save(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_inspect_names_the_track_in_the_arguments_of_the_task(tmp_path):
    files = [
        save(tmp_path / f"{n}.json", log([sample(1, "yes")], track=track))
        for n, track in enumerate(["clean", "keyboard_1"])
    ]
    tracks = read_tracks(files)
    assert [(t.model, t.dataset, t.track) for t in tracks] == [
        ("openai/gpt", "readin", "clean"),
        ("openai/gpt", "readin", "keyboard.1"),
    ]
    other = log([sample(1, "yes")])
    other["eval"]["task_args"] = {"subset": "astronomy", "noise": "filler-bos"}
    [track] = read_tracks([save(tmp_path / "log.json", other)])
    assert (track.dataset, track.track) == ("readin", "filler_bos")


def test_rows_of_inspect_pair_by_their_own_ids_where_it_only_numbered_them(tmp_path):
    clean = [sample(n, "yes", id=key) for n, key in enumerate("abc", 1)]
    noisy = [sample(n, "yes", id=key) for n, key in enumerate("ac", 1)]
    files = [
        save(tmp_path / f"{track}.json", log(samples, track=track))
        for track, samples in (("clean", clean), ("keyboard.1", noisy))
    ]
    assert [[row["id"] for row in track.rows] for track in read_tracks(files)] == [["a", "b", "c"], ["a", "c"]]
    shared = [sample(n, "yes", id="same text") for n in (1, 2)]
    [track] = read_tracks([save(tmp_path / "log.json", log(shared, track="clean"))])
    assert [row["id"] for row in track.rows] == ["1", "2"]


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_run_that_failed_is_refused_with_its_reason(tmp_path, status):
    broken = log([sample(1, "yes")], status=status, error={"message": "rate limit\nreached", "traceback": ""})
    path = save(tmp_path / "log.json", broken)
    with pytest.raises(ValueError, match=rf"log\.json: the run ended with status '{status}' \(rate limit\); run it"):
        read_tracks([path])


def test_an_archive_without_its_final_header_is_refused(tmp_path):
    whole = log([sample(1, "yes")])
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": whole["eval"]}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(whole["samples"][0]))
    with pytest.raises(ValueError, match=r"log\.eval: the run ended with status 'started'; run it again"):
        read_tracks([tmp_path / "log.eval"])


def test_epochs_are_averaged(tmp_path):
    said: dict[int, list[str | None]] = {
        1: ["yes", "no", "yes", "yes"],
        2: ["no", "no", "no", None],
        3: [None, "yes", None, None],
    }
    samples = [sample(n, text, epoch=epoch) for n, texts in said.items() for epoch, text in enumerate(texts, 1)]
    path = save(tmp_path / "log.json", log(samples, track="clean"))
    [track] = read_tracks([path])
    assert [(row["id"], row["score"], row["prediction"]) for row in track.rows] == [
        ("1", 0.75, "yes"),
        ("2", 0, "no"),
        ("3", 0.25, None),
    ]
    [record] = measure([track], QUICK).tracks
    assert record.average.value == pytest.approx(1 / 3)
    assert record.unparsed == 0
    assert [row["prediction"] for row in read_tracks([path], where={"epoch": "2"})[0].rows] == ["no", "no", "yes"]
    scored = [row | {"scores": {"match": {"value": "C" if row["output"] else "I"}}} for row in samples]
    [track] = read_tracks([save(tmp_path / "log.json", log(scored, track="clean"))])
    assert [row["score"] for row in track.rows] == [1.0, 0.75, 0.25]


def test_a_sample_that_failed_in_a_run_that_did_not_is_left_out_and_counted(tmp_path):
    samples = [
        sample(1, "yes") | {"scores": {"match": {"value": "C"}}},
        sample(2, None) | {"error": {"message": "timeout"}},
    ]
    numbers = measure(read_tracks([save(tmp_path / "log.json", log(samples, track="clean"))]), QUICK)
    assert [(record.average.value, record.unparsed, record.examples) for record in numbers.tracks] == [(1.0, 0, 1)]
    [warning] = numbers.warnings
    assert "1 of 2 samples failed with an error (timeout)" in warning.message
    failed = save(tmp_path / "log.json", log(samples[1:], track="clean"))
    with pytest.raises(ValueError, match=r"1 of 1 samples failed with an error \(timeout\); run it again"):
        read_tracks([failed])


def test_epochs_that_failed_count_neither_as_right_nor_as_wrong(tmp_path):
    samples = [
        sample(n, None if epoch == 1 else "yes", epoch=epoch)
        | {"scores": {} if epoch == 1 else {"match": {"value": "C"}}}
        | ({"error": {"message": "no connection"}} if epoch == 1 else {})
        for n in range(4)
        for epoch in (1, 2, 3)
    ]
    numbers = measure(read_tracks([save(tmp_path / "log.json", log(samples, track="clean"))]), QUICK)
    assert [(record.average.value, record.examples) for record in numbers.tracks] == [(1.0, 4)]
    assert "4 of 12 samples failed with an error (no connection)" in str(numbers.warnings[0])


EVALUATED = {"doc_id": 0, "doc": {"id": "t-1"}, "target": "x", "filtered_resps": ["x"], "exact_match": 1.0}


def test_lm_eval_names_the_model_in_the_results_beside_the_samples(tmp_path):
    folder = tmp_path / "out"
    samples = [write(folder / f"samples_qa_clean_2026-01-0{day}T03-04-05.123.jsonl", [EVALUATED]) for day in (1, 2)]
    save(folder / "results_2026-01-01T03-04-05.123.json", {"model_name": "org/seven", "results": {}})
    [first] = read_tracks([samples[0]])
    assert (first.model, first.dataset, first.track) == ("org/seven", "qa", "clean")
    save(
        folder / "results_2026-01-02T03-04-05.123.json",
        {"results": {}, "config": {"model": "hf", "model_args": "pretrained=org/nine,dtype=auto"}},
    )
    assert [track.model for path in samples for track in read_tracks([path])] == ["org/seven", "org/nine"]
    assert read_tracks([write(tmp_path / "org__ten" / "samples_qa_clean.jsonl", [EVALUATED])])[0].model == "org__ten"


def test_a_filter_of_lm_eval_that_found_nothing_found_no_answer(tmp_path):
    lines = [EVALUATED, EVALUATED | {"doc": {"id": "t-2"}, "filtered_resps": ["[invalid]"], "exact_match": 0.0}]
    [track] = read_tracks([write(tmp_path / "m" / "samples_qa_clean.jsonl", lines)])
    assert [row["prediction"] for row in track.rows] == ["x", None]
    [record] = measure([track], QUICK).tracks
    assert (record.average.value, record.unparsed) == (0.5, 1)


def test_a_folder_of_lapsus_run_is_taken_whole(tmp_path):
    for track, answer in (("clean", "yes"), ("keyboard.1", "no")):
        save(tmp_path / "out" / "mine" / "bert" / f"{track}.jsonl", {"id": 1, "prediction": answer, "gold": "yes"})
    save(
        tmp_path / "out" / "mine" / "bert" / "run.json",
        {"model_identity": "bert at 1", "task": "mine 1", "data_identity": "mine"},
    )
    (tmp_path / "out" / "answers.sqlite").touch()
    said: list[str] = []
    tracks = read_tracks([tmp_path / "out"], warn=said.append)
    assert [(track.model, track.track) for track in tracks] == [("bert", "clean"), ("bert", "keyboard.1")]
    assert said == [f"{tmp_path / 'out'}: 1 of its 3 files are no logs and were skipped ('answers.sqlite')."]


def test_a_folder_of_logs_is_taken_whole_and_what_is_skipped_is_counted(tmp_path):
    save(tmp_path / "logs" / "a.json", log([sample(1, "yes")], track="clean"))
    save(tmp_path / "logs" / "deep" / "b.json", log([sample(1, "yes")], track="keyboard.1"))
    save(tmp_path / "logs" / "results_x.json", {"results": {}})
    (tmp_path / "logs" / "notes.txt").write_text("hm")
    said: list[str] = []
    tracks = read_tracks([tmp_path / "logs"], warn=said.append)
    assert [track.track for track in tracks] == ["clean", "keyboard.1"]
    assert said == [
        f"{tmp_path / 'logs'}: 2 of its 4 files are no logs and were skipped ('notes.txt', 'results_x.json')."
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        ValueError, match=r"empty: holds no predictions of lapsus run and no log of .* among its 0 files; name"
    ):
        read_tracks([tmp_path / "empty"])


SENTENCE = "the train number {} leaves at noon"


def test_sentences_that_a_model_writes_are_not_compared_letter_by_letter():
    def track(says, **columns):
        rows = [{"id": i, "prediction": says(i), "gold": SENTENCE.format(i), **columns} for i in range(6)]
        return Track("m", "clean", rows)

    with pytest.raises(ValueError, match=r"m / clean: the gold answers are sentences .*give each row a score"):
        score_track(track(lambda i: f"train {i} leaves at twelve"))
    assert score_track(track(lambda i: f"train {i} leaves at twelve", score=0.5)).scores.tolist() == [0.5] * 6
    found = score_track(track(lambda i: SENTENCE.format(i % 3)))  # who looks among the right ones finds or misses
    assert found.scores.tolist() == [1, 1, 1, 0, 0, 0]
    assert score_track(track(lambda i: None if i else SENTENCE.format(i))).scores.sum() == 1
    repeated = [{"id": i, "prediction": "no such class", "gold": SENTENCE.format(i % 2)} for i in range(6)]
    assert score_track(Track("m", "clean", repeated)).scores.sum() == 0  # long names of classes
    chinese = [{"id": i, "prediction": "火车晚点", "gold": f"第{i}次列车将于中午十二点出发"} for i in range(4)]
    with pytest.raises(ValueError, match="sentences"):
        score_track(Track("m", "clean", chinese))
    labels = [{"id": i, "prediction": "no such label", "gold": "transfer_to_another_account"} for i in range(4)]
    assert score_track(Track("m", "clean", labels)).scores.sum() == 0
    frames = [{"id": i, "prediction": {"intent": "a"}, "gold": {"intent": f"play the song {i}"}} for i in range(4)]
    assert score_track(Track("m", "clean", frames)).scores.sum() == 0
