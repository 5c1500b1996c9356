"""Labels that a metric would score as wrong without a word: it warns, in Python and in `lapsus score`."""

import json
import warnings

import pytest

from lapsus.metrics import classification
from lapsus.reporting.score import score

GOLD = ["yes", "no"] * 20


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        (["yes.", "no"] * 20, GOLD, {}, "20 of 40 predictions differ from the gold label only in writing"),
        (["Yes", "no"] * 20, GOLD, {}, "such as 'Yes' for 'yes'"),
        ([1, 2] * 20, [0, 1] * 20, {}, "predictions are 1, 2 and references are 0, 1: none is ever equal; check"),
        (["no", "yes"] * 20, GOLD, {}, "none is ever equal"),
        (["yes.", "no"] * 20, GOLD, {"label_map": {"yes.": "yes"}}, None),
        (["no", "no"] * 20, GOLD, {}, None),
        (GOLD, GOLD, {}, None),
        (["yes."] + GOLD[1:] + GOLD * 4, GOLD * 5, {}, None),  # half a per cent
    ],
)
def test_labels_in_another_writing_or_order_are_warned_of(predictions, references, options, message):
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        classification(predictions, references, **options)
    found = [str(record.message) for record in records]
    assert (found == []) if message is None else (len(found) == 1 and message in found[0])


def write(path, column, values):
    path.write_text("".join(json.dumps({"id": str(i), column: value}) + "\n" for i, value in enumerate(values)))
    return path


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([None] * 3 + GOLD[3:], "3 of 40 examples have no answer, and count as wrong"),
        (["yes.", "no"] * 20, "20 of 40 predictions differ from the gold answer only in writing"),
        (["no", "yes"] * 20, "none is ever equal"),
        (GOLD, None),
    ],
)
def test_files_say_the_same_once(tmp_path, predictions, message):
    files = write(tmp_path / "p.jsonl", "prediction", predictions), write(tmp_path / "g.jsonl", "label", GOLD)
    found = score("classification", [files[0]], files[1]).get("warnings", [])
    assert (found == []) if message is None else (len(found) == 1 and message in found[0])
