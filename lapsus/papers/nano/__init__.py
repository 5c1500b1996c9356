"""NANO (Sun et al., ACL 2023): a metric whose model first learns which language and dialect a sentence is in.

Two phases follow each other on any encoder-decoder (`first_token`): sentences with tags, then rated translations. What
is left out of the first phase is the metric without NANO. The tag given when a text is scored is that of the language
in general, or of the dialect that is asked for.

The sentences of the first phase have the tag of a language or a dialect, which is right half the time:

>>> taipei, lisbon = Sentence("印表机没有纸了。", "zh", "TW"), Sentence("O comboio chegou.", "pt", "PT")
>>> for example in make_tag_examples([taipei, lisbon], balance=1.0, seed=3):
...     print(example)
('candidate: 印表机没有纸了。 language: zh-TW', 1.0)
('candidate: O comboio chegou. language: zh-TW', 0.0)

Those of the second are rated translations in the form of WMT's direct assessments, a CSV file of lp, src, mt, ref and
raw: the pair of languages (`en-zh`), the source, the translation that was rated, a reference, and the rating from 0 to
100. Where a file has `score` in place of `raw` (z-scores by rater, as COMET's training files), these are taken as they
are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from lapsus.core.files import stage_file
from lapsus.core.messages import format_list
from lapsus.evaluation.text_metrics import format_tag
from lapsus.io.readers import read_rows
from lapsus.papers.nano.first_token import (
    DEFAULT_TRAINING,
    FirstTokenRegressor,
    Regressor,
    TrainingConfig,
    fit,
    read_notes,
)
from lapsus.papers.nano.inputs import INPUTS, TAGGED
from lapsus.perturbations.semantic.edits import Language, find_semantic_edit


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, its language, and the region whose dialect it is in, where that is known."""

    text: str
    language: str
    region: str = ""


def make_tag_examples(
    sentences: Sequence[Sentence], *, balance: float = 1.0, positive: float = 0.5, copies: int = 1, seed: int = 0
) -> list[tuple[str, float]]:
    """Return inputs for each sentence, and 1 where its tag is right, 0 where it is another's.

    Args:
        sentences: Of two languages at least, and of two dialects where `balance` is not 0.
        balance: Lambda: how many tags of dialects there are for one of a language. 0 takes no dialects. A sentence
            of unknown region only ever has tags of languages, so that its tags too are right half the time.
        positive: How often the tag is right.
        copies: How often each sentence comes, with a tag drawn anew. A model that reads few sentences again and again
            learns by heart which of them had a right tag; give as many times as it will read each.
        seed: Another seed draws other tags.
    """
    if balance < 0:
        raise ValueError(f"balance is {balance}: give 0 for tags of languages alone, 1 for as many of dialects")
    if not 0 <= positive <= 1:
        raise ValueError(f"positive is {positive}: give the share of right tags, from 0 to 1")
    if copies < 1:
        raise ValueError(f"copies is {copies}: give how often each sentence comes, 1 or more")
    languages = sorted({format_tag(each.language) for each in sentences})
    dialects = sorted({format_tag(each.language, each.region) for each in sentences if each.region})
    for kind, tags in (("language", languages), ("dialect", dialects if balance else ["", ""])):
        if len(tags) < 2:
            raise ValueError(f"the sentences have {len(tags)} {kind}: give two at least, so that a tag can be wrong")
    examples = []
    for number, each in enumerate([*sentences] * copies):
        draw = Random(f"nano/{seed}/{number}").random
        regional = draw() < balance / (1 + balance) and bool(each.region)
        own_tag, candidates = (
            (format_tag(each.language, each.region), dialects) if regional else (format_tag(each.language), languages)
        )
        other_tags = [other for other in candidates if other != own_tag]
        is_right, pick = draw() < positive, draw()
        input_tag = own_tag if is_right else other_tags[int(pick * len(other_tags))]
        examples.append((TAGGED.format(candidate=each.text, tag=input_tag), float(is_right)))
    return examples


