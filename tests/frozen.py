"""What is published under a name and a version stays as it is: digests of noise, sample data and cards.

`python tests/frozen.py` writes the digests that are missing from `frozen.json`. It never changes one that is there:
other bytes need another version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from lapsus.perturbations import OPERATORS, Operator, ZhKeyboard, ZhSpeech, perturb_batch

HERE = Path(__file__).parent
FILE = HERE / "frozen.json"
SAMPLE = HERE.parent / "dataset_scripts" / "sample_data"
WITH_A_MODEL = {"nlpaug_tfidf", "nlpaug_contextual"}  # what they do depends on the model they are given
OF_ANOTHER_LIBRARY = "nlpaug_"  # draws that another version of Python or nlpaug may make otherwise
SEEDS = (0, 1)


def frozen_texts() -> list[str]:
    """Return the texts that every operator is held to."""
    lines = (HERE / "frozen_texts.txt").read_text(encoding="utf-8").splitlines()
    return [*lines, "", "  ", "?!", "🎷🎶", "a\u0301b 7月 %"]


def operators() -> Iterator[tuple[str, Operator]]:
    """Yield every operator and every annotator under `name@version`."""
    for name, op in OPERATORS.items():
        if name not in WITH_A_MODEL and not name.startswith(OF_ANOTHER_LIBRARY):
            yield f"{name}@{op.version}", op
    for number in (1, 2, 3):
        typist, dictating = ZhKeyboard.annotator(number), ZhSpeech.annotator(number)
        yield f"zh_keyboard.{number}@{typist.version}", typist
        yield f"zh_speech.{number}@{dictating.version}", dictating
    for number in range(1, 11):
        speaker = ZhSpeech.speaker(number)
        yield f"zh_speech.speaker.{number}@{speaker.version}", speaker


def digest_of_noise(op: Operator) -> str:
    """Return a digest of the edits that an operator makes of the frozen texts."""
    texts = frozen_texts()
    keys = [f"row-{number}" for number in range(len(texts))]
    made = [perturb_batch(op, texts, seed=seed, keys=keys) for seed in SEEDS]
    return hashlib.sha256(json.dumps(made).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def main() -> int:
    """Add what is missing."""
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name, op in operators():
        known.setdefault(name, digest_of_noise(op))
    FILE.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
