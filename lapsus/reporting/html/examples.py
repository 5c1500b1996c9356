"""All examples of a report as JSON, one part per track: the texts with their edits, and the predictions of each model.

The script of the page searches and filters them. A part is a dict:

- `track`, and `n_examples`: its number of examples, more than `ids` where examples are left out
- `ids`, `golds` and `texts`, one element per example: a list of texts, one per noisy column; a text is a list of
  stretches, each a string where nothing was edited, or else [old, new]
- `messages`, and `transcripts`, where any example is a conversation: the distinct [role, text] that no noise touches,
  and of each example the places of its messages in them; -1 is the first of its `texts`, -2 the second
- `models`, each with its `name`, its distinct `pairs` [clean prediction, noisy prediction, outcome], and
  `pair_indices`: the pair of each example

An outcome is `lost`, `won`, `changed` or `unchanged`; ` refused` or ` cut` behind it says how the noisy prediction
ended, and ` other` that the model saw another text than the one shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from lapsus.core.conversations import holds_messages, parse_messages, transcribe
from lapsus.core.text import to_label
from lapsus.io.encoding import NO_VALUE, encode_column
from lapsus.reporting.analysis.changes import LOSS_THRESHOLD, align_edits, split_by_edits
from lapsus.reporting.score_table import (
    NO_ANSWER,
    TrackScores,
    find_clean_track,
    find_endings,
    find_noisy_columns,
    to_texts,
)

if TYPE_CHECKING:
    from lapsus.core.checks import IntArray

MAX_EXAMPLES = 200_000  # examples on all tracks together; those that the most models lost come first
MAX_INLINE_BYTES = 5_000_000  # bytes of a page that holds its examples itself
OUTCOMES = ("unchanged", "changed", "won", "lost")
ENDINGS = ("", "refused", "cut")
NOT_RUN = -1


class ExamplePart(NamedTuple):
    """The examples of one track, as JSON."""

    key: str
    dataset: str
    track: str
    family: str
    json: str

    @property
    def inline_json(self) -> str:
        """The JSON as the text of a script element, without what could end it."""
        return self.json.replace("<", "\\u003c").replace(">", "\\u003e")

    @property
    def script(self) -> str:
        """The script that gives the examples to the page."""
        return f"lapsusExamples[{json.dumps(self.key)}]({self.json});\n"


def iter_example_parts(runs: Sequence[TrackScores]) -> Iterator[ExamplePart]:
    """Yield the examples of each track whose rows hold texts."""
    datasets = list(dict.fromkeys(run.track.dataset for run in runs))
    noisy = [run for run in runs if not run.is_clean and run.text_hashes is not None]
    tracks = list(dict.fromkeys((run.track.dataset, run.track.track) for run in noisy))
    for number, (dataset, track) in enumerate(tracks):
        track_runs = [run for run in noisy if (run.track.dataset, run.track.track) == (dataset, track)]
        clean = [run for run in runs if run.track.dataset == dataset and run.is_clean]
        part = _build_part(track_runs, clean, MAX_EXAMPLES // len(tracks))
        if part["ids"]:
            text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
            yield ExamplePart(f"d{datasets.index(dataset)}-{number}", dataset, track, track_runs[0].track.family, text)


def _build_part(runs: Sequence[TrackScores], clean: Sequence[TrackScores], limit: int) -> dict[str, Any]:
    """Return the examples of one track, those that the most models lost first."""
    clean_runs = {
        run.track.model: find_clean_track(track for track in clean if track.track.model == run.track.model)
        for run in runs
    }
    text_hashes = _find_first_hashes([run.text_hashes for run in runs])
    losses = np.zeros(len(text_hashes), np.int32)
    for run in runs:
        losses += _compute_outcomes(run, clean_runs[run.track.model]) == OUTCOMES.index("lost")
    with_text = np.flatnonzero(text_hashes != 0)
    selection = with_text[np.argsort(-losses[with_text], kind="stable")][:limit]
    first = runs[0]
    texts = _find_texts(runs, clean, selection)
    return {
        "track": first.track.track,
        "n_examples": len(with_text),
        "ids": first.ids.take(selection).to_pylist(),
        "golds": _find_golds([*runs, *clean], selection),
        "texts": texts,
        **_find_transcripts([*runs, *clean], selection, [len(each) for each in texts]),
        "models": [_build_model(run, clean_runs[run.track.model], text_hashes, selection) for run in runs],
    }


def _find_first_hashes(columns: Sequence[Any]) -> Any:
    """Return the first known hash of each example."""
    hashes = columns[0].copy()
    for column in columns[1:]:
        hashes = np.where(hashes == 0, column, hashes)
    return hashes


def _compute_outcomes(run: TrackScores, clean: TrackScores | None) -> IntArray:
    """Return the number of each example's outcome in OUTCOMES."""
    outcomes = np.zeros(len(run.present), np.int64)
    if clean is None:
        return outcomes
    if run.predictions is not None and clean.predictions is not None:
        in_both = run.present & clean.present
        outcomes[in_both & (run.predictions.codes != clean.predictions.codes)] = OUTCOMES.index("changed")
    with np.errstate(invalid="ignore"):  # NaN where one has no score
        rise = run.scores - clean.scores
        outcomes[rise >= LOSS_THRESHOLD] = OUTCOMES.index("won")
        outcomes[rise <= -LOSS_THRESHOLD] = OUTCOMES.index("lost")
    return outcomes


