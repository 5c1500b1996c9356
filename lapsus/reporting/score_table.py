"""The scores of tracks side by side: element i of every array belongs to the same example of the dataset.

>>> clean = Track("bert", "clean", [{"id": 7, "prediction": "b", "gold": "b"}, {"id": 8, "gold": "a"}])
>>> noisy = Track("bert", "keyboard.1", [{"id": 8, "prediction": "a", "gold": "a"}])
>>> [scores.scores for scores in align_tracks([clean, noisy])]
[array([1., 0.]), array([nan,  1.])]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapsus.core.checks import shorten_repr
from lapsus.core.track_names import CLEAN
from lapsus.core.types import Track
from lapsus.io.answers import accepts_empty
from lapsus.io.encoding import NO_VALUE, EncodedColumn, HashedColumn, encode_column, hash_column, hash_texts
from lapsus.io.join import extract_ids
from lapsus.io.labels import check_free_text
from lapsus.io.tables import Column, LazyRows, Table, take, to_list
from lapsus.metrics.answer_f1.score import score_passages
from lapsus.reporting.answers import AnswerRules, list_answer_notes, prepare_answers
from lapsus.stats.noise_rates import compute_edit_distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.io.encoding import Codes

    Mask = NDArray[np.bool_]


NO_ANSWER = "(no answer)"  # shown for a missing answer, which counts as wrong
MAX_GROUPS = 50
NOT_GROUPS = ("id", "edits", "messages", "scores", "score_reason")
FINISH_REASONS = {"refused": ("refusal", "content_filter"), "cut": ("length", "thinking", "max_tokens")}
PROBE = 200  # rows that tell whether a column may have few values
STEP = 100_000  # rows whose edits are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class TrackScores:
    """The scores of a track and what belongs to them, one element per example; `present` says which of them it has.

    `scores` is NaN where there is none; `unparsed` says that an answer or a score is missing, which scores 0.
    `text_hashes` and `clean_text_hashes` are hashes of the text that the model read and of its clean form; 0 where
    there is none. `groups` are the other columns of at most MAX_GROUPS values, `names` all columns. `originals` is what
    each row says that it was made from; `clusters` numbers that over all tracks of a dataset, and is None where every
    example is its own. `row_indices` is the row of each example in the track; None where the rows are the examples.
    """

    track: Track
    ids: Any = field(repr=False)  # pyarrow.StringArray
    scores: FloatArray = field(repr=False)
    unparsed: Mask = field(repr=False)
    predictions: HashedColumn | None = field(default=None, repr=False)
    golds: HashedColumn | None = field(default=None, repr=False)
    originals: HashedColumn | None = field(default=None, repr=False)
    noise: FloatArray | None = field(default=None, repr=False)
    text_hashes: Codes | None = field(default=None, repr=False)
    clean_text_hashes: Codes | None = field(default=None, repr=False)
    groups: Mapping[str, HashedColumn] = field(default_factory=dict, repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    scored_by_equality: bool = False  # whether a score says that the prediction is the gold answer
    notes: tuple[str, ...] = ()  # what a reader must know of how the rows were read and scored
    clusters: IntArray | None = field(default=None, repr=False)
    row_indices: IntArray | None = field(default=None, repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether the model read the clean text; `clean.2` is the same text answered a second time."""
        return self.track.family in CLEAN

    @property
    def scored(self) -> Mask:
        """Which examples have a score."""
        return ~np.isnan(self.scores)

    @property
    def present(self) -> Mask:
        """Which examples have a row."""
        return np.ones(len(self.scores), bool) if self.row_indices is None else self.row_indices >= 0

    @property
    def clustered(self) -> bool:
        """Whether several rows share an original."""
        if self.clusters is None:
            return False
        clusters = self.clusters[self.present]
        return len(np.unique(clusters)) < len(clusters)

    def has_nested_golds(self) -> bool:
        """Return whether gold answers are lists, or mappings as of questions with several answers."""
        return self.golds is not None and any(word.startswith(("[", '{"')) for word in self.golds.words.values())

    def list_ids(self) -> list[str]:
        """Return the ids of the examples that are present."""
        ids: list[str] = self.ids.filter(pa.array(self.present)).to_pylist()
        return ids

    def select_rows(self, examples: Sequence[int] | IntArray) -> list[Mapping[str, Any]]:
        """Return the rows of these examples, all of which are present."""
        numbers = self._to_row_indices(examples)
        if isinstance(self.track.rows, FileRows):
            return list(self.track.rows.load().take(numbers).to_rows())
        return [self.track.rows[number] for number in numbers.tolist()]

    def select_columns(self, names: Sequence[str], examples: Sequence[int] | IntArray) -> list[list[Any]]:
        """Return columns of the rows of these examples, all of which are present; None where rows lack one."""
        numbers = self._to_row_indices(examples)
        if isinstance(self.track.rows, FileRows):
            columns = self.track.rows.load().columns
            missing = [None] * len(numbers)
            return [to_list(take(columns[name], numbers)) if name in columns else missing for name in names]
        rows = [self.track.rows[number] for number in numbers.tolist()]
        return [[row.get(name) for row in rows] for name in names]

    def _to_row_indices(self, examples: Sequence[int] | IntArray) -> IntArray:
        indices = np.asarray(examples, np.int64)
        return indices if self.row_indices is None else self.row_indices[indices]


