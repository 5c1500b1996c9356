"""Noise while a model trains: other noise in every epoch, drawn when a batch is read.

>>> from datasets import Dataset
>>> from lapsus.perturbations import OPERATORS, Noise
>>> rows = Dataset.from_list([{"id": "u1", "text": "slow down", "label": 3}])
>>> transform = Noise(OPERATORS["filler_eos"], text="text", id="id").transform()
>>> noisy = rows.with_transform(transform)
>>> noisy[0]
{'id': 'u1', 'text': 'slow down pretty please', 'label': 3, 'clean_text': 'slow down'}
>>> transform.set_epoch(1)
>>> noisy[0]["text"]
'slow down right away'
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from lapsus.perturbations.noise import Noise, Row, check_whole_number


class NoiseTransform:
    """A noise with a number that says which epoch it is; what `Noise.transform` returns.

    A noisy text is a function of (seed, epoch, key) alone, so it is the same for any number of workers, in any order,
    and after a resume in the middle of an epoch. Epoch 0 has the noise of `Noise.map`.
    """

    def __init__(self, noise: Noise, epoch: int = 0, *, edits: bool = False) -> None:
        self.noise, self.edits = noise, edits
        self._shared_epoch = _share(_check_epoch(epoch))

    def __repr__(self) -> str:
        return f"NoiseTransform({self.noise!r}, epoch={self.epoch}, edits={self.edits})"

    def __deepcopy__(self, memo: Any) -> NoiseTransform:
        """Return itself: a dataset copies its transform for each selection, and all of them are in one epoch."""
        return self

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return int(self._shared_epoch[0])

    def set_epoch(self, epoch: int) -> None:
        """Begin an epoch, before its first batch is read."""
        self._shared_epoch[0] = _check_epoch(epoch)

    def __call__(self, rows: Row) -> dict[str, Any]:
        """Return a row or a batch with noise: every column it had, and the clean twins."""
        noise = replace(self.noise, epoch=self.epoch)
        added = noise(rows)
        if not self.edits:
            records = {"edits", "operator", noise.reason_column} - {*rows}  # no DataLoader can collate lists of edits
            added = {name: values for name, values in added.items() if name not in records}
        return {**rows, **added}


def _check_epoch(epoch: Any) -> int:
    number = check_whole_number("epoch", epoch)
    if number < 0:
        raise ValueError(f"the epoch is {number}; give a number from 0")
    return number


def _share(number: int) -> Any:
    """Return a number that a DataLoader's workers see change, as `IterableDataset` does: in torch's shared memory."""
    if find_spec("torch") is None:
        return [number]
    import torch

    return torch.tensor([number]).share_memory_()  # type: ignore[no-untyped-call] # of torch