def _find_golds(runs: Sequence[TrackScores], selection: IntArray) -> list[str | None]:
    """Return the gold answer of each selected example, from the first run that has it."""
    golds = np.full(len(selection), None, object)
    missing = np.ones(len(selection), bool)
    for run in runs:
        if run.golds is None:
            continue
        codes = run.golds.codes[selection]
        indices = np.flatnonzero(missing & (codes != NO_VALUE))
        if not indices.size:
            continue
        if run.golds.all_known:
            golds[indices] = [run.golds.words[code] for code in codes[indices].tolist()]
        else:
            golds[indices] = [to_label(value) for value in run.select_columns(["gold"], selection[indices])[0]]
        missing[indices] = False
    return cast("list[str | None]", golds.tolist())


def _find_texts(
    runs: Sequence[TrackScores], clean: Sequence[TrackScores], selection: IntArray
) -> list[list[list[Any]]]:
    """Return the texts of each selected example in stretches, from the first run that has them."""
    stretches: list[list[list[Any]]] = [[] for _ in selection]
    done = np.zeros(len(selection), bool)
    for run in runs:
        if run.text_hashes is None:
            continue
        indices = np.flatnonzero(~done & (run.text_hashes[selection] != 0))
        if not indices.size:
            continue
        done[indices] = True
        examples = selection[indices]
        noisy, clean_texts, edits = run.select_columns(["text", "clean_text", "edits"], examples)
        without_clean = [number for number, text in enumerate(clean_texts) if not to_texts(text)]
        if without_clean:
            for number, text in zip(without_clean, _find_clean_texts(clean, examples[without_clean]), strict=True):
                clean_texts[number] = text
        for place, *row_values in zip(indices.tolist(), noisy, clean_texts, edits, strict=True):
            stretches[place] = _mark_edits(*row_values)
    return stretches


def _find_clean_texts(clean: Sequence[TrackScores], examples: IntArray) -> list[Any]:
    run = next((run for run in clean if run.text_hashes is not None), None)
    if run is None:
        return [None] * len(examples)
    present = run.present[examples]
    texts = iter(run.select_columns(["text"], examples[present])[0])
    return [next(texts) if known else None for known in present]


