"""What a report needs of a track's rows, as arrays: ids, scores, answers, noise rates, texts as hashes.

>>> found = extract_columns(Table.from_rows([{"id": 7, "prediction": "b", "gold": "b"}, {"id": 8, "gold": "a"}]), "bert")
>>> found.ids.to_pylist(), found.scores, found.unparsed
(['7', '8'], array([1., 0.]), array([False,  True]))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.core.types import Track
from lapsus.io.encoding import NO_VALUE, EncodedColumn, HashedColumn, encode_column, hash_column, hash_texts
from lapsus.io.join import extract_ids
from lapsus.io.labels import check_free_text
from lapsus.io.tables import Column, LazyRows, Table, take, to_list
from lapsus.metrics.answer_f1.score import score_passages
from lapsus.stats.noise_rates import compute_edit_distances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.io.encoding import Codes


NO_ANSWER = "(no answer)"  # shown for a missing answer, which counts as wrong
MAX_GROUPS = 50
NOT_GROUPS = ("id", "edits")
PROBE = 200  # rows that tell whether a column may have few values
STEP = 100_000  # rows whose edits are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class TrackColumns:
    """One element per row of a track.

    `scores` is NaN where no row has one; `unparsed` says that there was no answer or no score, which scores 0. `text_hashes`
    and `clean_text_hashes` are hashes of the text that the model saw and of its clean form; 0 where there is none. `groups` are the
    other columns of at most MOST_GROUPS values; `names` are all columns.
    """

    ids: Any  # pyarrow.StringArray
    scores: FloatArray
    unparsed: NDArray[np.bool_]
    predictions: HashedColumn | None = None
    golds: HashedColumn | None = None
    clusters: HashedColumn | None = None
    noise: FloatArray | None = None
    text_hashes: Codes | None = None
    clean_text_hashes: Codes | None = None
    groups: Mapping[str, HashedColumn] | None = None
    names: tuple[str, ...] = ()
    scored_by_equality: bool = False  # whether a score says that the prediction is the gold answer


class FileRows(LazyRows):
    """The rows of a track in a file, read again when they are wanted, and their columns as arrays."""

    def __init__(self, load: Callable[[], Table], columns: TrackColumns) -> None:
        super().__init__(load, len(columns.scores))
        self.columns = columns


def get_columns(track: Track) -> TrackColumns:
    """Return the rows of a track as arrays; an answer that is missing is wrong."""
    if isinstance(track.rows, FileRows):
        return track.rows.columns
    return extract_columns(Table.from_rows(track.rows), format_track_name(track))


def select_rows(track: Track, numbers: IntArray) -> list[Mapping[str, Any]]:
    """Return the rows of a track with these numbers."""
    if isinstance(track.rows, FileRows):
        return list(track.rows.load().take(numbers).to_rows())
    return [track.rows[number] for number in numbers.tolist()]


def select_values(track: Track, names: Sequence[str], numbers: IntArray) -> list[list[Any]]:
    """Return columns of the rows with these numbers; None where they lack one."""
    if isinstance(track.rows, FileRows):
        columns = track.rows.load().columns
        return [to_list(take(columns[name], numbers)) if name in columns else [None] * len(numbers) for name in names]
    rows = [track.rows[number] for number in numbers.tolist()]
    return [[row.get(name) for row in rows] for name in names]


def format_track_name(track: Track) -> str:
    """Return the name of a track for an error."""
    return join_names(track.dataset, track.model, track.track)


def join_names(*names: str) -> str:
    """Return the names that are not empty, as errors name a track."""
    return " / ".join(filter(None, names))


def extract_columns(frame: Table, place: str) -> TrackColumns:
    """Return the columns of rows that hold a score, or a prediction with its gold answer; `place` names the track."""
    columns = frame.columns
    ids = extract_ids(frame, place)
    predicted = encode_column(columns["prediction"]) if "prediction" in columns else None
    gold = encode_column(columns["gold"]) if "gold" in columns else None
    known_scores = None
    if "score" in columns:
        known_scores = extract_scores(columns["score"], ids, place)
    elif predicted is None or gold is None:
        raise ValueError(f"{place}, id {ids[0].as_py()!r}: has neither a score nor a prediction with its gold answer.")
    passage_f1 = None if known_scores is not None else score_passages(columns["prediction"], columns["gold"])
    unparsed = is_unparsed(frame, predicted, gold, known_scores)
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
    noise, text_hashes, clean_text_hashes = _measure_texts(frame)
    return TrackColumns(
        ids,
        np.where(unparsed, 0.0, scores),
        unparsed,
        predictions,
        golds,
        hash_column(encode_column(columns["cluster"])) if "cluster" in columns else None,
        noise,
        text_hashes,
        clean_text_hashes,
        _find_groups(frame),
        tuple(columns),
        scored_by_equality=known_scores is None and passage_f1 is None,
    )


def share_arrays(columns: TrackColumns, pool: dict[Any, Any]) -> TrackColumns:
    """Return the columns with those that an earlier track has too taken from there, so that memory holds them once."""

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
    ids = next((each for each in known_ids if each.equals(columns.ids)), None)
    if ids is None:
        known_ids.append(columns.ids)
    return replace(
        columns,
        ids=columns.ids if ids is None else ids,
        scores=share_array(columns.scores),
        unparsed=share_array(columns.unparsed),
        predictions=share_column(columns.predictions),
        golds=share_column(columns.golds),
        clusters=share_column(columns.clusters),
        noise=share_array(columns.noise),
        text_hashes=share_array(columns.text_hashes),
        clean_text_hashes=share_array(columns.clean_text_hashes),
        groups={name: shared for name, each in (columns.groups or {}).items() if (shared := share_column(each))},
    )


def is_unparsed(
    frame: Table, predictions: EncodedColumn | None, gold: EncodedColumn | None, scores: FloatArray | None
) -> NDArray[np.bool_]:
    """Return which rows lack the answer that they should hold: None, a blank, or NaN, which pandas writes for None.

    A row that was scored has an answer, unless its column `unparsed` says otherwise; one that scored above 0 has one.
    Where other rows are scored, a row without a score has none.
    """
    unparsed = np.zeros(frame.length, bool)
    if predictions is not None:
        golds = [*(gold.words if gold else ()), None]
        blank = np.array([not word.strip() for word in predictions.words] + [True])
        words = [*predictions.words, None]
        unparsed = (predictions.codes < 0) | blank[predictions.codes]
        for row in np.flatnonzero(unparsed & (predictions.codes >= 0)).tolist():  # an empty answer may be the right one
            unparsed[row] = gold is None or words[predictions.codes[row]] != golds[gold.codes[row]]
        nan = np.array([word == "NaN" for word in predictions.words] + [False])
        if nan.any():
            column = to_list(frame.columns["prediction"])
            for row in np.flatnonzero(nan[predictions.codes]).tolist():
                unparsed[row] |= isinstance(column[row], float) and isnan(column[row])
    if scores is not None:
        missing = np.isnan(scores)
        unparsed = unparsed & missing if missing.all() else missing
    if "unparsed" in frame.columns:
        flags = encode_column(frame.columns["unparsed"])
        unparsed |= np.array([word.casefold() == "true" for word in flags.words] + [False])[flags.codes]
    return unparsed & ~(scores > 0) if scores is not None else unparsed


def extract_scores(column: Column, ids: Any, place: str) -> FloatArray:
    """Return scores from 0 to 1, NaN for None."""
    if not isinstance(column, list):
        import pyarrow as pa

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


def _flatten_texts(column: Column) -> Texts:
    """Return the texts of a column that holds one, several or none in each row."""
    if not isinstance(column, list):
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_string(column.type):
            return Texts(column.drop_null().to_pylist(), np.asarray(column.is_valid(), np.int64))
        if pa.types.is_list(column.type) and not (flat := pc.list_flatten(column)).null_count:
            sizes = pc.fill_null(pc.list_value_length(column), 0)
            return Texts(flat.to_pylist(), np.asarray(sizes, np.int64))
        column = column.to_pylist()
    rows = [(value,) if isinstance(value, str) else tuple(value or ()) for value in column]
    return Texts([text for row in rows for text in row], np.array([len(row) for row in rows], np.int64))


def _measure_texts(frame: Table) -> tuple[FloatArray | None, Codes | None, Codes | None]:
    """Return the noise rate of each row (NaN where it is not known), and hashes of its texts, noisy and clean."""
    columns = frame.columns
    noisy = _flatten_texts(columns["text"]) if "text" in columns else None
    clean = _flatten_texts(columns["clean_text"]) if "clean_text" in columns else None
    rates = np.full(frame.length, np.nan)
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


def _find_groups(frame: Table) -> dict[str, HashedColumn]:
    """Return the columns that results can be broken down by."""
    groups = {}
    for name, column in frame.columns.items():
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