COLUMNS = ("lp", "src", "mt", "ref", "raw")


@dataclass(frozen=True, slots=True)
class RatedTranslation:
    """A translation with its source, a reference, its language and a rating: from 0 to 1, or a z-score."""

    candidate: str
    reference: str
    source: str
    language: str
    rating: float


def read_ratings(path: Path) -> list[RatedTranslation]:
    """Read rated translations."""
    rows = read_rows(path)
    if not rows:
        raise ValueError(f"{path} has no rows; give rated translations")
    column = "raw" if "raw" in rows[0] else "score"
    missing = [name for name in ("lp", "src", "mt", "ref", column) if name not in rows[0]]
    if missing:
        raise LookupError(
            f"{path} has no column {missing[0]!r} (it has {format_list(rows[0])}); give {', '.join(COLUMNS)}"
        )
    return [_parse_rating(row, column, f"{path}, row {number}") for number, row in enumerate(rows, 1)]


def _parse_rating(row: dict[str, Any], column: str, where: str) -> RatedTranslation:
    _, dash, language = str(row["lp"]).partition("-")
    if not dash or not language:
        raise ValueError(f"{where} has the lp {row['lp']!r}; write both languages, as in en-zh")
    rating = row[column]
    if isinstance(rating, bool) or not isinstance(rating, int | float):
        raise TypeError(f"{where} has the {column} {rating!r}; give a number")
    if column == "raw" and not 0 <= rating <= 100:
        raise ValueError(f"{where} has the raw rating {rating}; give 0 to 100, or z-scores in a column score")
    candidate, reference, source = ("" if row[name] is None else str(row[name]) for name in ("mt", "ref", "src"))
    return RatedTranslation(candidate, reference, source, language, rating / 100 if column == "raw" else float(rating))


def write_ratings(path: Path, ratings: Iterable[RatedTranslation], source: str = "en") -> None:
    """Write ratings from 0 to 1 as WMT's from 0 to 100."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for each in ratings:
        raw = round(100 * each.rating, 4)
        lines.writerow([f"{source}-{each.language}", each.source, each.candidate, each.reference, raw])
    with stage_file(path) as file:
        file.write(text.getvalue().encode())


def make_examples(ratings: Sequence[RatedTranslation], input_format: str) -> list[tuple[str, float]]:
    """Return the input of each translation, with the tag of its language in general, and its rating."""
    return [
        (
            INPUTS[input_format].format(
                candidate=each.candidate, reference=each.reference, source=each.source, tag=format_tag(each.language)
            ),
            each.rating,
        )
        for each in ratings
    ]


R = TypeVar("R", bound=Regressor)

__all__ = [
    "INPUTS",
    "Nano",
    "RatedTranslation",
    "Sentence",
    "TrainingConfig",
    "finetune",
    "kendall_agreement",
    "pretrain",
]


@dataclass(frozen=True, slots=True)
class Nano:
    """A model that rates translations; its input format (within, qe, qe-ref) says what else it reads."""

    model: Regressor
    input_format: str = "within"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[str] | None,
        sources: Sequence[str] | None,
        tags: Sequence[str],
    ) -> list[float]:
        """Return a rating of each candidate, around 0 to 1."""
        blank = [""] * len(candidates)
        columns = zip(candidates, references or blank, sources or blank, tags, strict=True)
        return self.model.predict(
            [INPUTS[self.input_format].format(candidate=c, reference=r, source=s, tag=t) for c, r, s, t in columns]
        )

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the model to a folder."""
        if not isinstance(self.model, FirstTokenRegressor):
            raise TypeError(f"{type(self.model).__name__} has no file; train an encoder-decoder to keep it")
        self.model.save(folder, {"form": self.input_format})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Nano:
        """Read what `save` wrote."""
        form = str(read_notes(folder).get("form"))
        if form not in INPUTS:
            raise ValueError(f"{folder} holds no model that rates translations; give a folder that Nano.save wrote")
        return cls(FirstTokenRegressor.load(folder), form)