class FileRows(LazyRows):
    """The rows of a track in a file, read again when they are wanted, and their scores."""

    def __init__(self, load: Callable[[], Table], scores: TrackScores) -> None:
        super().__init__(load, len(scores.scores))
        self.scores = scores


def score_track(track: Track) -> TrackScores:
    """Return the scores of the rows of a track; an answer that is missing is wrong."""
    if isinstance(track.rows, FileRows):
        return replace(track.rows.scores, track=track)
    table = Table.from_rows(track.rows)
    prepared, notes = prepare_answers(table, format_track_name(track), AnswerRules())
    scores = score_rows(prepared, track, notes)
    rows = track.rows if prepared is table else FileRows(lambda: prepared, scores)
    return replace(scores, track=replace(track, rows=rows))


def format_track_name(track: Track) -> str:
    """Return the name of a track for an error."""
    return " / ".join(filter(None, (track.dataset, track.model, track.track)))


def score_rows(table: Table, track: Track, notes: tuple[str, ...] = ()) -> TrackScores:
    """Return the scores of rows that hold a score, or a prediction with its gold answer; `notes` are of their file."""
    columns, place = table.columns, format_track_name(track)
    ids = extract_ids(table, place)
    predicted = encode_column(columns["prediction"]) if "prediction" in columns else None
    gold = encode_column(columns["gold"]) if "gold" in columns else None
    known_scores = None
    if "score" in columns:
        known_scores = extract_scores(columns["score"], ids, place)
    elif predicted is None or gold is None:
        raise ValueError(f"{place}, id {ids[0].as_py()!r}: has neither a score nor a prediction with its gold answer.")
    passage_f1 = None if known_scores is not None else score_passages(columns["prediction"], columns["gold"])
    unparsed = is_unparsed(table, predicted, gold, known_scores)
    answers = predicted
    if predicted is not None and unparsed.any():
        predicted = EncodedColumn(
            np.where(unparsed, len(predicted.words), predicted.codes), [*predicted.words, NO_ANSWER]
        )
    predictions, golds = (None if each is None else hash_column(each) for each in (predicted, gold))
    if known_scores is not None:
        scores = known_scores
    else:
        missing = golds.codes == NO_VALUE  # type: ignore[union-attr] # it is there, else there is an error above
        if missing.any():
            key = ids[int(missing.argmax())].as_py()
            raise ValueError(f"{place}, id {key!r}: has neither a score nor a prediction with its gold answer.")
        if passage_f1 is None:
            check_free_text(predictions.codes[~unparsed], golds, place)  # type: ignore[union-attr,arg-type]
        is_correct = predictions.codes == golds.codes  # type: ignore[union-attr]
        scores = is_correct.astype(float) if passage_f1 is None else passage_f1
    scores = np.where(unparsed, 0.0, scores)
    by_equality = known_scores is None and passage_f1 is None
    if (wrong := (scores == 0) & ~unparsed).any():
        notes = (*notes, *list_answer_notes(answers, gold, wrong, by_equality=by_equality))
    noise, text_hashes, clean_text_hashes = _measure_texts(table, ids, place)
    return TrackScores(
        track,
        ids,
        scores,
        unparsed,
        predictions,
        golds,
        hash_column(encode_column(columns["cluster"])) if "cluster" in columns else None,
        noise,
        text_hashes,
        clean_text_hashes,
        _find_groups(table),
        tuple(columns),
        scored_by_equality=by_equality,
        notes=notes,
    )


