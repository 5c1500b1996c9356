"""Read sample logs of lm-evaluation-harness as rows: one JSON object per line, with a document and the answer.

>>> is_samples([{"doc_id": 0, "doc": {"question": "1 + 1?"}, "target": "2", "filtered_resps": ["2"]}])
True
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lapsus.io.readers import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lapsus.io.readers import Row

STAMP = r"_\d{4}-\d\d-\d\dT.*"  # time of the run, at the end of its files' names
NO_MATCH = "[invalid]"  # what the harness's filters return where they find no answer
# The keys of a sample that are not metrics of its task.
SAMPLE_KEYS = {"doc_id", "doc"}  # by these a sample is recognised
COLUMNS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


def is_samples(rows: Sequence[Row]) -> bool:
    """Return whether rows are samples of lm-evaluation-harness."""
    return bool(rows) and rows[0].keys() >= SAMPLE_KEYS


def is_samples_file(path: Path) -> bool:
    """Return whether a file's name is that of a samples file."""
    return path.suffix.lower() == ".jsonl" and path.stem.startswith("samples_")


def to_rows(path: Path, samples: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Return a row per sample, with the columns of its document, and the names of the metrics."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for number, sample in enumerate(samples, 1):
        doc = sample.get("doc")
        if not isinstance(doc, dict) or "doc_id" not in sample:
            raise ValueError(f"{path}, sample {number}: has no doc or doc_id; use --log_samples.")
        scores = {
            name: float(value)
            for name, value in sample.items()
            if name not in COLUMNS and isinstance(value, int | float)
        }
        metrics |= dict.fromkeys(scores)
        try:
            prediction = _find_response(sample.get("filtered_resps", sample.get("resps")))
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{path}, sample {number}: has a response that is not understood ({error}).") from None
        prediction = None if prediction == NO_MATCH else prediction
        gold = sample.get("target")
        if isinstance(prediction, int):
            prediction, gold = _name_choices(prediction, gold, sample)
        row = {
            "id": doc.get("id", sample["doc_id"]),
            "prediction": prediction,
            "reference": gold,
            **({"filter": sample["filter"]} if "filter" in sample else {}),
        }
        rows.append({**doc, **row, **({"unparsed": True} if prediction is None else {}), **scores})
    return rows, tuple(metrics)


def find_model(path: Path) -> str | None:
    """Return the model of a samples file: from the results file beside it, else from the folder's name."""
    results_files = sorted(path.parent.glob("results_*.json"))
    stamp = re.search(STAMP, path.stem)
    same_run = [file for file in results_files if stamp and file.stem.endswith(stamp[0])]
    models = {model for file in same_run or results_files if (model := _read_model_name(file))}
    return models.pop() if len(models) == 1 else path.resolve().parent.name or None


def _read_model_name(results: Path) -> str | None:
    """Return the model named in a results file."""
    content = read_json(results)
    if not isinstance(content, dict):
        return None
    config = content.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, str):
        arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    model_args = arguments if isinstance(arguments, dict) else {}
    names = (content.get("model_name"), model_args.get("pretrained"), model_args.get("model"))
    return next((name for name in names if isinstance(name, str) and name), None)


def parse_task_name(path: Path) -> str | None:
    """Return the task in the name of a samples file.

    >>> from pathlib import Path
    >>> parse_task_name(Path("samples_afqmc_keyboard.2_2026-01-02T03-04-05.6.jsonl"))
    'afqmc_keyboard.2'
    """
    name = re.fullmatch(rf"samples_(.+?)(?:{STAMP})?", path.stem)
    return name[1] if name else None


def _name_choices(choice: int, target: Any, sample: Row) -> tuple[Any, Any]:
    """Return the chosen and the right choice in words; their numbers, where the words cannot be told.

    >>> offered = {"gen_args_0": {"arg_0": "Rain?", "arg_1": " no"}, "gen_args_1": {"arg_0": "Rain?", "arg_1": " yes"}}
    >>> _name_choices(1, "0", {"doc": {}, "arguments": offered})
    ('yes', 'no')
    """
    words = _find_choices(sample)
    gold_index = int(target) if str(target).isdecimal() else words.index(target) if target in words else len(words)
    return (words[choice], words[gold_index]) if max(choice, gold_index) < len(words) else (choice, target)


def _find_choices(sample: Row) -> list[str]:
    """Return the labels of our own exports, else what the model was offered; nothing where that is not told apart."""
    requests, doc = sample.get("arguments"), sample["doc"]
    calls = list(requests.values()) if isinstance(requests, dict) else []
    offered = [call.get("arg_1") for call in calls if isinstance(call, dict)]
    for words in (doc.get("labels") if "choices" in doc else None, offered):
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            stripped = [word.strip() for word in words]
            if len(set(stripped)) == len(calls):
                return stripped
    return []


def _find_response(responses: Any) -> Any:
    """Return the model's answer: a text, or the index of the choice with the highest log-likelihood."""
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list | str):
        responses = responses[0]
    if not isinstance(responses, list) or not responses:
        return responses
    if all(isinstance(choice, list) and choice for choice in responses):
        likelihoods = [float(choice[0][0] if isinstance(choice[0], list) else choice[0]) for choice in responses]
        return likelihoods.index(max(likelihoods))
    return responses[0]
