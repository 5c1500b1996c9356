"""An EvaluationSuite of evaluate: a classifier on every track, by balanced accuracy, macro-F1 and accuracy.

With transformers 5 evaluate 0.4.6 runs classifiers that are given as a path or a model. It fails with a pipeline or a
function (it asks for a class of TensorFlow), and on passages, translations and texts, whose pipelines are gone.
"""

from __future__ import annotations

import json
from pathlib import Path

from lapsus.core.text import to_text
from lapsus.evaluation.tracks import TrackSet

SUITE = '''"""A classifier on every track, by evaluate; written by `lapsus tasks --export evaluate`.

    python suite.py PATH-OF-A-MODEL

The labels of the model are those of the task, by name. evaluate cuts texts that are too long for the model.
"""

import json
import sys
from pathlib import Path

import evaluate
from evaluate.evaluation_suite import SubTask

import lapsus.metrics

HERE = Path(__file__).parent
METRIC = Path(lapsus.metrics.__file__).parent / "classification"
TRACKS = {tracks}
ARGUMENTS = {arguments}


class Suite(evaluate.EvaluationSuite):
    """A task per track."""

    def __init__(self, name="{name}"):
        super().__init__(name)
        arguments = ARGUMENTS | {{"metric": evaluate.load(str(METRIC))}}
        self.suite = [
            SubTask(
                task_type="text-classification",
                data=str(HERE / "classified"),
                subset=track,
                split="test",
                args_for_task=arguments,
            )
            for track in TRACKS
        ]


if __name__ == "__main__":
    for track, result in zip(TRACKS, Suite().run(sys.argv[1])):
        scores = {{name: result[name] for name in ("balanced_accuracy", "macro_f1", "accuracy", "examples")}}
        print(json.dumps({{"track": track}} | scores))
'''


def write_evaluate_suite(data: TrackSet, folder: Path) -> None:
    """Write `suite.py`, and the texts of each track with the number of the right label."""
    task = data.task
    labels, inputs = list(task.answer_type.choices), task.inputs
    if not labels or len(inputs) > 2:
        raise TypeError(
            f"evaluate runs classifiers of one text or two, which {task.name} does not ask for; take --export lm-eval"
        )
    data_folder = folder / "classified"
    data_folder.mkdir()
    for track, rows in data.tracks.items():
        lines = (
            {"id": row["id"], **{name: to_text(row[name]) for name in inputs}, "label": labels.index(gold)}
            for row in rows
            for gold in [task.answer_type.score(None, row)["gold"]]
        )
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (data_folder / f"{track}.jsonl").write_text(text, encoding="utf-8")
    configs = [
        {"config_name": track, "data_files": [{"split": "test", "path": f"{track}.jsonl"}]} for track in data.tracks
    ]
    (data_folder / "README.md").write_text(f"---\n{json.dumps({'configs': configs})}\n---\n", encoding="utf-8")
    arguments = {
        "input_column": inputs[0],
        "label_column": "label",
        "label_mapping": {n: i for i, n in enumerate(labels)},
    }
    arguments |= {"second_input_column": inputs[1]} if len(inputs) == 2 else {}
    template_fields = {"tracks": repr(list(data.tracks)), "arguments": repr(arguments), "name": task.name}
    (folder / "suite.py").write_text(SUITE.format(**template_fields), encoding="utf-8")