def share_arrays(scores: TrackScores, pool: dict[Any, Any]) -> TrackScores:
    """Return the scores with the arrays that an earlier track has too taken from there: memory holds them once."""

    def share_array(array: Any) -> Any:
        key = None if array is None else (array.dtype.str, blake2b(np.ascontiguousarray(array).data).digest())
        return pool.setdefault(key, array)

    def share_column(column: HashedColumn | None) -> HashedColumn | None:
        return (
            None
            if column is None
            else HashedColumn(share_array(column.numbers), share_array(column.hashes), column.words)
        )

    known_ids = pool.setdefault("ids", [])
    ids = next((each for each in known_ids if each.equals(scores.ids)), None)
    if ids is None:
        known_ids.append(scores.ids)
    return replace(
        scores,
        ids=scores.ids if ids is None else ids,
        scores=share_array(scores.scores),
        unparsed=share_array(scores.unparsed),
        predictions=share_column(scores.predictions),
        golds=share_column(scores.golds),
        originals=share_column(scores.originals),
        noise=share_array(scores.noise),
        text_hashes=share_array(scores.text_hashes),
        clean_text_hashes=share_array(scores.clean_text_hashes),
        groups={name: shared for name, each in scores.groups.items() if (shared := share_column(each))},
    )


def is_unparsed(
    table: Table, predictions: EncodedColumn | None, gold: EncodedColumn | None, scores: FloatArray | None
) -> NDArray[np.bool_]:
    """Return which rows lack the answer that they should hold: None, a blank, or NaN, which pandas writes for None.

    A row that was scored has an answer, unless its column `unparsed` says otherwise; one that scored above 0 has one.
    Where other rows are scored, a row without a score has none, unless `score_reason` says why its scorer gave none.
    """
    unparsed = np.zeros(table.length, bool)
    if predictions is not None:
        golds = [*(gold.words if gold else ()), None]
        blank = np.array([not word.strip() for word in predictions.words] + [True])
        words = [*predictions.words, None]
        unparsed = (predictions.codes < 0) | blank[predictions.codes]
        for row in np.flatnonzero(unparsed & (predictions.codes >= 0)).tolist():  # an empty answer may be the right one
            right = None if gold is None else golds[gold.codes[row]]
            unparsed[row] = right is None or not (words[predictions.codes[row]] == right or accepts_empty(right))
        nan = np.array([word == "NaN" for word in predictions.words] + [False])
        if nan.any():
            column = to_list(table.columns["prediction"])
            for row in np.flatnonzero(nan[predictions.codes]).tolist():
                unparsed[row] |= isinstance(column[row], float) and isnan(column[row])
    if scores is not None:
        missing = np.isnan(scores)
        unparsed = unparsed & missing if missing.all() else missing & ~_has_reason(table)
    if "unparsed" in table.columns:
        flags = encode_column(table.columns["unparsed"])
        unparsed |= np.array([word.casefold() == "true" for word in flags.words] + [False])[flags.codes]
    return unparsed & ~(scores > 0) if scores is not None else unparsed


def _has_reason(table: Table) -> Mask:
    """Return which rows say why a scorer gave no score."""
    if "score_reason" not in table.columns:
        return np.zeros(table.length, bool)
    return np.array([bool(reason) for reason in to_list(table.columns["score_reason"])], bool)


def extract_scores(column: Column, ids: Any, place: str) -> FloatArray:
    """Return scores from 0 to 1, NaN for None."""
    if not isinstance(column, list):
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
            missing = np.asarray(column.is_null())
            numbers = np.asarray(column.cast(pa.float64()).fill_null(0.0))
            wrong = ~((numbers >= 0) & (numbers <= 1))  # NaN too
            if not wrong.any():
                return np.where(missing, np.nan, numbers)
        column = column.to_pylist()
    scores = np.full(len(column), np.nan)
    for row, score in enumerate(column):
        if score is None:
            continue
        if not isinstance(score, int | float | np.number) or not 0 <= score <= 1:  # also refuses NaN
            raise ValueError(f"{place}, id {ids[row].as_py()!r}: the score is {score!r}; give a number from 0 to 1.")
        scores[row] = score
    return scores


class Texts(NamedTuple):
    """The texts of all rows in one list, and how many each row has."""

    texts: list[str]
    sizes: IntArray


