"""All examples of a report as JSON, one part per track: the texts with their edits, and the answers before and after.

The script of the page searches and filters them. A part is a dict:

- `track`; `of`, how many examples it has, which is more than `ids` where many are left out
- `ids`, `golds` and `texts`, one element per example; a text is a list of stretches, a string where nothing was edited
  and else [old, new]; there is one text per column that has a clean form
- `models`, each with its `name`, its distinct `pairs` [before, after, outcome], and `said`, each example's pair

An outcome is `lost`, `won`, `changed` or `kept`; `other` behind it says that the model saw another text than the shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from lapsus.results.coding import NONE, coded, label
from lapsus.results.measuring.broken_texts import LOST
from lapsus.results.measuring.marks import edits_between, parts
from lapsus.results.measuring.runs import Run, clean_of
from lapsus.results.measuring.texts import texts_of
from lapsus.results.track_columns import NO_ANSWER

if TYPE_CHECKING:
    from lapsus.kernel.columns import IntArray

MOST_SHOWN = 200_000  # examples on all tracks together; of more, those that the most models lost
MOST_INSIDE = 5_000_000  # bytes of a page that holds its examples itself
OUTCOMES = ("kept", "changed", "won", "lost")
NOT_ASKED = -1


class Part(NamedTuple):
    """The examples of one track, as JSON."""

    key: str
    dataset: str
    track: str
    family: str
    json: str

    @property
    def inside(self) -> str:
        """The JSON as the text of a script element, without what could end it."""
        return self.json.replace("<", "\\u003c").replace(">", "\\u003e")

    @property
    def beside(self) -> str:
        """The script that hands the examples to the page."""
        return f"lapsusExamples[{json.dumps(self.key)}]({self.json});\n"


def example_parts(runs: Sequence[Run]) -> Iterator[Part]:
    """Yield the examples of each track whose rows hold texts."""
    datasets = list(dict.fromkeys(run.track.dataset for run in runs))
    noisy = [run for run in runs if not run.is_clean and run.seen is not None]
    tracks = list(dict.fromkeys((run.track.dataset, run.track.track) for run in noisy))
    for number, (dataset, track) in enumerate(tracks):
        of_track = [run for run in noisy if (run.track.dataset, run.track.track) == (dataset, track)]
        clean = [run for run in runs if run.track.dataset == dataset and run.is_clean]
        part = _part(of_track, clean, MOST_SHOWN // len(tracks))
        if part["ids"]:
            text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
            yield Part(f"d{datasets.index(dataset)}-{number}", dataset, track, of_track[0].track.family, text)


def _part(runs: Sequence[Run], clean: Sequence[Run], most: int) -> dict[str, Any]:
    """Return the examples of one track, those that the most models lost first."""
    before = {run.track.model: clean_of(each for each in clean if each.track.model == run.track.model) for run in runs}
    seen = _first_known([run.seen for run in runs])
    lost = np.zeros(len(seen), np.int32)
    for run in runs:
        lost += _outcomes(run, before[run.track.model]) == OUTCOMES.index("lost")
    there = np.flatnonzero(seen != 0)
    chosen = there[np.argsort(-lost[there], kind="stable")][:most]
    first = runs[0]
    return {
        "track": first.track.track,
        "of": len(there),
        "ids": first.ids.take(chosen).to_pylist(),
        "golds": _golds([*runs, *clean], chosen),
        "texts": _texts(runs, clean, chosen),
        "models": [_model(run, before[run.track.model], seen, chosen) for run in runs],
    }


def _first_known(columns: Sequence[Any]) -> Any:
    """Return the first known hash of each example."""
    found = columns[0].copy()
    for column in columns[1:]:
        found = np.where(found == 0, column, found)
    return found


def _outcomes(run: Run, clean: Run | None) -> IntArray:
    """Return the number of each example's outcome in OUTCOMES."""
    found = np.zeros(len(run.present), np.int64)
    if clean is None:
        return found
    if run.predictions is not None and clean.predictions is not None:
        both = run.present & clean.present
        found[both & (run.predictions.codes != clean.predictions.codes)] = OUTCOMES.index("changed")
    with np.errstate(invalid="ignore"):  # NaN where one has no score
        rise = run.scores - clean.scores
        found[rise >= LOST] = OUTCOMES.index("won")
        found[rise <= -LOST] = OUTCOMES.index("lost")
    return found


