"""`lapsus make`: an author's own rows as a dataset folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from datasets import load_dataset
from paths import ROOT

from lapsus.cli.main import main
from lapsus.hub import build_rows
from lapsus.metrics import human_likeness
from lapsus.perturbations import Noise, ZhHomophone, ZhKeyboard, apply, perturb

QUESTIONS = ("花呗怎么提前还款", "借呗额度为什么没有了", "花呗分期怎么取消")


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def mine(tmp_path, **changed):
    rows = [{"key": f"q{n}", "question": text, "label": n} for n, text in enumerate(QUESTIONS)]
    rows[0] |= changed
    return write(tmp_path / "mine.jsonl", rows)


def load(folder, config, tmp_path):
    return list(load_dataset(str(folder), config, split="test", cache_dir=str(tmp_path / "cache")))


def test_every_annotator_has_a_config_and_all_share_one(tmp_path):
    built = build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise="keyboard=zh_keyboard:2")
    assert list(built.rows) == ["clean", "keyboard.1", "keyboard.2", "keyboard"]
    clean = load(tmp_path / "out", "clean", tmp_path)
    assert clean == [{"id": f"q{n}", "question": text, "label": n} for n, text in enumerate(QUESTIONS)]
    each = [load(tmp_path / "out", f"keyboard.{n}", tmp_path) for n in (1, 2)]
    for number, rows in enumerate(each, 1):
        for row, text in zip(rows, QUESTIONS, strict=True):
            assert row["clean_question"] == text
            typed = perturb(ZhKeyboard.annotator(number), text, seed=0, key=row["id"])
            assert row["question"] == apply(text, typed)
    for together, *rows in zip(load(tmp_path / "out", "keyboard", tmp_path), *each, strict=True):
        assert [(one["annotator"], one["text"]) for one in together["question"]] == [
            (number, row["question"]) for number, row in enumerate(rows, 1)
        ]


def test_the_card_says_how_noisy_and_how_made(tmp_path):
    build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise="typed=zh_homophone:2@0.5")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| `typed` | `zh_homophone:2@0.5` |" in card
    assert "| `typed/test` | `question` |" in card
    assert "- zh\n" in card and "license: unknown" in card
    assert "| `mine.jsonl` | `" in card


def test_a_track_without_annotators_is_one_config(tmp_path):
    built = build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise="typed=zh_homophone")
    assert list(built.rows) == ["clean", "typed"]
    assert load(tmp_path / "out", "typed", tmp_path)[0]["clean_question"] == QUESTIONS[0]


def test_tags_stay_aligned(tmp_path):
    rows = [{"id": "a", "words": ["play", "some", "jazz"], "bio": ["O", "O", "B-genre"]}]
    build_rows(
        write(tmp_path / "slu.jsonl", rows),
        tmp_path / "out",
        text="words",
        id="id",
        tags="bio",
        noise="polite=filler_eos:2",
    )
    (row,) = load(tmp_path / "out", "polite.1", tmp_path)
    assert len(row["words"]) == len(row["bio"]) > 3
    (both,) = load(tmp_path / "out", "polite", tmp_path)
    assert both["words"][0]["text"] == " ".join(row["words"])
    assert both["words"][0]["bio"] == row["bio"]


def test_answers_move_with_the_text(tmp_path):
    answers = {"text": ["six"], "answer_start": [11]}
    rows = [{"id": "a", "text": "wake me at six", "answers": answers}]
    build_rows(
        write(tmp_path / "qa.jsonl", rows),
        tmp_path / "out",
        text="text",
        id="id",
        answers="answers",
        noise="polite=filler_bos",
    )
    (row,) = load(tmp_path / "out", "polite", tmp_path)
    start = row["answers"]["answer_start"][0]
    assert start > 11 and row["text"][start:] == "six"


def test_the_same_file_gives_the_same_bytes_and_order_changes_no_noise(tmp_path):
    noise = ["keyboard=zh_keyboard:1"]
    file = mine(tmp_path)
    build_rows(file, tmp_path / "a" / "out", text="question", id="key", noise=noise)
    build_rows(file, tmp_path / "b" / "out", text="question", id="key", noise=noise)
    one, two = (
        {p.relative_to(tmp_path / x): p.read_bytes() for p in (tmp_path / x).rglob("*.*") if p.is_file()} for x in "ab"
    )
    assert one == two
    turned = write(tmp_path / "turned.jsonl", reversed([json.loads(line) for line in file.read_text().splitlines()]))
    build_rows(turned, tmp_path / "c" / "out", text="question", id="key", noise=noise)
    assert load(tmp_path / "c" / "out", "keyboard.1", tmp_path)[::-1] == load(
        tmp_path / "a" / "out", "keyboard.1", tmp_path
    )


def test_another_seed_is_other_noise_on_the_same_rows(tmp_path):
    noise = ["typed=zh_keyboard:2", "sound=zh_homophone:2@0.5"]
    for seed in (0, 7):
        build_rows(mine(tmp_path), tmp_path / f"s{seed}", text="question", id="key", noise=noise, seed=seed)
    first, second = (
        {name: load(tmp_path / f"s{seed}", name, tmp_path) for name in ("clean", "typed.1", "sound.2")}
        for seed in (0, 7)
    )
    assert first["clean"] == second["clean"]
    assert [row["edits"] for row in first["sound.2"]] != [row["edits"] for row in second["sound.2"]]
    assert all(row["operator"].endswith(" seed=7") for row in second["typed.1"])
    assert all(row["operator"].endswith(" seed=7002") for row in second["sound.2"])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"question": ""}, r"mine\.jsonl row 1 has '' as its question, which is no text; mend the row"),
        ({"question": 7}, "row 1 has 7 as its question, which is no text"),
        ({"question": None}, "row 1 has no question; its columns are"),
        ({"key": "q2"}, r"row 3 has the id 'q2' of row 1; ids must be unique"),
        ({"id": "x"}, "has a column 'id' beside --id key; rename it, or give --id id"),
        ({"edits": []}, "has a column edits, which noise writes itself; rename it"),
        ({"clean_question": "x"}, "has a column clean_question, which noise writes itself"),
        ({"label": "one"}, "columns of mixed types"),
    ],
)
def test_rows_that_will_not_do_are_named(changed, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        build_rows(mine(tmp_path, **changed), tmp_path / "out", text="question", id="key", noise="a=zh_homophone")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["id", "edits", "clean_question"])
def test_a_name_that_only_a_later_row_has_is_taken_too(name, tmp_path):
    rows = [{"key": "a", "question": "slow down"}, {"key": "b", "question": "be quick", name: "c"}]
    with pytest.raises(ValueError, match=f"has a column '?{name}.*; rename it"):
        build_rows(write(tmp_path / "rows.jsonl", rows), tmp_path / "out", text="question", id="key", noise="a=speako")


def test_every_row_has_the_columns_of_all_rows(tmp_path):
    rows = [{"id": "a", "text": "slow down", "early": 1}, {"id": "b", "text": "be quick", "late": "x"}]
    build_rows(write(tmp_path / "rows.jsonl", rows), tmp_path / "out", text="text", id="id", noise="a=filler_eos:2")
    assert load(tmp_path / "out", "clean", tmp_path) == [
        {"id": "a", "text": "slow down", "early": 1, "late": None},
        {"id": "b", "text": "be quick", "early": None, "late": "x"},
    ]
    for config in ("a.1", "a"):
        assert [(row["early"], row["late"]) for row in load(tmp_path / "out", config, tmp_path)] == [
            (1, None),
            (None, "x"),
        ]


@pytest.mark.parametrize(
    ("noise", "sentence"),
    [
        ([], "there is no noise; give one such as keyboard=zh_keyboard:3 with --noise"),
        ("clean=zh_homophone", "'clean' is no name for a track; .* as in noisy=zh_homophone"),
        ("a.1=zh_homophone", "'a.1' is no name for a track"),
        ("zh_homophone@0.3", "'zh_homophone_30%' is no name for a track; .* as in noisy=zh_homophone@0.3"),
        ("a=zh_homophone:x", "'zh_homophone:x' is no noise"),
    ],
)
def test_tracks_that_will_not_do_are_named(noise, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise=noise)


def test_the_command_makes_it_and_asks_for_a_licence_before_it_publishes(tmp_path):
    words = ["make", str(mine(tmp_path)), "--text", "question", "--id", "key", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*words, "--noise", "typed=zh_homophone"])
    assert done.exit_code == 0, done.output
    assert "wrote 6 rows in 2 configs" in done.output
    asked = CliRunner().invoke(main, [*words, "--noise", "typed=zh_homophone", "--push", "org"])
    assert asked.exit_code == 2 and "name theirs with --license" in asked.output
    twice = CliRunner().invoke(main, [*words, "--noise", "a=zh_homophone", "--noise", "a=zh_keyboard"])
    assert twice.exit_code == 1
    assert "two tracks are called 'a'; name one of them: TRACK=zh_keyboard" in twice.output


def test_stacked_operators_compose_and_their_edits_lead_from_the_clean_text(tmp_path):
    noise = ["both=zh_homophone@0.5+zh_keyboard:2", "fillers=zh_homophone@1+zh_homophone@0.5"]
    built = build_rows(str(mine(tmp_path)), str(tmp_path / "out"), text="question", id="key", noise=noise)
    assert list(built.rows) == ["clean", "both.1", "both.2", "both", "fillers"]
    for number in (1, 2):
        for row, text in zip(load(tmp_path / "out", f"both.{number}", tmp_path), QUESTIONS, strict=True):
            heard = apply(text, perturb(ZhHomophone(rate=0.5), text, key=row["id"]))
            typed = apply(heard, perturb(ZhKeyboard.annotator(number), heard, key=row["id"]))
            edits = [(edit["start"], edit["end"], edit["text"]) for edit in row["edits"]["question"]]
            assert row["question"] == typed == apply(text, edits) and row["clean_question"] == text
            assert row["operator"].startswith("ZhHomophone(") and " then ZhKeyboard(" in row["operator"]


def test_stacked_operators_keep_tags_and_answers(tmp_path):
    words = ["play", "some", "jazz"]
    rows = [{"id": "a", "words": words, "bio": ["O", "O", "B-genre"]}]
    slu = write(tmp_path / "slu.jsonl", rows)
    build_rows(slu, tmp_path / "slu", text="words", id="id", tags="bio", noise="two=filler_bos:2+filler_eos:2")
    for number in (1, 2):
        (row,) = load(tmp_path / "slu", f"two.{number}", tmp_path)
        assert row["words"][row["bio"].index("B-genre")] == "jazz" and row["bio"].count("O") == len(row["words"]) - 1
        assert row["clean_words"] == words and row["words"].index("play") > 0 and row["words"][-1] != "jazz"
    answered = [{"id": "a", "text": "wake me at six", "answers": {"text": ["six"], "answer_start": [11]}}]
    qa = write(tmp_path / "qa.jsonl", answered)
    build_rows(qa, tmp_path / "qa", text="text", id="id", answers="answers", noise="two=filler_bos+filler_eos")
    (row,) = load(tmp_path / "qa", "two", tmp_path)
    start = row["answers"]["answer_start"][0]
    assert start > 11 and row["text"][start : start + 3] == "six" != row["text"][-3:]


PEOPLE = (
    ["花贝怎么提前还款", "借呗额度为什么没有了", "花呗分期怎么取笑"],
    ["花呗怎么提钱还款", "借贝额度为什么没了", "花呗分期怎么取消"],
)


def written_by(tmp_path, *people):
    return [
        write(tmp_path / f"person{n}.jsonl", [{"key": f"q{i}", "question": text} for i, text in enumerate(texts)])
        for n, texts in enumerate(people, 1)
    ]


def test_the_card_says_how_human_a_track_is_where_people_wrote_some_rows(tmp_path):
    human = {"typed": [str(path) for path in written_by(tmp_path, *PEOPLE)]}
    noise = ["typed=zh_homophone:2@1", "plain=zh_keyboard"]
    build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise=noise, human=human)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    made = [[row["question"] for row in load(tmp_path / "out", f"typed.{n}", tmp_path)] for n in (1, 2)]
    told = human_likeness(
        [list(each) for each in zip(*made, strict=True)], QUESTIONS, [list(each) for each in zip(*PEOPLE, strict=True)]
    )
    rates = f"{told['synthetic']['micro_average']:.1%} / {told['human']['micro_average']:.1%}"
    (line,) = (line for line in card.splitlines() if line.startswith("| `typed` | 3 |"))
    assert rates in line and line.count("|") == 9
    assert "`typed` person1.jsonl, person2.jsonl." in card and "`lapsus make --human" not in card


@pytest.mark.parametrize(
    ("people", "track", "sentence"),
    [
        (PEOPLE, "type", "did you mean typed"),
        (([],), "typed", "person1.jsonl|no row is in all of"),
        ((["a", "b", "c", "d"],), "typed", "person1.jsonl has the id 'q3', which is in none of the rows"),
        ((["a"], [None, "b"]), "typed", "person2.jsonl row 1 has no question; its columns are key, question"),
    ],
)
def test_peoples_files_that_will_not_do_are_named(people, track, sentence, tmp_path):
    human = {track: written_by(tmp_path, *people)}
    with pytest.raises((ValueError, LookupError), match=sentence):
        build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise="typed=zh_homophone", human=human)
    assert not (tmp_path / "out").exists()


def test_the_five_lines_of_the_docs_make_the_folder_of_the_command_beside_them(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "publish.md").read_text(encoding="utf-8")
    command = re.search(r"\$ lapsus (make .*?) --license", page, re.DOTALL)[1].replace("\\\n", " ").split()
    lines = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    write(Path("mine.jsonl"), [{"id": n, "question": text} for n, text in enumerate(QUESTIONS)])
    sent = []
    monkeypatch.setattr("lapsus.upload", lambda *place: sent.append(place), raising=False)
    exec(lines, {})  # noqa: S102 - our own page
    first = {path.name: path.read_bytes() for path in Path("mine").rglob("*/*.parquet")}
    assert sent == [(tmp_path / "mine", "ORG/mine")] and len(first) > 0
    assert CliRunner().invoke(main, command).exit_code == 0
    assert {path.name: path.read_bytes() for path in Path("mine").rglob("*/*.parquet")} == first


def test_noise_over_a_published_track_composes(tmp_path):
    build_rows(mine(tmp_path), tmp_path / "out", text="question", id="key", noise="typed=zh_homophone@1")
    typed = load_dataset(str(tmp_path / "out"), "typed", split="test", cache_dir=str(tmp_path / "cache"))
    assert set(typed[0]["edits"]) == {"question"}
    for row in Noise(ZhKeyboard.annotator(1), text="question", id="id").map(typed):
        assert row["clean_question"] in QUESTIONS
        edits = [(edit["start"], edit["end"], edit["text"]) for edit in row["edits"]]
        assert apply(row["clean_question"], edits) == row["question"]
        assert " then " in row["operator"]
