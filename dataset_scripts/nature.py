"""NATURE: utterances to assistants with intents and slots, as they are and as people alter them.

ATIS and SNIPS are read in the layout that the paper's models train on: one `token tag` per line, the intent on the
last line of an utterance, a blank line between. NLU-ED is read from its official CSV, or from its
cross-validation folds.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.core.messages import format_unknown_name
from lapsus.core.plugins import add_plugin_units
from lapsus.dataset_scripts.benchmark import Benchmark, parse_text
from lapsus.dataset_scripts.simulated import mark_operator_errors, noisy_features, perturb_rows
from lapsus.dataset_scripts.source import MissingFileError
from lapsus.perturbations import Noise, Operator
from lapsus.perturbations.en.nature import NATURE
from lapsus.perturbations.en.nature import UNITS as RANDOM
from lapsus.perturbations.en.nlpaug import make_augmentation, train_tfidf
from lapsus.perturbations.noise import format_operator
from lapsus.perturbations.selection import make_candidates, make_selector, select_hardest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lapsus.dataset_scripts.source import Source
    from lapsus.perturbations.selection import SluReader

Row = dict[str, Any]

TEXT = Value("string")
ALTERING = {operator.name: operator for operator in (*NATURE, *RANDOM)}
FILES = {"train": "train", "validation": "dev", "test": "test"}
SELECTOR = "slu_model"  # whose errors choose the config `hard`


class SelectorTrainer(Protocol):
    """What trains the model that chooses the hardest candidates; packages add it by the entry point `lapsus.selectors`.

    Its name and version stand in the column `operator`.
    """

    name: str

    @property
    def version(self) -> str:
        """What computes the weights, such as torch=2.9.0."""
        ...

    def train(self, examples: Sequence[Mapping[str, Any]], dev: Sequence[Mapping[str, Any]]) -> SluReader:
        """Train on rows of `tokens`, `tags` and `intent`; `dev` chooses among the epochs."""
        ...


def count_expected_rows(train: int, validation: int, test: int) -> dict[str, dict[str, int]]:
    """Return the rows of all configs: original, each operator and mixture, the hardest of all, twice the training."""
    altered = {name: {"test": test} for name in (*ALTERING, "hard")}
    augmented = {"train": 2 * train, "validation": 2 * validation}
    return {"original": {"train": train, "validation": validation, "test": test}, **altered, "augmented": augmented}


class Nature(Benchmark):
    """An SLU benchmark: utterances with one tag per token (IOB2) and an intent."""

    LANGUAGES = ("en",)
    ARXIV: ClassVar[tuple[str, ...]] = ("2111.05196",)
    TASKS = ("token-classification", "text-classification")
    TASK_IDS = ("intent-classification",)
    EXTRAS = "lapsus[en,papers,augment]"
    VERSION = Version("1.2.0")  # fillers beside the verb by a better tagger
    TAGS = ("nature", "spoken-language-understanding", "slot-filling")

    def columns(self, config: str) -> Features:
        """Return the features of a config; labels are those of all splits of the source, in alphabetical order."""
        tag: Any = TEXT
        intent: Any = TEXT
        if self.source:  # without a source the labels are not known
            tags, intents = collect_labels(self.iter_utterances, self.source)
            if config != "original":  # one word of a slot may become several: a new I- tag is appended at the end
                tags += tuple(f"I-{name[2:]}" for name in tags if name[0] == "B" and f"I-{name[2:]}" not in tags)
            tag, intent = ClassLabel(names=list(tags)), ClassLabel(names=list(intents))
        clean = Features({"id": TEXT, "tokens": List(TEXT), "tags": List(tag), "intent": intent})
        return clean if config == "original" else noisy_features(make_noise(NATURE[0]), clean)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, in the configs of operators altered by them."""
        clean = self.iter_utterances(source, split)
        match config:
            case "original":
                return clean
            case "hard":
                training_splits = (list(self.iter_utterances(source, part)) for part in ("train", "validation"))
                return iter_hard(list(clean), *training_splits)
            case "augmented":
                return iter_augmented(list(clean), self.iter_utterances(source, "train"))
        return perturb_rows(make_noise(ALTERING[config]), clean, self.executor)

    @classmethod
    def iter_utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split with id, tokens, tags and intent."""
        raise NotImplementedError


def make_noise(operator: Operator) -> Noise:
    """Return the noise of an operator's config."""
    return Noise(operator, text="tokens", tags="tags", id="id")


