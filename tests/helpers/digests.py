"""What is published under a name and a version stays as it is: digests of noise, sample data and cards.

`python tests/helpers/digests.py` writes the digests that are missing from `frozen.json`. It never changes one that is there:
other bytes need another version. The digests of earlier versions stay in the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
from paths import TESTS

from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.sample import Sample
from lapsus.hub.build import build_dataset
from lapsus.hub.dataset_card import render_prose
from lapsus.perturbations import OPERATORS, EnKeyboard, EnSpeech, Operator, ZhKeyboard, ZhSpeech, perturb_batch
from lapsus.perturbations.en.nature import NATURE
from lapsus.perturbations.zh.speech.dictation import RECOGNISED

HERE = TESTS
FILE = HERE / "frozen.json"
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
    for op in NATURE:  # as the datasets hold them
        yield f"{op.name}@{op.version}", op
    for number in (1, 2, 3):
        typist, dictating = ZhKeyboard.annotator(number), ZhSpeech.annotator(number)
        yield f"zh_keyboard.{number}@{typist.version}", typist
        yield f"zh_keyboard.{number}.without@{typist.version}", replace(typist, memory=False)
        yield f"zh_speech.{number}@{dictating.version}", dictating
        for corrects in (True, False):
            person = EnKeyboard.annotator(number, corrects=corrects)
            yield f"en_keyboard.{number}{'' if corrects else '.stays'}@{person.version}", person
        spoken = EnSpeech.annotator(number)
        yield f"en_speech.{number}@{spoken.version}", spoken
    for number in range(1, 11):
        speaker = ZhSpeech.speaker(number)
        yield f"zh_speech.speaker.{number}@{speaker.version}", speaker
    for voice in map(ZhSpeech, RECOGNISED):
        yield f"zh_speech.{voice.who}@{voice.version}", voice


def sha(content: object) -> str:
    """Return a digest of anything that JSON can write."""
    return hashlib.sha256(json.dumps(content).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digest_of_noise(op: Operator) -> str:
    """Return a digest of the edits that an operator makes of the frozen texts."""
    texts = frozen_texts()
    keys = [f"row-{number}" for number in range(len(texts))]
    return sha([perturb_batch(op, texts, seed=seed, keys=keys) for seed in SEEDS])


def digests_of_sample(folder: Path) -> dict[str, str]:
    """Return digests of the sample as it is built in `folder`: of the rows of each file, and of the card's prose.

    The bytes of a Parquet file, and so the sizes in the card's header, are those of the installed pyarrow.
    """
    made = {}
    for file in sorted(folder.rglob("*.parquet")):
        config, split = file.parent.name, file.name.partition("-")[0]
        table = pq.read_table(file)
        made[f"sample/{config}/{split}@{Sample.VERSION}"] = sha([table.column_names, table.to_pylist()])
    prose = (folder / "README.md").read_text(encoding="utf-8").partition("\n---\n")[2]
    return made | {f"sample/README.md@{Sample.VERSION}": sha(prose)}


def cards() -> dict[str, str]:
    """Return a digest of the prose of each dataset's card, without what a build measures."""
    return {f"card/{name}@{each.VERSION}": sha(render_prose(each)) for name, each in benchmarks().items()}


def built_sample() -> dict[str, str]:
    """Build the sample and return its digests."""
    with tempfile.TemporaryDirectory() as folder:
        build_dataset(Sample, Path(folder) / "sample")
        return digests_of_sample(Path(folder) / "sample")


def frozen() -> dict[str, str]:
    """Return the digests that are committed."""
    known: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return known


def fault(name: str, digest: str, known: Mapping[str, str]) -> str | None:
    """Say what is wrong where `name` has another digest than the committed one, or has none."""
    if name not in known:
        return f"{name} has no digest; add it with: python tests/helpers/digests.py"
    if digest != known[name]:
        unit, _, version = name.rpartition("@")
        return (
            f"{unit} makes other bytes than were published as version {version}; "
            "raise its version, say so in CHANGELOG.md, and add the digest with: python tests/helpers/digests.py"
        )
    return None


def main() -> int:
    """Add what is missing; refuse what has changed under the same version."""
    known = frozen()
    digests = {name: digest_of_noise(op) for name, op in operators()} | built_sample() | cards()
    changed = [said for name, digest in digests.items() if name in known and (said := fault(name, digest, known))]
    if not changed:
        FILE.write_text(json.dumps(dict(sorted((digests | known).items())), indent=1) + "\n", encoding="utf-8")
    sys.stderr.write("".join(f"{said}\n" for said in changed))
    return len(changed) > 0


if __name__ == "__main__":
    sys.exit(main())