def _flatten_texts(column: Column, name: str, ids: Any, place: str) -> Texts:
    """Return the texts of a column that holds one, several or none in each row."""
    if not isinstance(column, list):
        if pa.types.is_string(column.type):
            return Texts(column.drop_null().to_pylist(), np.asarray(column.is_valid(), np.int64))
        is_text_list = pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type)
        if is_text_list and not (flat := pc.list_flatten(column)).null_count:
            sizes = pc.fill_null(pc.list_value_length(column), 0)
            return Texts(flat.to_pylist(), np.asarray(sizes, np.int64))
        column = column.to_pylist()
    rows = [(value,) if isinstance(value, str) else () if value is None else value for value in column]
    for row, texts in enumerate(rows):
        if not isinstance(texts, list | tuple | np.ndarray) or not all(isinstance(text, str) for text in texts):
            problem = f"{place}, id {ids[row].as_py()!r}: the column {name!r} has {shorten_repr(column[row])}"
            raise ValueError(f"{problem}; give a text, or a list of texts.")
    return Texts([text for row in rows for text in row], np.array([len(row) for row in rows], np.int64))


def _measure_texts(table: Table, ids: Any, place: str) -> tuple[FloatArray | None, Codes | None, Codes | None]:
    """Return the noise rate of each row (NaN where it is not known), and hashes of its texts, noisy and clean."""
    columns = table.columns
    noisy, clean = (
        _flatten_texts(columns[name], name, ids, place) if name in columns else None for name in ("text", "clean_text")
    )
    rates = np.full(table.length, np.nan)
    if noisy is not None and clean is not None:
        rates = _compute_noise_rates(noisy, clean)
    if "noise_rate" in columns:
        recorded = np.array([np.nan if rate is None else float(rate) for rate in to_list(columns["noise_rate"])])
        rates = np.where(np.isnan(recorded), rates, recorded)
    return None if np.isnan(rates).all() else rates, _hash_rows(noisy), _hash_rows(clean)


def _compute_noise_rates(noisy: Texts, clean: Texts) -> FloatArray:
    """Return the edits of all texts of each row, per character of its clean texts."""
    rates = np.full(len(clean.sizes), np.nan)
    both = (noisy.sizes == clean.sizes) & (clean.sizes > 0)
    if not both.any():
        return rates
    noisy_texts, clean_texts = (_select_texts(side, both) for side in (noisy, clean))
    edits = np.concatenate(
        [
            compute_edit_distances(noisy_texts[at : at + STEP], clean_texts[at : at + STEP])
            for at in range(0, len(clean_texts), STEP)
        ]
    )
    lengths = np.fromiter(map(len, clean_texts), np.int64, len(clean_texts))
    starts = np.cumsum(clean.sizes[both]) - clean.sizes[both]
    row_edits, characters = np.add.reduceat(edits, starts), np.add.reduceat(lengths, starts)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates[both] = np.where(characters > 0, row_edits / characters, np.nan)
    return rates


def _select_texts(side: Texts, mask: NDArray[np.bool_]) -> list[str]:
    """Return the texts of the chosen rows."""
    if mask.all():
        return side.texts
    text_mask = np.repeat(mask, side.sizes)
    return [text for text, keep in zip(side.texts, text_mask.tolist(), strict=True) if keep]


def _hash_rows(side: Texts | None) -> Codes | None:
    """Return one hash for the texts of each row; 0 for a row without."""
    if side is None or not side.texts:
        return None
    hashes = hash_texts(side.texts)
    ends = np.cumsum(side.sizes)
    if side.sizes.max() > 1:  # the place of a text counts
        position = np.arange(len(hashes)) - np.repeat(ends - side.sizes, side.sizes)
        hashes = hashes * (np.uint64(2) * position.astype(np.uint64) + np.uint64(1))
    row_hashes = np.zeros(len(side.sizes), np.uint64)
    nonempty = side.sizes > 0
    row_hashes[nonempty] = np.add.reduceat(hashes, (ends - side.sizes)[nonempty])
    return row_hashes


def _find_groups(table: Table) -> dict[str, HashedColumn]:
    """Return the columns that results can be broken down by."""
    groups = {}
    for name, column in table.columns.items():
        if name in NOT_GROUPS:
            continue
        if len(encode_column(column[:PROBE]).words) > MAX_GROUPS:
            continue
        encoded = encode_column(column)
        if len(encoded.words) <= MAX_GROUPS:
            groups[name] = hash_column(encoded)
    return groups


