"""Human tracks from files: joined by id, checked, and recorded with edits that replay."""

from __future__ import annotations

import random

import pytest
import viewer
from click.testing import CliRunner
from own_rows import ROWS, load, write_lines

from lapsus.cli.main import main
from lapsus.dataset_scripts.human_tracks import HumanTrackChecks
from lapsus.hub import build_rows
from lapsus.perturbations import apply


def type_badly(text: str, seed: int) -> str:
    letters = list(text)
    place = random.Random(f"{seed}{text}").randrange(len(letters) - 1)
    letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters) + "!"


def write_person(home, number, change=lambda texts: texts, **extra):
    texts = change([type_badly(row["text"], number) for row in ROWS])
    rows = [{"id": row["id"], "text": text, **extra} for row, text in zip(ROWS, texts, strict=True)]
    return write_lines(home / f"typist{number}.jsonl", rows)


def build(home, *files, **options):
    return build_rows(ROWS, home / "out", text="text", people={"keyboard": files}, **options)


def test_people_become_annotators_beside_noise(tmp_path):
    files = [write_person(tmp_path, number, device="phone") for number in (1, 2)]
    built = build(tmp_path, *files, noise="auto=filler_eos")
    assert list(built.rows) == ["clean", "auto", "keyboard.1", "keyboard.2", "keyboard"]
    for number in (1, 2):
        for row, clean in zip(load(built.path, f"keyboard.{number}"), ROWS, strict=True):
            assert row["text"] == type_badly(clean["text"], number) and row["clean_text"] == clean["text"]
            assert apply(clean["text"], row["edits"]["text"]) == row["text"]
            assert row["operator"] == f"person: typist{number}" and "device" not in row
    assert [each["annotator"] for each in load(built.path, "keyboard")[3]["text"]] == [1, 2]
    card = (built.path / "README.md").read_text(encoding="utf-8")
    assert "2 people (typist1, typist2)" in card and "- crowdsourced" in card
    assert viewer.check_folder(built.path) == []


def test_a_person_may_have_written_some_rows_only(tmp_path):
    first, second = (write_person(tmp_path, number) for number in (1, 2))
    lines = second.read_text().splitlines(keepends=True)
    second.write_text("".join(lines[:10]))
    built = build(tmp_path, first, second)
    assert {config: splits["test"] for config, splits in built.rows.items()} == {
        "clean": 24, "keyboard.1": 24, "keyboard.2": 10, "keyboard": 24,
    }  # fmt: skip
    assert [len(row["text"]) for row in load(built.path, "keyboard")] == [2] * 10 + [1] * 14


def test_a_file_may_hold_several_people(tmp_path):
    rows = [
        {"id": row["id"], "text": type_badly(row["text"], number), "annotator": name}
        for number, name in enumerate(("ida", "ben"))
        for row in ROWS
    ]
    built = build(tmp_path, write_lines(tmp_path / "all.jsonl", rows))
    assert {row["operator"] for row in load(built.path, "keyboard.2")} == {"person: ben"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda texts: texts[1:] + texts[:1], "texts of several rows moved"),
        (lambda texts: [texts[0], texts[5], *texts[2:5], texts[1], *texts[6:]], "'q01' and 'q05' exchanged"),
        (lambda _: [row["text"] for row in ROWS], "changed none of the 24 texts"),
        (lambda texts: ["", *texts[1:]], "typist1.jsonl row 1 has '' as its text"),
        (lambda _: [f"请帮我打开厨房的灯吧{n}" for n in range(24)], "its texts in another language"),
    ],
)
def test_texts_that_are_not_theirs_are_refused(tmp_path, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        build(tmp_path, write_person(tmp_path, 1, change))
    assert not (tmp_path / "out").exists()


def test_two_people_who_wrote_the_same_are_one(tmp_path):
    first, second = write_person(tmp_path, 1), tmp_path / "copy.jsonl"
    second.write_text(first.read_text())
    with pytest.raises(ValueError, match="annotators typist1 and copy wrote the same in 24 of 24 changed texts"):
        build(tmp_path, first, second)


def test_rows_of_other_data_are_named(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", [{"id": "x", "text": "b"}])
    with pytest.raises(ValueError, match=r"a.jsonl row 1 has the id 'x', which is in none of the rows"):
        build(tmp_path, file)
    file = write_lines(tmp_path / "a.jsonl", [{"id": "q01", "text": "b"}, {"id": "q01", "text": "c"}])
    with pytest.raises(ValueError, match=r"a.jsonl row 2 has the id 'q01' a second time"):
        build(tmp_path, file)


def test_far_texts_are_noted(tmp_path):
    file = write_person(tmp_path, 1, lambda texts: ["zzzzzzzzzz", *texts[1:]])
    words = ["make", str(write_lines(tmp_path / "rows.jsonl", ROWS)), "--text", "text", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*words, "--people", f"keyboard={file}"])
    assert done.exit_code == 0, done.output
    assert (
        "note: keyboard/test: annotator typist1 differs by more than half in 1 of 24 rows, such as q00" in done.output
    )
    assert "differs by more than half in 1 of 24" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("shift", [1, -1, 2, 5])
def test_a_block_of_moved_rows_is_found_at_any_shift(shift):
    checks = HumanTrackChecks("k/test")
    written = [type_badly(f"{row['text']} and {n * n * 7919} more of {n**3}", 1) for n, row in enumerate(ROWS * 9)]
    clean = [f"{row['text']} and {n * n * 7919} more of {n**3}" for n, row in enumerate(ROWS * 9)]
    block = [random.Random(n).sample("abcdefghijklmnopqrstuvwxyz", 20) for n in range(12)]
    for n, letters in enumerate(block):
        clean[100 + n] = "".join(letters)
    moved = ["".join(letters) + "!" for letters in block]
    written[100:112] = moved[shift:] + moved[:shift]
    for number, (left, right) in enumerate(zip(clean, written, strict=True)):
        checks.add(str(number), left, {"": right})
    with pytest.raises(ValueError, match=r"moved|exchanged"):
        checks.finish()
