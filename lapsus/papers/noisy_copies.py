"""Training data doubled with one noisy copy of each row: READIN's counter-measure ADA, with any operator.

The paper's copies have homophones in them (`ZhHomophone`); `mix(["zh_keyboard:3"])` gives each row one of
three typists instead.

>>> from datasets import Dataset
>>> from lapsus.perturbations.core import Shout
>>> rows = Dataset.from_list([{"id": "a", "text": "slow down", "label": 1}])
>>> add_noisy_copies(rows, Shout(), text="text").to_list()
[{'id': 'a', 'text': 'slow down', 'label': 1}, {'id': 'a-noisy', 'text': 'slow down!', 'label': 1}]
"""

from __future__ import annotations

from typing import Any

from lapsus.perturbations import Noise, Operator


def add_noisy_copies(
    dataset: Any, operator: Operator, *, text: str | tuple[str, ...], id: str = "id", seed: int = 0
) -> Any:
    """Return a `datasets.Dataset` followed by a noisy copy of each of its rows, with the same columns and labels.

    Args:
        dataset: The training split.
        operator: The noise; it may leave some rows as they are, and their copies are then the rows again.
        text: The column to perturb, or several, as in pairs of sentences.
        id: The column with the row's id; a copy's id ends in `-noisy`.
        seed: Another seed, other noise.
    """
    from datasets import concatenate_datasets

    noise = Noise(operator, text=text, id=id, seed=seed)
    noisy = noise.map(dataset).select_columns(dataset.column_names)
    renamed = noisy.map(lambda row: {id: f"{row[id]}-noisy"}, features=dataset.features)
    return concatenate_datasets([dataset, renamed])