def _find_transcripts(runs: Sequence[TrackScores], selection: IntArray, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the messages around the texts of each selected example; nothing where no example is a conversation."""
    transcripts: list[list[int] | None] = [None] * len(selection)
    places: dict[tuple[str, str], int] = {}
    for run in runs:
        names = [name for name in ("messages", *find_noisy_columns(run.names)) if name in run.names]
        missing = [place for place in np.flatnonzero(run.present[selection]).tolist() if transcripts[place] is None]
        columns = run.select_columns(names[:1], selection[missing]) if names and missing else []
        for place, value in zip(missing, *columns, strict=True) if columns else ():
            if holds_messages(value):
                transcripts[place] = _number_messages(value, sizes[place], places)
    return {"messages": list(places), "transcripts": transcripts} if places else {}


def _number_messages(value: Any, size: int, places: dict[tuple[str, str], int]) -> list[int] | None:
    """Return the places of the messages of a conversation; None where it has another number of the user's texts."""
    messages = transcribe(parse_messages(value))
    if sum(len(message.texts) for message in messages if message.is_turn) != size:
        return None
    turns = iter(range(-1, -1 - size, -1))
    return [
        next(turns) if message.is_turn else places.setdefault((message.role, text), len(places))
        for message in messages
        for text in message.texts
    ]


def _mark_edits(noisy: Any, clean_text: Any, edits: Any) -> list[list[Any]]:
    """Return each text in stretches; without a clean form it is one stretch."""
    texts, clean = to_texts(noisy), to_texts(clean_text)
    if len(texts) != len(clean):
        return [[text] for text in texts]
    return [
        [new if old == new else [old, new] for old, new in split_by_edits(before, align_edits(before, after, edits))]
        for before, after in zip(clean, texts, strict=True)
    ]


def _build_model(run: TrackScores, clean: TrackScores | None, text_hashes: Any, selection: IntArray) -> dict[str, Any]:
    """Return the distinct pairs of predictions of a model, and which of them each example has."""
    after, words = _find_predictions(run, selection)
    before, clean_words = (np.full(len(selection), -1), []) if clean is None else _find_predictions(clean, selection)
    is_other_text = (
        (run.text_hashes[selection] != text_hashes[selection])
        if run.text_hashes is not None
        else np.zeros(len(selection), bool)
    )
    sizes = (len(clean_words) + 1, len(words) + 1, len(OUTCOMES), len(ENDINGS), 2)
    endings = sum(find_endings(run, ending)[selection] * number for number, ending in enumerate(ENDINGS) if number)
    codes = np.ravel_multi_index(
        (before + 1, after + 1, _compute_outcomes(run, clean)[selection], endings, is_other_text.astype(np.int64)),
        sizes,
    )
    distinct, numbers = np.unique(codes, return_inverse=True)
    pairs = [
        [
            clean_words[b - 1] if b else None,
            words[a - 1] if a else None,
            " ".join(
                filter(
                    None,
                    ("unchanged" if clean is None else OUTCOMES[outcome], ENDINGS[ending], "other" * is_other),
                )
            ),
        ]
        for b, a, outcome, ending, is_other in zip(
            *(column.tolist() for column in np.unravel_index(distinct, sizes)), strict=True
        )
    ]
    pair_indices = np.where(run.present[selection], numbers, NOT_RUN)
    return {"name": run.track.model, "pairs": pairs, "pair_indices": pair_indices.tolist()}


def _find_predictions(run: TrackScores, selection: IntArray) -> tuple[IntArray, Sequence[str]]:
    """Return the index of each selected example's prediction (-1: none), and the predictions, or else the scores."""
    present = np.flatnonzero(run.present[selection])
    indices = np.full(len(selection), -1)
    if run.predictions is None:
        examples = selection[present]
        scores, numbers = np.unique(np.where(run.unparsed[examples], -1.0, run.scores[examples]), return_inverse=True)
        indices[present] = numbers
        return indices, [NO_ANSWER if score < 0 else f"score {score:.3g}" for score in scores.tolist()]
    if run.predictions.all_known:
        codes = run.predictions.codes[selection[present]]
        distinct, numbers = np.unique(codes, return_inverse=True)
        indices[present] = numbers
        return indices, [run.predictions.words.get(int(code), NO_ANSWER) for code in distinct.tolist()]
    encoded = encode_column(
        [NO_ANSWER if v is None else to_label(v) for v in run.select_columns(["prediction"], selection[present])[0]]
    )
    indices[present] = encoded.codes
    return indices, encoded.words