def pretrain(
    model: R,
    sentences: Sequence[Sentence],
    training: TrainingConfig = DEFAULT_TRAINING,
    *,
    balance: float = 1.0,
    positive: float = 0.5,
    copies: int = 1,
    seed: int = 0,
    **fit_options: Any,
) -> R:
    """Return a model that has learnt whether a tag is a sentence's own; options as in `make_tag_examples`."""
    inputs = make_tag_examples(sentences, balance=balance, positive=positive, copies=copies, seed=seed)
    return fit(model, inputs, training, seed=seed, **fit_options)


def finetune(
    model: Regressor,
    ratings: Sequence[RatedTranslation],
    training: TrainingConfig = DEFAULT_TRAINING,
    *,
    input_format: str = "within",
    dev: Sequence[RatedTranslation] = (),
    seed: int = 0,
    **fit_options: Any,
) -> Nano:
    """Return a metric that has learnt ratings; with `dev` the weights that agree best with it are kept."""
    if input_format not in INPUTS:
        raise ValueError(f"input_format is {input_format!r}: choose one of {', '.join(INPUTS)}")
    if dev:
        fit_options["dev"] = lambda candidate_model: kendall_agreement(Nano(candidate_model, input_format), dev)
    return Nano(fit(model, make_examples(ratings, input_format), training, seed=seed, **fit_options), input_format)


def kendall_agreement(metric: Nano, ratings: Sequence[RatedTranslation]) -> float:
    """Return Kendall's tau-b between a metric and ratings; a metric that always says the same has 0."""
    from scipy.stats import kendalltau

    predictions = metric.model.predict([text for text, _ in make_examples(ratings, metric.input_format)])
    tau = float(kendalltau(predictions, [each.rating for each in ratings]).statistic)
    return tau if tau == tau else 0.0  # noqa: PLR0124 - not a number


# Ratings made from translations in two dialects, where no people's ratings are at hand.
# They are no judgements of people. The order is certain (a copy, a free translation, one whose meaning was changed by
# one word, another sentence); the numbers are set by hand. A copy and a free translation are changed alike, so that how
# many words a candidate shares with its reference does not give away which was changed.


COPY, FREE, CHANGED_COPY, CHANGED_FREE, OTHER = 1.0, 0.9, 0.3, 0.2, 0.0


def construct_ratings(rows: Iterable[Mapping[str, Any]], language: Language, seed: int = 0) -> list[RatedTranslation]:
    """Return five ratings of each row with `source`, `base` and `dialect`, fewer where no certain edit was found.

    Each row gives one of its two texts as the reference, drawn by the seed; a row without `dialect` (English has one
    text) gives no free translation.
    """
    rows = list(rows)
    return [rated for number, row in enumerate(rows) for rated in _rate_row(rows, number, row, language, seed)]


def _rate_row(
    rows: list[Mapping[str, Any]], number: int, row: Mapping[str, Any], language: Language, seed: int
) -> Iterator[RatedTranslation]:
    rng = Random(f"constructed ratings/{seed}/{row['id']}")
    sides = [row["base"], row.get("dialect") or row["base"]]
    reference, free = sides if rng.random() < 0.5 else sides[::-1]
    other = rows[(number + 1 + int(rng.random() * (len(rows) - 1))) % len(rows)]["base"]
    candidates = [(reference, COPY), (other, OTHER)]
    if free != reference:
        candidates.append((free, FREE))
    for text, rating in ((reference, CHANGED_COPY), (free, CHANGED_FREE)):
        edited = find_semantic_edit(text, language, key=str(row["id"]), seed=seed)
        if edited is not None and (rating == CHANGED_COPY or free != reference):
            candidates.append((edited.text, rating))
    for candidate, rating in candidates:
        yield RatedTranslation(candidate, reference, row["source"], language, rating)
