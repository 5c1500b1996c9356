"""entity_f1 by its definition, and the published predictions of SLURP."""

from __future__ import annotations

import json

import jiwer
import Levenshtein
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import SHARED_DATA

from lapsus.metrics import entity_f1
from lapsus.reporting.score import score

SLURP = SHARED_DATA / "slurp"
ENTITIES = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from("ab"), "filler": st.sampled_from(["x y", "x", "y z x", "yy"])}),
    max_size=4,
)
ROWS = st.lists(st.tuples(ENTITIES, ENTITIES), min_size=1, max_size=5)


def confusion(rows, distance):
    """Return true and false positives and false negatives, entity by entity."""
    right, invented, missed = 0, 0, 0
    for guess, truth in rows:
        left = list(truth)
        for entity in guess:
            alike = [other for other in left if other["type"] == entity["type"]]
            if not alike:
                invented += 1
                continue
            best = min(alike, key=lambda other: distance(other["filler"], entity["filler"]))
            off = distance(best["filler"], entity["filler"])
            left.remove(best)
            right, invented, missed = right + 1, invented + off, missed + off
        missed += len(left)
    return right, invented, missed


def f1(right, invented, missed):
    return pytest.approx(2 * right / (2 * right + invented + missed)) if right + invented + missed else None


@given(ROWS)
def test_it_is_what_the_paper_defines(rows):
    result = entity_f1(*map(list, zip(*rows, strict=True)))
    words = confusion(rows, jiwer.wer)
    letters = confusion(rows, lambda one, other: Levenshtein.distance(one, other) / max(len(one), len(other)))
    assert result["word_f1"] == f1(*words)
    assert result["char_f1"] == f1(*letters)
    assert result["slu_f1"] == f1(*map(sum, zip(words, letters, strict=True)))
    exact = confusion([([as_type(e) for e in guess], [as_type(e) for e in truth]) for guess, truth in rows], unlike)
    assert result["entity_f1"] == f1(*exact)


def as_type(entity):
    return {"type": (entity["type"], entity["filler"]), "filler": entity["filler"]}


def unlike(one, other):
    return float(one != other)


@given(ROWS)
def test_the_types_add_up(rows):
    result = entity_f1(*map(list, zip(*rows, strict=True)))
    for side in ("true", "predicted", "correct"):
        assert result["counts"][side] == sum(part["counts"][side] for part in result["types"].values())


def test_an_entity_said_twice_counts_twice():
    today = {"type": "date", "filler": "today"}
    result = entity_f1([[today, today], []], [[today], [today]])
    assert result["counts"] == {"true": 2, "predicted": 2, "correct": 1}
    assert (result["entity_f1"], result["slu_f1"]) == (0.5, 0.5)


def test_the_nearest_of_a_type_is_its_pair():
    truth = [{"type": "a", "filler": "far off"}, {"type": "a", "filler": "near"}]
    result = entity_f1([[{"type": "a", "filler": "near"}]], [truth])
    assert result["word_f1"] == result["char_f1"] == pytest.approx(2 / 3)


def test_nothing_said_is_null():
    result = entity_f1([[]], [[]])
    assert result["entity_f1"] is result["slu_f1"] is None
    assert result["types"] == {}


@pytest.mark.parametrize(
    "row", ["today", {"type": "date"}, [{"type": "date"}], [{"type": "date", "filler": 3}], 4, None]
)
def test_what_is_no_list_of_entities_is_named(row):
    with pytest.raises(TypeError, match=r"predictions\[1\] is .*: give a list of entities such as"):
        entity_f1([[], row], [[], []])


def test_entities_are_scored_from_files(tmp_path):
    heard, gold = tmp_path / "heard.jsonl", tmp_path / "gold.jsonl"
    heard.write_text('{"id": "1", "entities": [{"type": "a", "filler": "x"}]}\n{"id": "2", "entities": []}\n')
    gold.write_text(
        '{"id": "2", "entities": [{"type": "b", "filler": "y"}]}\n{"id": "1", "entities": [{"type": "a", "filler": "x"}]}\n'
    )
    result = score("entity_f1", [heard], gold, {"predictions": "entities", "references": "entities"})
    assert result["counts"] == {"true": 2, "predicted": 1, "correct": 1}


def test_pairs_are_entities_too(tmp_path):
    truth = [{"type": "a", "filler": "x"}, {"type": "b", "filler": "y z"}]
    pairs = [["a", "x"], ("b", "y")]
    assert entity_f1([pairs], [truth]) == entity_f1([[truth[0], {"type": "b", "filler": "y"}]], [truth])
    run = tmp_path / "clean.jsonl"  # as `lapsus run` writes frames
    run.write_text('{"id": "1", "prediction": "play", "slots": [["a", "x"]], "gold_slots": [["a", "x"], ["b", "y"]]}\n')
    found = score("entity_f1", [run], None, {"predictions": "slots", "references": "gold_slots"})
    assert found["counts"] == {"true": 2, "predicted": 1, "correct": 1}


def slurp_scores(name):
    path = SLURP / "predictions" / f"gold_{name}_predictions.jsonl"
    if not path.is_file():
        pytest.skip(f"needs SLURP's {path.name} beside the checkout")
    gold, predicted = {}, {}
    for line in (SLURP / "test.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        words = [token["surface"].lower() for token in row["tokens"]]
        gold[str(row["slurp_id"])] = [
            {"type": entity["type"], "filler": " ".join(words[place] for place in entity["span"])}
            for entity in row["entities"]
        ]
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        predicted[row["slurp_id"]] = [{**entity, "filler": entity["filler"].lower()} for entity in row["entities"]]
    return entity_f1([predicted[key] for key in gold], list(gold.values()))


@pytest.mark.data
@pytest.mark.parametrize(("name", "published"), [("hermit", 0.7819), ("sfid", 0.6987)])
def test_slurps_published_predictions(name, published):
    """What its own script gives on the true text."""
    result = slurp_scores(name)
    assert round(result["entity_f1"], 4) == published
    if name == "hermit":
        assert result["counts"] == {"true": 2823, "predicted": 2748, "correct": 2178}
        assert [round(result[key], 4) for key in ("word_f1", "char_f1", "slu_f1")] == [0.8109, 0.8168, 0.8138]