def find_noisy_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns X for which there is a column clean_X, as `Noise` writes them.

    >>> find_noisy_columns(["id", "text", "clean_text", "edits"])
    ['text']
    """
    names = list(columns)
    return [name for name in names if f"clean_{name}" in names]


def find_clean_track(runs: Iterable[TrackScores]) -> TrackScores | None:
    """Return the run that noise is compared with: `clean` or `original`, else the first of `clean.1`, `clean.2` etc."""
    clean = [run for run in runs if run.is_clean]
    return next((run for run in clean if run.track.track in CLEAN), clean[0] if clean else None)


def find_ranked_examples(runs: Iterable[TrackScores]) -> tuple[Mask, Mask] | None:
    """Return the examples that the clean tracks of all models have, and those that any has; None where there are none.

    The tracks are those of one dataset.
    """
    by_model: dict[str, list[TrackScores]] = {}
    for run in runs:
        by_model.setdefault(run.track.model, []).append(run)
    masks = [clean.scored for own in by_model.values() if (clean := find_clean_track(own)) is not None]
    return (np.logical_and.reduce(masks), np.logical_or.reduce(masks)) if masks else None


def align_tracks(tracks: Sequence[Track]) -> list[TrackScores]:
    """Return all tracks over the examples of their datasets; no track may be there twice."""
    if not tracks:
        raise ValueError("There are no tracks to report on; give at least one file of predictions.")
    places = [(track.dataset, track.model, track.track) for track in tracks]
    if len(set(places)) < len(places):
        dataset, model, name = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Track {name!r} of model {model!r} is given twice{f' on {dataset}' if dataset else ''}.")
    runs_by_index: dict[int, TrackScores] = {}
    for dataset in dict.fromkeys(track.dataset for track in tracks):
        indices = [number for number, track in enumerate(tracks) if track.dataset == dataset]
        runs_by_index |= zip(indices, _align_dataset([tracks[number] for number in indices]), strict=True)
    return [runs_by_index[number] for number in range(len(tracks))]


def _align_dataset(tracks: Sequence[Track]) -> list[TrackScores]:
    """Return the tracks of one dataset over all its examples, in the order in which they first appear."""
    parts = [score_track(track) for track in tracks]
    for part in parts:
        if len(part.scores) and np.isnan(part.scores).all():
            raise ValueError(
                f"{format_track_name(part.track)}: none of its {len(part.scores)} rows has a score; fill the column, or"
                " leave it out where each prediction has its gold answer."
            )
    ids, places = _join_ids([part.ids for part in parts])
    clusters = _number_clusters(ids, parts, places)
    return [replace(_spread(part, ids, rows), clusters=clusters) for part, rows in zip(parts, places, strict=True)]


def _join_ids(parts: Sequence[Any]) -> tuple[Any, list[IntArray | None]]:
    """Return all ids, and where those of each part are among them; None where a part is all of them, in order."""
    all_ids = parts[0]
    positions: list[Any] = []
    for part in parts:
        if part is all_ids or part.equals(all_ids):
            positions.append(len(all_ids))  # as many as there were: the same, unless others come
            continue
        indices = pc.index_in(part, value_set=all_ids)
        if indices.null_count:
            all_ids = pa.concat_arrays([all_ids, part.filter(indices.is_null())])
            indices = pc.index_in(part, value_set=all_ids)
        positions.append(np.asarray(indices, np.int64))
    size = len(all_ids)
    return all_ids, [None if _is_identity(position, size) else _to_indices(position) for position in positions]


def _is_identity(positions: Any, size: int) -> bool:
    return isinstance(positions, int) and positions == size


def _to_indices(positions: Any) -> IntArray:
    return np.arange(positions) if isinstance(positions, int) else positions


def _number_clusters(ids: Any, tracks: Sequence[TrackScores], places: Sequence[IntArray | None]) -> IntArray | None:
    """Number what each example was made from, as the first track that names it says; None where no track names any."""
    if all(track.originals is None for track in tracks):
        return None
    import pandas as pd

    codes = np.full(len(ids), NO_VALUE)
    for track, rows in zip(tracks, places, strict=True):
        if track.originals is not None:
            track_clusters = track.originals.codes
            indices = np.arange(len(ids)) if rows is None else rows
            codes[indices] = np.where(codes[indices] == NO_VALUE, track_clusters, codes[indices])
    unnamed = codes == NO_VALUE
    codes[unnamed] = hash_texts(ids.filter(pa.array(unnamed)).to_pylist())  # an example without one is its own
    return np.asarray(pd.factorize(codes)[0], np.int64)


def _spread(part: TrackScores, ids: Any, rows: IntArray | None) -> TrackScores:
    """Return the scores of a track over all examples, of which its rows are the ones with the numbers `rows`."""
    if rows is None:
        return replace(part, ids=ids)
    size = len(ids)
    row_indices = np.full(size, -1)
    row_indices[rows] = np.arange(len(rows))

    def spread_numbers(column: Any, fill_value: Any) -> Any:
        if column is None:
            return None
        wide = np.full(size, fill_value, column.dtype)
        wide[rows] = column
        return wide

    def spread_answers(column: HashedColumn | None) -> HashedColumn | None:
        return None if column is None else column.scatter(rows, size)

    return replace(
        part,
        ids=ids,
        scores=spread_numbers(part.scores, np.nan),
        unparsed=spread_numbers(part.unparsed, False),
        predictions=spread_answers(part.predictions),
        golds=spread_answers(part.golds),
        originals=spread_answers(part.originals),
        noise=spread_numbers(part.noise, np.nan),
        text_hashes=spread_numbers(part.text_hashes, 0),
        clean_text_hashes=spread_numbers(part.clean_text_hashes, 0),
        groups={name: column.scatter(rows, size) for name, column in part.groups.items()},
        row_indices=row_indices,
    )


def find_shared_examples(run: TrackScores, clean: TrackScores) -> Mask:
    """Return which examples are scored in both tracks; raise if the right answers of the tracks differ."""
    examples = run.scored & clean.scored
    if run.golds is not None and clean.golds is not None:
        golds, clean_golds = run.golds.codes, clean.golds.codes
        is_different = examples & (golds != clean_golds) & (golds != NO_VALUE) & (clean_golds != NO_VALUE)
        if is_different.any():
            first = int(is_different.argmax())
            example_id = run.ids[first].as_py()
            gold, clean_gold = (each.select_rows([first])[0]["gold"] for each in (run, clean))
            raise ValueError(
                f"{run.track.model}: the gold answer of id {example_id!r} is {gold!r} on {run.track.track} and"
                f" {clean_gold!r} on {clean.track.track} ({int(is_different.sum())} ids differ);"
                " give both tracks the same data"
            )
    return examples


def find_endings(run: TrackScores, ending: str) -> Mask:
    """Return the examples whose answer ended so: `refused`, or `cut` at the most tokens allowed."""
    reasons = run.groups.get("finish_reason")
    codes = np.zeros(len(run.present), np.uint64) if reasons is None else reasons.codes
    return np.isin(codes, hash_texts(FINISH_REASONS[ending]))


def is_binary(scores: Iterable[FloatArray]) -> bool:
    """Say whether every score is 0 or 1."""
    return all(bool(np.isin(each, (0.0, 1.0)).all()) for each in scores)


def select_clusters(run: TrackScores, examples: Mask) -> IntArray | None:
    """Return the originals of these examples; None where each is its own."""
    return None if run.clusters is None else run.clusters[examples]


# Whether a model saw on a noisy track the clean text of an example.


def find_unchanged_texts(run: TrackScores, clean: TrackScores) -> Mask:
    """Return where the texts of a track are those of its clean form, or else those of the clean track."""
    if run.text_hashes is None:
        return np.zeros(len(run.present), bool)
    return np.asarray((run.text_hashes != 0) & (run.text_hashes == _find_clean_hashes(run, clean)))


def count_known_texts(run: TrackScores, clean: TrackScores | None) -> int:
    """Return how many texts of a track have a known clean form."""
    if run.text_hashes is None:
        return 0
    return int(((run.text_hashes != 0) & (_find_clean_hashes(run, clean) != 0)).sum())


def _find_clean_hashes(run: TrackScores, clean: TrackScores | None) -> Codes:
    hashes = np.zeros(len(run.present), np.uint64) if run.clean_text_hashes is None else run.clean_text_hashes
    if clean is None or clean.text_hashes is None:
        return hashes
    return np.where(hashes == 0, clean.text_hashes, hashes)


def to_texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds one, several or none."""
    return (value,) if isinstance(value, str) else tuple(value or ())
