"""What the page says of the noise: who or what wrote it, and how many texts it changed."""

import pytest

from lapsus.core.origins import parse_operators
from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.html.averages import describe_annotators, describe_noise, name_annotators
from lapsus.reporting.report import report

TYPED = "EnKeyboard(who=1, corrects=True, layout='qwerty', name='en_keyboard', version='1') seed=0"


def track(name, changed=0, operator=None, size=10):
    rows = [{"id": str(number), "score": 1, "text": f"text {number}"} for number in range(size)]
    if name == "clean":
        return Track("m", name, rows)
    own = {"operator": operator} if operator else {}
    return Track("m", name, [
        {**row, "text": row["text"] + "x" * (place < changed), "clean_text": row["text"], **own}
        for place, row in enumerate(rows)
    ])  # fmt: skip


def describe(*noisy):
    results = measure([track("clean"), *noisy])
    return describe_noise(results.tracks), name_annotators(results.tracks)


@pytest.mark.parametrize(
    ("origin", "names"),
    [
        (TYPED, ["en_keyboard 1"]),
        ("ClosingFiller(version='2') seed=0", ["ClosingFiller 2"]),
        (f"ClosingFiller(version='2') seed=0 then {TYPED}", ["ClosingFiller 2", "en_keyboard 1"]),
        ("Mixture(name='loud', operators=(Shout(name='shout', version='1'),), version='3') seed=0", ["shout 1", "loud 3"]),
        ("en_keyboard:2@0.5", ["en_keyboard"]),
        ("person: Ann (typed)", []),
        ("", []),
    ],
)  # fmt: skip
def test_operators_are_read_from_what_a_row_records(origin, names):
    assert parse_operators(origin) == names


def test_simulated_noise_is_called_so_with_its_operator_and_its_texts():
    text, annotators = describe(track("k.1", 7, TYPED), track("k.2", 9, TYPED), track("a", 10, "person: Ann"))
    assert "k: simulated, by en_keyboard 1, 70.0 % to 90.0 % of the texts changed" in text
    assert "a: written by people, 100.0 % of the texts changed" in text
    assert annotators == "people, or simulated users"


def test_annotators_are_people_only_where_rows_say_so():
    assert describe(track("a", 9, "person: Ann"))[1] == "people"
    assert describe(track("k", 9, TYPED))[1] == "simulated users, not people"
    text, annotators = describe(track("k", 9))
    assert annotators == "people, or simulated users" and text == "What the noise is: k: 90.0 % of the texts changed."
    assert "(people)" in describe_annotators([], "people")


def test_the_counts_are_in_the_table_and_the_files(tmp_path):
    results = measure([track("clean"), track("k", 7, TYPED)])
    clean, noisy = results.to_tables()["tracks"]
    assert "texts" not in clean
    assert (noisy["texts"], noisy["changed_texts"], noisy["by_people"]) == (10, 7, False)
    page = report([track("clean"), track("k", 7, TYPED)], tmp_path).page.read_text(encoding="utf-8")
    assert "simulated, by en_keyboard 1, 70.0\u00a0% of the texts changed" in page and "Texts changed" in page


def test_an_operator_for_another_writing_is_noticed_as_rows_record_it():
    rows = [{"id": str(n), "score": 1, "text": f"花呗怎么提额{n} x", "clean_text": f"花呗怎么提额{n}", "operator": TYPED}
            for n in range(10)]  # fmt: skip
    clean = [{"id": row["id"], "score": 1, "text": row["clean_text"]} for row in rows]
    warnings = [str(warning) for warning in measure([Track("m", "clean", clean), Track("m", "k", rows)]).warnings]
    assert any("en_keyboard is made for English" in warning for warning in warnings)
