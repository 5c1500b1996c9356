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
from typing import TYPE_CHECKING, Any, ClassVar

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import Benchmark, text_in
from lapsus.dataset_scripts.simulated import noisy_columns, noisy_rows, operators_own
from lapsus.dataset_scripts.source import MissingFileError
from lapsus.kernel.extras import needed
from lapsus.perturbations import Noise, Operator
from lapsus.perturbations.en.nature import NATURE
from lapsus.perturbations.en.nature import UNITS as RANDOM
from lapsus.perturbations.en.nlpaug import augmentation, train_tfidf
from lapsus.perturbations.noise import signature
from lapsus.perturbations.selection import candidates, hardest, judged_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lapsus.dataset_scripts.source import Source

Row = dict[str, Any]

TEXT = Value("string")
ALTERING = {operator.name: operator for operator in (*NATURE, *RANDOM)}
FILES = {"train": "train", "validation": "dev", "test": "test"}


def official(train: int, validation: int, test: int) -> dict[str, dict[str, int]]:
    """Return the rows of all configs: original, each operator and mixture, the hardest of all, twice the training."""
    altered = {name: {"test": test} for name in (*ALTERING, "hard")}
    augmented = {"train": 2 * train, "validation": 2 * validation}
    return {"original": {"train": train, "validation": validation, "test": test}, **altered, "augmented": augmented}


class Nature(Benchmark):
    """An SLU benchmark: utterances with one tag per token (IOB2) and an intent."""

    LANGUAGES = ("en",)
    TASKS = ("token-classification", "text-classification")
    TASK_IDS = ("intent-classification",)
    EXTRAS = "lapsus[en,models,augment]"
    VERSION = Version("1.2.0")  # fillers beside the verb by a better tagger
    TAGS = ("nature", "spoken-language-understanding", "slot-filling")

    def columns(self, config: str) -> Features:
        """Return the features of a config; labels are those of all splits of the source, in alphabetical order."""
        tag: Any = TEXT
        intent: Any = TEXT
        if self.source:  # without a source the labels are not known
            tags, intents = labels(self.utterances, self.source)
            if config != "original":  # one word of a slot may become several: a new I- tag is appended at the end
                tags += tuple(f"I-{name[2:]}" for name in tags if name[0] == "B" and f"I-{name[2:]}" not in tags)
            tag, intent = ClassLabel(names=list(tags)), ClassLabel(names=list(intents))
        clean = Features({"id": TEXT, "tokens": List(TEXT), "tags": List(tag), "intent": intent})
        return clean if config == "original" else noisy_columns(noise_of(NATURE[0]), clean)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, in the configs of operators altered by them."""
        clean = self.utterances(source, split)
        match config:
            case "original":
                return clean
            case "hard":
                learnt = (list(self.utterances(source, part)) for part in ("train", "validation"))
                return hard(list(clean), *learnt)
            case "augmented":
                return augmented(list(clean), self.utterances(source, "train"))
        return noisy_rows(noise_of(ALTERING[config]), clean, self.engine)

    @classmethod
    def utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split with id, tokens, tags and intent."""
        raise NotImplementedError


def noise_of(operator: Operator) -> Noise:
    """Return the noise of an operator's config."""
    return Noise(operator, column="tokens", tags="tags", key="id")


def hard(rows: list[Row], train: list[Row], validation: list[Row]) -> Iterator[Row]:
    """Yield for each utterance the candidate with the highest loss of a model trained on the original split."""
    torch = needed("torch", "models")
    from lapsus.models import slu_model

    with operators_own("the choice of the hardest"):
        model = slu_model.train(train, validation)
        chosen = hardest(candidates(rows, NATURE), judged_by(model))
    for row, one in zip(rows, chosen, strict=True):
        yield row | {
            "tokens": one.tokens,
            "tags": one.tags,
            "clean_tokens": row["tokens"],
            "clean_tags": row["tags"],
            "edits": {"tokens": [edit._asdict() for edit in one.edits]},
            "operator": f"hard: {signature(ALTERING[one.operator], 0)} selector=slu_model torch={torch.__version__}",
        }


def augmented(rows: list[Row], train: Iterable[Row]) -> Iterator[Row]:
    """Yield the utterances as they are, and then as one of nlpaug's augmenters alters each.

    Of the paper's six the contextual one is missing: it needs a checkpoint of BERT.
    """
    for row in rows:
        twins = {"clean_tokens": row["tokens"], "clean_tags": row["tags"]}
        yield row | twins | {"edits": {"tokens": []}, "operator": "none"}
    with TemporaryDirectory() as words:
        train_tfidf((" ".join(row["tokens"]) for row in train), Path(words))
        for row in noisy_rows(noise_of(augmentation(words)), rows):
            yield row | {"id": f"{row['id']}-augmented", "operator": row["operator"].replace(words, "train")}


