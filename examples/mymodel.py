"""A small model to start from, which learns the sample's commands in a second; put your own in its place."""

import json
from importlib.resources import files

from lapsus.cli.demo_models import CommandModel

COMMANDS = files("lapsus.dataset_scripts") / "sample_data" / "slu.jsonl"


def answer(rows):
    """Return an answer to each row; rows are dictionaries without the right answer."""
    known = [json.loads(line) for line in COMMANDS.read_text(encoding="utf-8").splitlines()]
    model = CommandModel.train([row for row in known if row["split"] != "test"], epochs=0)
    return [guess["intent"] for guess in model.predict([row["tokens"] for row in rows])]