def find_selector_trainer(name: str = SELECTOR) -> SelectorTrainer:
    """Return the trainer that an installed package has under this name."""
    trainers: dict[str, SelectorTrainer] = add_plugin_units((), "lapsus.selectors", lambda trainer: trainer.name)
    if name not in trainers:
        raise LookupError(f"{format_unknown_name('selector', name, trainers)}; install lapsus again")
    return trainers[name]


def iter_hard(rows: list[Row], train: list[Row], validation: list[Row]) -> Iterator[Row]:
    """Yield for each utterance the candidate with the highest loss of a model trained on the original split."""
    trainer = find_selector_trainer()
    selector = f"{trainer.name} {trainer.version}"
    with mark_operator_errors("the choice of the hardest"):
        model = trainer.train(train, validation)
        selected = select_hardest(make_candidates(rows, NATURE), make_selector(model))
    for row, candidate in zip(rows, selected, strict=True):
        yield row | {
            "tokens": candidate.tokens,
            "tags": candidate.tags,
            "clean_tokens": row["tokens"],
            "clean_tags": row["tags"],
            "edits": {"tokens": [edit._asdict() for edit in candidate.edits]},
            "operator": f"hard: {format_operator(ALTERING[candidate.operator], 0)} selector={selector}",
        }


def iter_augmented(rows: list[Row], train: Iterable[Row]) -> Iterator[Row]:
    """Yield the utterances as they are, and then as one of nlpaug's augmenters alters each.

    Of the paper's six the contextual one is missing: it needs a checkpoint of BERT.
    """
    for row in rows:
        clean_columns = {"clean_tokens": row["tokens"], "clean_tags": row["tags"]}
        yield row | clean_columns | {"edits": {"tokens": []}, "operator": "none"}
    with TemporaryDirectory() as folder:
        train_tfidf((" ".join(row["tokens"]) for row in train), Path(folder))
        for row in perturb_rows(make_noise(make_augmentation(folder)), rows):
            yield row | {"id": f"{row['id']}-augmented", "operator": row["operator"].replace(folder, "train")}