def _golds(runs: Sequence[Run], chosen: IntArray) -> list[str | None]:
    """Return the right answer of each chosen example, from the first run that knows it."""
    found = np.full(len(chosen), None, object)
    missing = np.ones(len(chosen), bool)
    for run in runs:
        if run.golds is None:
            continue
        codes = run.golds.codes[chosen]
        mine = np.flatnonzero(missing & (codes != NONE))
        if not mine.size:
            continue
        if run.golds.few:
            found[mine] = [run.golds.words[code] for code in codes[mine].tolist()]
        else:
            found[mine] = [label(value) for value in run.columns(["gold"], chosen[mine])[0]]
        missing[mine] = False
    return cast("list[str | None]", found.tolist())


def _texts(runs: Sequence[Run], clean: Sequence[Run], chosen: IntArray) -> list[list[list[Any]]]:
    """Return the texts of each chosen example in stretches, from the first run that has them."""
    found: list[list[list[Any]]] = [[] for _ in chosen]
    done = np.zeros(len(chosen), bool)
    for run in runs:
        if run.seen is None:
            continue
        mine = np.flatnonzero(~done & (run.seen[chosen] != 0))
        if not mine.size:
            continue
        done[mine] = True
        examples = chosen[mine]
        noisy, meant, edits = run.columns(["text", "clean_text", "edits"], examples)
        bare = [number for number, text in enumerate(meant) if not texts_of(text)]
        if bare:
            for number, text in zip(bare, _clean_texts(clean, examples[bare]), strict=True):
                meant[number] = text
        for place, *told in zip(mine.tolist(), noisy, meant, edits, strict=True):
            found[place] = _marked(*told)
    return found


def _clean_texts(clean: Sequence[Run], examples: IntArray) -> list[Any]:
    run = next((run for run in clean if run.seen is not None), None)
    if run is None:
        return [None] * len(examples)
    there = run.present[examples]
    told = iter(run.columns(["text"], examples[there])[0])
    return [next(told) if known else None for known in there]


def _marked(noisy: Any, meant: Any, edits: Any) -> list[list[Any]]:
    """Return each text in stretches; without a clean form it is one stretch."""
    texts, clean = texts_of(noisy), texts_of(meant)
    if len(texts) != len(clean):
        return [[text] for text in texts]
    return [
        [new if old == new else [old, new] for old, new in parts(before, edits_between(before, after, edits))]
        for before, after in zip(clean, texts, strict=True)
    ]


def _model(run: Run, clean: Run | None, seen: Any, chosen: IntArray) -> dict[str, Any]:
    """Return the distinct pairs of answers of a model, and which of them each example has."""
    after, words = _said(run, chosen)
    before, clean_words = (np.full(len(chosen), -1), []) if clean is None else _said(clean, chosen)
    other = (run.seen[chosen] != seen[chosen]) if run.seen is not None else np.zeros(len(chosen), bool)
    sizes = (len(clean_words) + 1, len(words) + 1, len(OUTCOMES), 2)
    codes = np.ravel_multi_index((before + 1, after + 1, _outcomes(run, clean)[chosen], other.astype(np.int64)), sizes)
    distinct, numbers = np.unique(codes, return_inverse=True)
    pairs = [
        [
            clean_words[b - 1] if b else None,
            words[a - 1] if a else None,
            ("kept" if clean is None else OUTCOMES[outcome]) + (" other" if another else ""),
        ]
        for b, a, outcome, another in zip(*(each.tolist() for each in np.unravel_index(distinct, sizes)), strict=True)
    ]
    said = np.where(run.present[chosen], numbers, NOT_ASKED)
    return {"name": run.track.model, "pairs": pairs, "said": said.tolist()}


def _said(run: Run, chosen: IntArray) -> tuple[IntArray, Sequence[str]]:
    """Return the number of each chosen example's answer (-1: none) and the answers, or else the scores."""
    there = np.flatnonzero(run.present[chosen])
    found = np.full(len(chosen), -1)
    if run.predictions is None:
        scores, numbers = np.unique(run.scores[chosen[there]], return_inverse=True)
        found[there] = numbers
        return found, [f"score {score:.3g}" for score in scores.tolist()]
    if run.predictions.few:
        codes = run.predictions.codes[chosen[there]]
        distinct, numbers = np.unique(codes, return_inverse=True)
        found[there] = numbers
        return found, [run.predictions.words.get(int(code), NO_ANSWER) for code in distinct.tolist()]
    told = coded([NO_ANSWER if v is None else label(v) for v in run.columns(["prediction"], chosen[there])[0]])
    found[there] = told.codes
    return found, told.words
