"""A small model that learns the sample's commands in a second; replace it with your own."""

import json
from importlib.resources import files

from lapsus.cli.demo_models import CommandModel

COMMANDS = files("lapsus.dataset_scripts") / "sample_data" / "slu.jsonl"


def answer(rows):
    """Return a response to each row; rows are dictionaries without the gold answer."""
    commands = [json.loads(line) for line in COMMANDS.read_text(encoding="utf-8").splitlines()]
    model = CommandModel.train([row for row in commands if row["split"] != "test"], epochs=0)
    return [prediction["intent"] for prediction in model.predict([row["tokens"] for row in rows])]
