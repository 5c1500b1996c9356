"""xSID's files: how dialects find their requests, whose words slots hold, and what is refused."""

from __future__ import annotations

import shutil

import pytest
from paths import BENCHMARK_FILES

from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.xsid import find_words, join_by_english

FILES = BENCHMARK_FILES / "xsid"


def read(name, config, split="test", folder=FILES):
    builder = benchmarks()[name](config_name=config, data_dir=folder)
    return list(builder.rows(builder.source, config, split))


def test_a_file_in_another_order_is_joined_by_its_english_text():
    assert [(row["id"], row["clean_text"], row["text"]) for row in read("xsid-de", "writer.1")] == [
        ("1", "stell eine Uhr auf 7:15", "stei a Uhr auf 7:15"),
        ("2", "ist der Kessel heiß?", "is da Kessl hoaß?"),
    ]


def test_every_row_of_a_dialect_finds_one_request_whatever_its_ids():
    clean = {str(number): {"english": f"{'abcd'[number % 4]} lamp", "intent": "i"} for number in range(8)}
    shifted = {str(number - 1): {**row, "text": str(number)} for number, row in enumerate(clean.values(), start=1)}
    moved = {str(number): {**shifted[str((number + 3) % 8)], "text": str(number)} for number in range(8)}
    joined = join_by_english(clean, moved, "x")
    assert list(joined) == list(clean)
    assert {row["text"] for row in joined.values()} == set(clean)
    assert all(joined[key]["english"] == clean[key]["english"] for key in clean)


def test_slots_hold_the_words_as_they_were_written():
    row = read("xsid-no", "writer.2")[0]
    assert row["tokens"] == ["varsle", "meg", "klåkka", "7", ":", "15"]
    assert row["entities"] == [{"type": "time", "text": "klåkka 7:15"}]
    assert row["dialect"] == "N"
    assert find_words("wake me", ["work", "me"], 1, 2) == "me", "tokens that are not the text's stand as they are"


def test_a_request_that_a_writer_left_out_has_no_row():
    assert [row["id"] for row in read("xsid-no", "writer.4")] == ["2"]
    assert [row["id"] for row in read("xsid-no", "writer.5")] == ["1", "2"]


def test_two_requests_with_each_others_words_get_their_own(tmp_path):
    blocks = [
        (f"{key}/{writer}", text, intent, tag)
        for key, intent, own, other in (
            ("219", "reminder/cancel_reminder", ("slett", "B-reference"), ("vått", "B-weather/attribute")),
            ("220", "weather/find", ("vått", "B-weather/attribute"), ("slett", "B-reference")),
        )
        for writer, (text, tag) in (("1", own), ("B", other))
    ]
    file = tmp_path / "no.test.conll"
    header = "# id = {0}\n# text = {1}\n# intent = {2}\n1\t{1}\t{2}\t{3}\n\n"
    file.write_text("".join(header.format(*block) for block in blocks), encoding="utf-8")
    rows = read("xsid-no", "clean", folder=tmp_path)
    assert [(row["id"], row["text"], row["intent"], row["entities"][0]["type"]) for row in rows] == [
        ("219", "slett", "reminder/cancel_reminder", "reference"),
        ("220", "vått", "weather/find", "weather/attribute"),
    ]
    assert [row["clean_text"] == row["text"] for row in read("xsid-no", "writer.1", folder=tmp_path)] == [True, True]


@pytest.mark.parametrize(
    ("name", "config", "file", "old", "new", "message"),
    [
        ("xsid-no", "writer.2", "no.test.conll", "# id = 2/2", "# id = 3/2", "has no 2/2, but others of that request"),
        ("xsid-no", "writer.2", "no.test.conll", "# id = 2/2", "# id = 1/2", "has the request '1/2' twice"),
        ("xsid-no", "clean", "no.test.conll", "# id = 2/B", "# id = x/B", "has the id 'x/B', expected a number"),
        ("xsid-de", "writer.2", "de-muc.test.conll", "is the kettle hot?", "buy milk", "which is none of its standard"),
        ("xsid-de", "writer.2", "de-muc.test.conll", "kettle/ask", "kettle/fill", "has another intent for"),
        ("xsid-it", "clean", "it.test.conll", "1\tmetti\ttimer/set\tO", "1\tmetti\tO", "has 3 fields, expected 4"),
        ("xsid-it", "clean", "it.test.conll", "\tB-time", "\ttime", "the tag 'time', which is none of O, B-, I-"),
        ("xsid-it", "clean", "it.test.conll", "1\tmetti\ttimer/set", "1\tmetti\tx", "a request with several intents"),
        ("xsid-it", "clean", "it.test.conll", "# intent = kettle/ask\n", "", "ends a request without intent"),
        ("xsid-it", "clean", "it.test.conll", "\n\n# id = 2", "\n# id = 2", "no blank line ends the one before"),
    ],
)
def test_other_files_are_refused(tmp_path, name, config, file, old, new, message):
    folder = shutil.copytree(FILES, tmp_path / "xsid")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read(name, config, folder=folder)
