"""Tasks of lm-evaluation-harness: one per track, one per family of annotators with the worst average, and a group.

The group asks each track once: a family's tracks within the family.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lapsus.evaluation.tracks import TrackSet

UTILS = '''"""What the tasks of this folder share; written by `lapsus tasks --export lm-eval`."""

from functools import cache
from pathlib import Path

from datasets import DatasetDict, load_dataset

HERE = Path(__file__).parent


def load(tracks, **_):
    """Return the rows of these tracks, which stand beside this file; all of an example together, for --limit."""
    files = [str(HERE / "rows" / f"{track}.jsonl") for track in tracks]
    rows = load_dataset("json", data_files={"test": files}, split="test")
    ids = list(rows["id"])
    first = {key: place for place, key in reversed(list(enumerate(ids)))}
    return DatasetDict({"test": rows.select(sorted(range(len(ids)), key=lambda place: first[ids[place]]))})


def choices(doc):
    """Return the choices as their likelihood is asked for, as `lapsus run` does."""
    from lapsus.evaluation.answer_types import terminate_choices

    return list(terminate_choices(dict(zip(doc["labels"], doc["choices"]))).values())


def choice(doc, results):
    """Score a choice by log-likelihood."""
    likely = [result[0] for result in results]
    return {"acc": float(likely.index(max(likely)) == doc["answer"])}


@cache
def task():
    """Return the task of this folder."""
    from lapsus.integrations import load_exported_task

    return load_exported_task(HERE)


def text(doc, results):
    """Parse and score a written answer as `lapsus run` does."""
    from lapsus.integrations import score_response

    return {"acc": score_response(task(), results[0], doc["row"])["score"] or 0.0}


def choice_of_annotators(doc, results):
    """Score a choice; the worst average needs the example of each row."""
    score = choice(doc, results)["acc"]
    return {"acc": score, "worst_average": [doc["id"], score]}


def text_of_annotators(doc, results):
    """Score a written answer; the worst average needs the example of each row."""
    score = text(doc, results)["acc"]
    return {"acc": score, "worst_average": [doc["id"], score]}


def worst_average(items):
    """Return the mean over examples of each example's lowest score."""
    lowest = {}
    for key, score in items:
        lowest[key] = min(score, lowest.get(key, score))
    return sum(lowest.values()) / len(lowest)
'''

NOISY = '''"""process_docs for any task of lm-eval: its own documents with noise in their text; edit the three settings.

In a task's YAML: `process_docs: !function noisy.docs`. Noise depends on the id, and without one on the text.
"""

from lapsus.perturbations import OPERATORS, Noise

OPERATOR = "filler_eos"  # of `lapsus list`
TEXT = ("question",)  # the columns that noise changes
ID = None  # the column of the documents' ids


def docs(dataset):
    """Return the documents with noise; the clean text and the edits stay beside it."""
    return Noise(OPERATORS[OPERATOR], text=TEXT[0] if len(TEXT) == 1 else TEXT, id=ID).map(dataset)
'''


def write_lm_eval_tasks(data: TrackSet, folder: Path) -> None:
    """Write YAML, and the functions that it names."""
    choices = bool(data.task.answer_type.choices)
    metric = {"aggregation": "mean", "higher_is_better": True}
    common: dict[str, Any] = {
        "custom_dataset": Function("utils.load"),
        "test_split": "test",
        "doc_to_text": "{{question}}",
        "metric_list": [{"metric": "acc", **metric}],
        "metadata": {"version": float(data.task.version)},
    }
    if choices:
        common |= {
            "output_type": "multiple_choice",
            "doc_to_choice": Function("utils.choices"),
            "doc_to_target": "answer",
            "target_delimiter": "\n",
            "process_results": Function("utils.choice"),
        }
    else:
        common |= {
            "output_type": "generate_until",
            "doc_to_target": "gold",
            "generation_kwargs": {"until": [], "max_gen_toks": data.task.answer_type.max_tokens, "do_sample": False},
            "process_results": Function("utils.text"),
        }
    annotator_families = group_families(list(data.tracks))
    names = []  # of the group, in which every track is asked once
    for track in data.tracks:
        name = f"{data.task.name}_{track}"
        names += [] if any(track in members for members in annotator_families.values()) else [name]
        per_track = {"task": name, "dataset_kwargs": {"tracks": [track]}}
        (folder / f"{name}.yaml").write_text(dump_yaml(common | per_track), encoding="utf-8")
    for family, tracks in annotator_families.items():
        names.append(f"{data.task.name}_{family}")
        own: dict[str, Any] = {
            "task": names[-1],
            "dataset_kwargs": {"tracks": tracks},
            "metric_list": [
                *common["metric_list"],
                {"metric": "worst_average", "aggregation": Function("utils.worst_average"), "higher_is_better": True},
            ],
            "process_results": Function(f"{common['process_results']}_of_annotators"),
        }
        (folder / f"{names[-1]}.yaml").write_text(dump_yaml(common | own), encoding="utf-8")
    (folder / "group.yaml").write_text(dump_yaml({"group": data.task.name, "task": names}), encoding="utf-8")
    (folder / "utils.py").write_text(UTILS, encoding="utf-8")
    (folder / "noisy.py").write_text(NOISY, encoding="utf-8")


def group_families(tracks: list[str]) -> dict[str, list[str]]:
    """Return the tracks of several annotators, by what they share.

    >>> group_families(["clean", "keyboard.1", "keyboard.2", "filler_eos"])
    {'keyboard': ['keyboard.1', 'keyboard.2']}
    """
    by_family: dict[str, list[str]] = {}
    for track in tracks:
        if re.search(r"\.\d+$", track):
            by_family.setdefault(track.rpartition(".")[0], []).append(track)
    return {family: members for family, members in by_family.items() if len(members) > 1}


class Function(str):
    """The name of a Python function in YAML, as lm-eval reads it."""

    __slots__ = ()


def dump_yaml(content: dict[str, Any]) -> str:
    """Return YAML in which every value is JSON, which YAML understands, but for functions."""
    marked = json.dumps({name: _mark_functions(value) for name, value in content.items()}, ensure_ascii=False, indent=1)
    return re.sub(r'"!function ([\w.]+)"', r"!function \1", marked) + "\n"


def _mark_functions(value: Any) -> Any:
    if isinstance(value, Function):
        return f"!function {value}"
    if isinstance(value, list):
        return [_mark_functions(each) for each in value]
    return {name: _mark_functions(each) for name, each in value.items()} if isinstance(value, dict) else value