@lru_cache(maxsize=8)  # each config of a benchmark is a separate builder
def collect_labels(
    iter_utterances: Callable[[Source, str], Iterator[Row]], source: Source
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags of all splits that are there, `O` first, and the intents."""
    tags: set[str] = set()
    intents: set[str] = set()
    for split in FILES:
        with suppress(MissingFileError):
            for row in iter_utterances(source, split):
                tags.update(row["tags"])
                intents.add(row["intent"])
    return ("O", *sorted(tags - {"O"})), tuple(sorted(intents))


class TaggedLines(Nature):
    """A benchmark in lines of `token tag`."""

    WORDS: ClassVar[tuple[str, ...]]

    @classmethod
    def iter_utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, known by their number."""
        name = source.filter_folders(*cls.WORDS).find_one(f"{FILES[split]}.txt", f"{FILES[split]}.tsv")
        tokens: list[str] = []
        tags: list[str] = []
        number, intent = 0, ""
        for line_number, line in enumerate(chain(source.read_lines(name), [""]), start=1):
            fields = line.split()
            if len(fields) == 2 and not intent:
                tokens.append(fields[0])
                if fields[1] != "O" and not fields[1].startswith(("B-", "I-")):
                    raise ValueError(f"{name} line {line_number} has the tag {fields[1]!r}, which is none of O, B-, I-")
                tags.append(fields[1])
            elif len(fields) == 1 and tokens and not intent:
                intent = fields[0]
            elif not fields and intent:
                yield {"id": str(number), "tokens": tokens, "tags": tags, "intent": intent}
                tokens, tags, intent = [], [], ""
                number += 1
            elif fields or tokens:
                raise ValueError(f"{name} line {line_number} is {line!r}, and no `token tag`, intent or end; mend it")


class NatureAtis(TaggedLines):
    """Questions about flights."""

    NAME = "nature-atis"
    TITLE = "NATURE ATIS"
    LICENSE = None
    WHERE = (
        "the LDC (LDC93S5, LDC94S19, LDC95S26) in the `token tag` layout of "
        "https://github.com/LeePleased/StackPropagation-SLU"
    )
    ROWS = count_expected_rows(train=4_478, validation=500, test=893)
    WORDS = ("atis",)


class NatureSnips(TaggedLines):
    """Commands to a voice assistant."""

    NAME = "nature-snips"
    TITLE = "NATURE SNIPS"
    LICENSE = "cc0-1.0"
    LICENSE_LINK = "https://github.com/sonos/nlu-benchmark"
    URL = tuple(
        f"https://raw.githubusercontent.com/LeePleased/StackPropagation-SLU/master/data/snips/{part}.txt"
        for part in FILES.values()
    )
    WHERE = "https://github.com/LeePleased/StackPropagation-SLU"
    ROWS = count_expected_rows(train=13_084, validation=700, test=700)
    WORDS = ("snips",)


class NatureNlued(Nature):
    """Requests to a home robot, with slots marked in the annotated answers.

    The split of the paper is not published. Here the utterances are put in the order of a hash of their ids, and the
    paper's shares are cut from it: the first 2,544 of 25,716 test, the next 2,544 validate, the rest trains.
    """

    NAME = "nature-nlued"
    TITLE = "NATURE NLU-ED"
    LICENSE = "cc-by-4.0"
    LICENSE_LINK = "https://github.com/xliuhw/NLU-Evaluation-Data"
    ANNOTATIONS = "crowdsourced"
    URL = (
        "https://raw.githubusercontent.com/xliuhw/NLU-Evaluation-Data/master/"
        "AnnotatedData/NLU-Data-Home-Domain-Annotated-All.csv"
    )
    WHERE = "https://github.com/xliuhw/NLU-Evaluation-Data"
    ROWS = count_expected_rows(train=20_628, validation=2_544, test=2_544)

    @classmethod
    def iter_utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, in the order of the source."""
        rows = load_utterances(source)
        shuffled = sorted(range(len(rows)), key=lambda index: hashlib.sha256(rows[index]["id"].encode()).digest())
        n_held_out = round(len(rows) * 2_544 / 25_716)
        indices = {
            "test": shuffled[:n_held_out],
            "validation": shuffled[n_held_out : 2 * n_held_out],
            "train": shuffled[2 * n_held_out :],
        }
        for index in sorted(indices[split]):
            yield rows[index]


def load_utterances(source: Source) -> tuple[Row, ...]:
    """Return all utterances of NLU-ED: of the CSV (separated by `;`), or of the test folds, each once."""
    rows, hashes = _read_once(source)
    source.hashes.update(hashes)  # on a cache hit, an equal source read the files
    return rows


@lru_cache(maxsize=2)  # each config of a benchmark is a separate builder
def _read_once(source: Source) -> tuple[tuple[Row, ...], dict[str, str]]:
    return tuple(iter_nlued_rows(source)), dict(source.hashes)


def iter_nlued_rows(source: Source) -> Iterator[Row]:
    """Yield all utterances of NLU-ED."""
    csv_names = source.match("*Annotated-All.csv")
    keys = ("answerid", "scenario", "intent", "answer_annotation")
    key_counts: dict[str, int] = {}
    seen_fields: set[tuple[str, ...]] = set()
    name = csv_names[0] if csv_names else source.find_one("*.jsonl")
    for number, row in enumerate((source.read_table if csv_names else source.read_json_lines)(name, *keys), start=1):
        fields = tuple(str(row[key]) for key in keys)
        if not csv_names:  # folds may overlap, so equal rows are taken once; rows of the CSV are all kept
            if fields in seen_fields:
                continue
            seen_fields.add(fields)
        where = f"{name} row {number}"
        key = f"{row['scenario']}_{row['intent']}-{row['answerid']}"
        key_counts[key] = key_counts.get(key, 0) + 1
        tokens, tags = parse_bracketed(parse_text(row, "answer_annotation", where, empty=True), where)
        yield {
            "id": key if key_counts[key] == 1 else f"{key}-{key_counts[key]}",
            "tokens": tokens,
            "tags": tags,
            "intent": f"{row['scenario']}_{row['intent']}",
        }


MARK = re.compile(r"\[\s*([^\[\]:]+?)\s*:\s*([^\[\]]*?)\s*\]")


def parse_bracketed(text: str, where: str) -> tuple[list[str], list[str]]:
    """Return the tokens and tags of an answer with its slots in brackets.

    >>> parse_bracketed("wake me [date : next friday]", "here")
    (['wake', 'me', 'next', 'friday'], ['O', 'O', 'B-date', 'I-date'])
    """
    tokens: list[str] = []
    tags: list[str] = []
    position = 0
    for slot in [*MARK.finditer(text), None]:
        plain = text[position : slot.start() if slot else len(text)]
        if "[" in plain or "]" in plain:
            raise ValueError(f"{where} has a bracket that marks no slot: {text!r}; mend it")
        for words, tag in ((plain.split(), None), (slot[2].split() if slot else [], slot[1] if slot else None)):
            tokens += words
            tags += ["O" if tag is None else f"{'I' if number else 'B'}-{tag}" for number in range(len(words))]
        position = slot.end() if slot else position
    return tokens, tags


UNITS = (NatureAtis, NatureSnips, NatureNlued)