@lru_cache(maxsize=8)  # each config of a benchmark is a separate builder
def labels(
    utterances: Callable[[Source, str], Iterator[Row]], source: Source
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags of all splits that are there, `O` first, and the intents."""
    tags: set[str] = set()
    intents: set[str] = set()
    for split in FILES:
        with suppress(MissingFileError):
            for row in utterances(source, split):
                tags.update(row["tags"])
                intents.add(row["intent"])
    return ("O", *sorted(tags - {"O"})), tuple(sorted(intents))


class TaggedLines(Nature):
    """A benchmark in lines of `token tag`."""

    WORDS: ClassVar[tuple[str, ...]]

    @classmethod
    def utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, known by their number."""
        name = source.within(*cls.WORDS).find(f"{FILES[split]}.txt", f"{FILES[split]}.tsv")
        tokens: list[str] = []
        tags: list[str] = []
        number, intent = 0, ""
        for line_number, line in enumerate(chain(source.lines(name), [""]), start=1):
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
    ROWS = official(train=4_478, validation=500, test=893)
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
    ROWS = official(train=13_084, validation=700, test=700)
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
    ROWS = official(train=20_628, validation=2_544, test=2_544)

    @classmethod
    def utterances(cls, source: Source, split: str) -> Iterator[Row]:
        """Yield the utterances of a split, in the order of the source."""
        rows = everything(source)
        shuffled = sorted(range(len(rows)), key=lambda place: hashlib.sha256(rows[place]["id"].encode()).digest())
        share = round(len(rows) * 2_544 / 25_716)
        chosen = {"test": shuffled[:share], "validation": shuffled[share : 2 * share], "train": shuffled[2 * share :]}
        for place in sorted(chosen[split]):
            yield rows[place]


def everything(source: Source) -> tuple[Row, ...]:
    """Return all utterances of NLU-ED: of the CSV (separated by `;`), or of the test folds, each once."""
    rows, used = _read_once(source)
    source.used.update(used)  # on a cache hit, an equal source read the files
    return rows


@lru_cache(maxsize=2)  # each config of a benchmark is a separate builder
def _read_once(source: Source) -> tuple[tuple[Row, ...], dict[str, str]]:
    return tuple(nlued_rows(source)), dict(source.used)


def nlued_rows(source: Source) -> Iterator[Row]:
    """Yield all utterances of NLU-ED."""
    official = source.match("*Annotated-All.csv")
    keys = ("answerid", "scenario", "intent", "answer_annotation")
    seen: dict[str, int] = {}
    folds: set[tuple[str, ...]] = set()
    name = official[0] if official else source.find("*.jsonl")
    for number, row in enumerate((source.table if official else source.json_lines)(name, *keys), start=1):
        fields = tuple(str(row[key]) for key in keys)
        if not official:  # folds may overlap, so equal rows are taken once; rows of the CSV are all kept
            if fields in folds:
                continue
            folds.add(fields)
        where = f"{name} row {number}"
        key = f"{row['scenario']}_{row['intent']}-{row['answerid']}"
        seen[key] = seen.get(key, 0) + 1
        tokens, tags = marked(text_in(row, "answer_annotation", where, empty=True), where)
        yield {
            "id": key if seen[key] == 1 else f"{key}-{seen[key]}",
            "tokens": tokens,
            "tags": tags,
            "intent": f"{row['scenario']}_{row['intent']}",
        }


MARK = re.compile(r"\[\s*([^\[\]:]+?)\s*:\s*([^\[\]]*?)\s*\]")


def marked(text: str, where: str) -> tuple[list[str], list[str]]:
    """Return the tokens and tags of an answer with its slots in brackets.

    >>> marked("wake me [date : next friday]", "here")
    (['wake', 'me', 'next', 'friday'], ['O', 'O', 'B-date', 'I-date'])
    """
    tokens: list[str] = []
    tags: list[str] = []
    place = 0
    for slot in [*MARK.finditer(text), None]:
        plain = text[place : slot.start() if slot else len(text)]
        if "[" in plain or "]" in plain:
            raise ValueError(f"{where} has a bracket that marks no slot: {text!r}; mend it")
        for words, tag in ((plain.split(), None), (slot[2].split() if slot else [], slot[1] if slot else None)):
            tokens += words
            tags += ["O" if tag is None else f"{'I' if number else 'B'}-{tag}" for number in range(len(words))]
        place = slot.end() if slot else place
    return tokens, tags


UNITS = (NatureAtis, NatureSnips, NatureNlued)
