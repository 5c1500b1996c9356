"""A reader before the model: tracks of read text, and the split of a drop into avoidable and left."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lapsus import stats
from lapsus.cli.main import main
from lapsus.core.track_names import READER_COLUMN
from lapsus.evaluation import TrackSet, make_task, run
from lapsus.evaluation.readers import Reader, add_reader, open_reader
from lapsus.evaluation.tracks import add_noise
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.report import report

N = 60
TASK = make_task(["text"], "label", labels=["music", "no"])
ROWS = [{"id": str(number), "text": f"play song {number}", "label": "music"} for number in range(N)]


def spoil(number):
    """Return the noisy text: half are spoilt, of which a reader can mend two thirds."""
    return ["play song", "plya song", "plya song", "xxxx song", "play song", "play song"][number % 6] + f" {number}"


NOISY = [{**row, "text": spoil(number), "clean_text": row["text"]} for number, row in enumerate(ROWS)]
DATA = TrackSet.from_tracks("mine", TASK, {"clean": ROWS, "typed.1": NOISY, "typed.2": NOISY[:30]})


def repair(texts):
    """Knows one word. And no more."""
    return [text.replace("plya", "play").replace("song 4", "sing 4") for text in texts]


class Model:
    """Knows what music is, and counts what it is asked."""

    revision = "1"

    def __init__(self):
        self.texts = []

    def __call__(self, rows):
        assert all(row.keys() == {"id", "text"} for row in rows)
        self.texts += [row["text"] for row in rows]
        return ["music" if row["text"].startswith("play song") else "no" for row in rows]


def test_the_split_is_that_of_the_four_scores_by_hand():
    model = Model()
    tracks = run(TASK, add_reader(DATA, repair), model)
    assert [track.track for track in tracks] == [
        "clean", "typed.1", "typed.2", "read.clean", "read.typed.1", "read.typed.2",
    ]  # fmt: skip
    assert len(model.texts) == len(set(model.texts))  # what is the same text is asked once
    numbers = measure(tracks, AnalysisOptions())
    [split] = numbers.splits
    right = {track.track: {row["id"]: row["score"] for row in track.rows} for track in tracks}

    def average(prefix, key):
        scores = [right[f"{prefix}typed.{k}"].get(key) for k in (1, 2)]
        known = [score for score in scores if score is not None]
        return sum(known) / len(known)

    sides = np.array(
        [
            [right["clean"][key], average("", key), right["read.clean"][key], average("read.", key)]
            for key in map(str, range(N))
        ]
    )
    clean, noisy, read_clean, read_noisy = sides.T
    left, drop = read_clean - read_noisy, clean - noisy
    assert split.drop.value == pytest.approx(drop.mean()) == pytest.approx(0.5)
    assert split.left.value == pytest.approx(left.mean())
    assert split.avoidable.value == pytest.approx((drop - left).mean())
    assert split.avoidable.value + split.left.value == pytest.approx(split.drop.value)
    assert 0 < split.left.value < split.drop.value and read_clean.mean() < 1  # the reader spoils clean texts too
    for estimate, difference in ((split.left, left), (split.avoidable, drop - left)):
        low, high = stats.estimate_mean(stats.sum_by_cluster(difference, None), 0.95)[0]  # another method
        assert estimate.interval == pytest.approx((low, high), abs=0.03)
    assert split.reader == "repair (Knows one word. And no more)"
    changed = [row for rows in (NOISY, NOISY[:30]) for row in rows if row["text"] != row["clean_text"]]
    restored = [row for row in changed if repair([row["text"]]) == [row["clean_text"]]]
    spoilt = [row for row in ROWS if "song 4" in row["text"]]
    counts = split.changed_texts, split.restored_texts, split.changed_clean_texts
    assert counts == (len(changed), len(restored), len(spoilt)) == (45, 27, 11)


def test_the_rest_of_a_report_does_not_see_the_read_tracks(tmp_path):
    plain, with_reader = (run(TASK, data, Model(), name="m") for data in (DATA, add_reader(DATA, repair)))
    first, second = measure(plain), measure(with_reader)
    assert second.splits and not first.splits
    for name in first.to_tables().keys() - {"splits"}:
        assert getattr(first, name) == getattr(second, name), name
    written = report(with_reader, tmp_path / "report")
    page = written.page.read_text("utf-8")
    assert "Avoidable and left" in page and "repair (Knows one word. And no more)" in page
    assert json.loads((tmp_path / "report/report.json").read_text())["splits"][0]["family"] == "typed"


def test_a_perfect_reader_avoids_all_and_an_idle_one_nothing():
    clean_texts = {row["text"]: row["clean_text"] for row in NOISY}
    cases = {
        "all": (lambda texts: [clean_texts.get(text, text) for text in texts], (0.5, 0.0)),
        "nothing": (lambda texts: texts, (0.0, 0.5)),
    }
    for name, (read, (avoidable, left)) in cases.items():
        data = add_reader(DATA, Reader(name, read))
        [split] = measure(run(TASK, data, Model())).splits
        assert (split.avoidable.value, split.left.value) == pytest.approx((avoidable, left))
        assert bool(data.notes) == (name == "nothing")
        sure, zero = (split.avoidable, split.left) if name == "all" else (split.left, split.avoidable)
        assert sure.low > 0.3 and zero.low <= 0 <= zero.high


def test_clusters_widen_the_intervals():
    task = make_task(["text"], "label", labels=["music", "no"])
    data = add_reader(DATA, repair)
    tracks = run(task, data, Model())
    [single] = measure(tracks).splits
    for track in tracks:
        for row in track.rows:
            row["cluster"] = str(int(row["id"]) % 6)
    [clustered] = measure(tracks).splits
    for name in ("drop", "avoidable", "left"):
        wide, narrow = getattr(clustered, name), getattr(single, name)
        assert wide.value == narrow.value and wide.high - wide.low > narrow.high - narrow.low


def test_read_tracks_of_other_readers_or_noise_are_refused():
    tracks = {track.track: track for track in run(TASK, add_reader(DATA, repair), Model())}
    others = {track.track: track for track in run(TASK, add_reader(DATA, Reader("idle", list)), Model())}
    mixed = [tracks[name] for name in ("clean", "typed.1", "read.typed.1")] + [others["read.clean"]]
    with pytest.raises(ValueError, match=r"its reader is 'repair .*, and that of the clean text 'idle"):
        measure(mixed)
    noisy = [add_noise(TrackSet.from_rows("m", TASK, ROWS), ["filler_eos"], seed=seed) for seed in (0, 1)]
    old, new = ({t.track: t for t in run(TASK, add_reader(data, Reader("idle", list)), Model())} for data in noisy)
    with pytest.raises(ValueError, match="was read from other noise than filler_eos"):
        measure([*(new[name] for name in ("clean", "filler_eos", "read.clean")), old["read.filler_eos"]])


def test_a_missing_side_is_said():
    tracks = [t for t in run(TASK, add_reader(DATA, repair), Model(), name="m") if t.track != "read.clean"]
    numbers = measure(tracks)
    assert not numbers.splits
    assert any("there is no track read.clean, so no drop is split" in str(each) for each in numbers.warnings)


def test_a_track_of_the_user_with_such_a_name_is_noise():
    data = TrackSet.from_tracks("mine", TASK, {"clean": ROWS, "read.1": NOISY})
    numbers = measure(run(TASK, data, Model()))
    assert [record.family for record in numbers.summary] == ["read"] and not numbers.splits


@pytest.mark.parametrize(("spec", "name"), [("en_speech", "en_speech"), ("filler_eos", "ClosingFiller")])
def test_noise_that_a_reader_is_not_for_is_refused(spec, name):
    data = add_noise(TrackSet.from_rows("m", TASK, ROWS), [f"x={spec}"])
    with pytest.raises(ValueError, match=f"zh_correct 1 is not for the noise {name} of the track x"):
        add_reader(data, "zh_correct")


def test_zh_correct_reads_typed_chinese():
    rows = [{"id": str(n), "text": "花呗怎么申请分期付款", "label": "music"} for n in range(3)]
    noisy = [{**row, "text": "花呗怎么申请分期服款", "clean_text": row["text"]} for row in rows]
    tracks = add_reader(TrackSet.from_tracks("zh", TASK, {"clean": rows, "keyboard.1": noisy}), "zh_correct").tracks
    assert {row["text"] for row in tracks["read.keyboard.1"]} == {"花呗怎么申请分期付款"}
    assert tracks["read.clean"][0]["text"] == rows[0]["text"] == tracks["read.clean"][0]["clean_text"]
    assert "zh_correct 1" in tracks["read.clean"][0][READER_COLUMN]


def test_messages_are_read_turn_by_turn():
    messages = [{"role": "system", "content": "plya"}, {"role": "user", "content": "plya song"}]
    rows = [{"id": "a", "text": messages, "label": "music"}]
    data = TrackSet.from_tracks("chat", TASK, {"clean": rows, "typed": [{**rows[0], "clean_text": messages}]})
    read = add_reader(data, repair).tracks["read.typed"][0]["text"]
    assert [message["content"] for message in read] == ["plya", "play song"] and messages[1]["content"] == "plya song"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda texts: texts[1:], "returned .* texts for .*; return one text for each"),
        (lambda _: "text", "returned str"),
        (lambda _: None, "returned NoneType"),
        (lambda texts: [None for _ in texts], "returned None, which is no text"),
        (lambda texts: [1 for _ in texts], "returned 1, which is no text"),
        (lambda texts: texts.nothing, "raised AttributeError"),
    ],
)
def test_what_is_no_reader_is_refused(read, message):
    with pytest.raises((TypeError, ValueError), match=message):
        add_reader(DATA, Reader("r", read))


def test_only_clean_text_is_refused():
    with pytest.raises(ValueError, match="only the clean track is run; add noise"):
        add_reader(TrackSet.from_rows("m", TASK, ROWS), repair)
    with pytest.raises(LookupError, match="unknown reader 'zh'; write zh_correct, or MODULE:FUNCTION"):
        open_reader("zh")


def test_the_command_runs_a_reader_and_the_report_splits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    Path("split_reader.py").write_text(
        '"""Units."""\n'
        "def lower(texts):\n    'Drops the pleas'\n    return [t.replace(' pretty please', '') for t in texts]\n"
        "def model(rows):\n    return ['music' if 'pl' not in r['text'].split()[-1] else 'no' for r in rows]\n"
    )
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = "run --rows rows.jsonl --text text --gold label --noise filler_eos:2 --model python:split_reader:model"
    command = [
        *words.split(),
        "--labels",
        "music,no",
        "--out",
        "out",
        "--reader",
        "split_reader:lower",
        "--repeats",
        "2",
    ]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    files = sorted(map(str, Path("out").rglob("*.jsonl")))
    assert [Path(file).stem for file in files if "read." in file] == [
        "read.clean", "read.filler_eos.1", "read.filler_eos.2",
    ]  # fmt: skip
    result = CliRunner().invoke(main, ["report", *files, "--out", "report"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    [split] = json.loads(Path("report/report.json").read_text())["splits"]
    assert split["reader"] == "split_reader.lower (Drops the pleas)" and split["annotators"] == 2
    assert split["avoidable"] > 0 and split["changed_clean_texts"] == 0
    assert Path("report/splits.csv").is_file()
