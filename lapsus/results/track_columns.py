"""What a report needs of a track's rows, as arrays: ids, scores, answers, noise rates, texts as hashes.

>>> found = columns_of(Frame.of_rows([{"id": 7, "prediction": "b", "gold": "b"}, {"id": 8, "gold": "a"}]), "bert")
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

from lapsus.kernel.error_rates import edit_distances
from lapsus.kernel.frames import Column, Frame, values
from lapsus.results.coding import NONE, Answers, Coded, answers, coded, hashed
from lapsus.results.passages import passage_scores
from lapsus.results.sentences import refuse_own_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.results.coding import Codes

NO_ANSWER = "(no answer)"  # shown for a missing answer, which counts as wrong
MOST_GROUPS = 50
NOT_GROUPS = ("id", "edits")
PROBE = 200  # rows that tell whether a column may have few values
STEP = 100_000  # rows whose edits are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One element per row of a track.

    `scores` is NaN where no row has one; `unparsed` says that there was no answer or no score, which scores 0. `seen`
    and `meant` are hashes of the text that the model saw and of its clean form; 0 where there is none. `groups` are the
    other columns of at most MOST_GROUPS values; `names` are all columns.
    """

    ids: Any  # pyarrow.StringArray
    scores: FloatArray
    unparsed: NDArray[np.bool_]
    predictions: Answers | None = None
    golds: Answers | None = None
    clusters: Answers | None = None
    noise: FloatArray | None = None
    seen: Codes | None = None
    meant: Codes | None = None
    groups: Mapping[str, Answers] | None = None
    names: tuple[str, ...] = ()
    graded: bool = False  # whether a score says that the prediction is the gold answer


def columns_of(frame: Frame, place: str) -> Columns:
    """Return the columns of rows that hold a score, or a prediction with its gold answer; `place` names the track."""
    columns = frame.columns
    ids = ids_of(frame, place)
    said = coded(columns["prediction"]) if "prediction" in columns else None
    gold = coded(columns["gold"]) if "gold" in columns else None
    stated = None
    if "score" in columns:
        stated = scores_of(columns["score"], ids, place)
    elif said is None or gold is None:
        raise ValueError(f"{place}, id {ids[0].as_py()!r}: has neither a score nor a prediction with its gold answer.")
    passages = None if stated is not None else passage_scores(columns["prediction"], columns["gold"])
    unparsed = is_unparsed(frame, said, gold, stated)
    if said is not None and unparsed.any():
        said = Coded(np.where(unparsed, len(said.words), said.codes), [*said.words, NO_ANSWER])
    predictions, golds = (None if each is None else answers(each) for each in (said, gold))
    if stated is not None:
        scores = stated
    else:
        lacking = golds.codes == NONE  # type: ignore[union-attr] # it is there, else there is an error above
        if lacking.any():
            key = ids[int(lacking.argmax())].as_py()
            raise ValueError(f"{place}, id {key!r}: has neither a score nor a prediction with its gold answer.")
        if passages is None:
            refuse_own_words(predictions.codes[~unparsed], golds, place)  # type: ignore[union-attr,arg-type]
        same = predictions.codes == golds.codes  # type: ignore[union-attr]
        scores = same.astype(float) if passages is None else passages
    noise, seen, meant = _texts(frame)
    return Columns(
        ids,
        np.where(unparsed, 0.0, scores),
        unparsed,
        predictions,
        golds,
        answers(coded(columns["cluster"])) if "cluster" in columns else None,
        noise,
        seen,
        meant,
        _groups(frame),
        tuple(columns),
        graded=stated is None and passages is None,
    )


def pooled(columns: Columns, pool: dict[Any, Any]) -> Columns:
    """Return the columns with those that an earlier track has too taken from there, so that memory holds them once."""

    def array(found: Any) -> Any:
        key = None if found is None else (found.dtype.str, blake2b(np.ascontiguousarray(found).data).digest())
        return pool.setdefault(key, found)

    def said(found: Answers | None) -> Answers | None:
        return None if found is None else Answers(array(found.numbers), array(found.hashes), found.words)

    known = pool.setdefault("ids", [])
    ids = next((each for each in known if each.equals(columns.ids)), None)
    if ids is None:
        known.append(columns.ids)
    return replace(
        columns,
        ids=columns.ids if ids is None else ids,
        scores=array(columns.scores),
        unparsed=array(columns.unparsed),
        predictions=said(columns.predictions),
        golds=said(columns.golds),
        clusters=said(columns.clusters),
        noise=array(columns.noise),
        seen=array(columns.seen),
        meant=array(columns.meant),
        groups={name: pooled_one for name, each in (columns.groups or {}).items() if (pooled_one := said(each))},
    )


def ids_of(frame: Frame, place: str) -> Any:
    """Return the ids of rows as text, 7.0 as "7"; raise where one is missing or occurs twice."""
    import pyarrow as pa

    column = frame.columns.get("id")
    if column is None:
        raise ValueError(f"{place}, row 1: has no 'id'; give every row the id of its example.")
    array = texts_of_ids(column)
    if array.null_count:
        row = array.is_null().index(True).as_py() + 1
        raise ValueError(f"{place}, row {row}: has no 'id'; give every row the id of its example.")
    encoded = array.dictionary_encode()
    if len(encoded.dictionary) < len(array):
        first = np.zeros(len(encoded.dictionary), bool)
        for row, number in enumerate(np.asarray(encoded.indices).tolist()):
            if first[number]:
                raise ValueError(
                    f"{place}, row {row + 1}: id {array[row].as_py()!r} occurs a second time; keep one of them."
                )
            first[number] = True
    return array if isinstance(array, pa.Array) else array.combine_chunks()


def texts_of_ids(column: Column) -> Any:
    """Return a column of ids as text."""
    import pyarrow as pa

    if not isinstance(column, list):
        if pa.types.is_string(column.type):
            return column.combine_chunks()
        column = column.to_pylist()
    texts = [
        None if key is None else str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)
        for key in column
    ]
    return pa.array(texts, pa.string())


def is_unparsed(frame: Frame, said: Coded | None, gold: Coded | None, scores: FloatArray | None) -> NDArray[np.bool_]:
    """Return which rows lack the answer that they should hold: None, a blank, or NaN, which pandas writes for None.

    A row that was scored has an answer, unless its column `unparsed` says otherwise; one that scored above 0 has one.
    Where other rows are scored, a row without a score has none.
    """
    found = np.zeros(frame.length, bool)
    if said is not None:
        golds = [*(gold.words if gold else ()), None]
        blank = np.array([not word.strip() for word in said.words] + [True])
        words = [*said.words, None]
        found = (said.codes < 0) | blank[said.codes]
        for row in np.flatnonzero(found & (said.codes >= 0)).tolist():  # an empty answer may be the right one
            found[row] = gold is None or words[said.codes[row]] != golds[gold.codes[row]]
        nan = np.array([word == "NaN" for word in said.words] + [False])
        if nan.any():
            column = values(frame.columns["prediction"])
            for row in np.flatnonzero(nan[said.codes]).tolist():
                found[row] |= isinstance(column[row], float) and isnan(column[row])
    if scores is not None:
        lacking = np.isnan(scores)
        found = found & lacking if lacking.all() else lacking
    if "unparsed" in frame.columns:
        told = coded(frame.columns["unparsed"])
        found |= np.array([word.casefold() == "true" for word in told.words] + [False])[told.codes]
    return found & ~(scores > 0) if scores is not None else found


def scores_of(column: Column, ids: Any, place: str) -> FloatArray:
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


def _listed(column: Column) -> Texts:
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


def _texts(frame: Frame) -> tuple[FloatArray | None, Codes | None, Codes | None]:
    """Return the noise rate of each row (NaN where it is not known), and hashes of its texts, noisy and clean."""
    columns = frame.columns
    seen = _listed(columns["text"]) if "text" in columns else None
    meant = _listed(columns["clean_text"]) if "clean_text" in columns else None
    rates = np.full(frame.length, np.nan)
    if seen is not None and meant is not None:
        rates = _rates(seen, meant)
    if "noise_rate" in columns:
        stated = np.array([np.nan if rate is None else float(rate) for rate in values(columns["noise_rate"])])
        rates = np.where(np.isnan(stated), rates, stated)
    return None if np.isnan(rates).all() else rates, _row_hashes(seen), _row_hashes(meant)


def _rates(noisy: Texts, clean: Texts) -> FloatArray:
    """Return the edits of all texts of each row, per character of its clean texts."""
    rates = np.full(len(clean.sizes), np.nan)
    both = (noisy.sizes == clean.sizes) & (clean.sizes > 0)
    if not both.any():
        return rates
    ours, its = (_of_rows(side, both) for side in (noisy, clean))
    edits = np.concatenate(
        [edit_distances(ours[at : at + STEP], its[at : at + STEP]) for at in range(0, len(its), STEP)]
    )
    lengths = np.fromiter(map(len, its), np.int64, len(its))
    starts = np.cumsum(clean.sizes[both]) - clean.sizes[both]
    summed, characters = np.add.reduceat(edits, starts), np.add.reduceat(lengths, starts)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates[both] = np.where(characters > 0, summed / characters, np.nan)
    return rates


def _of_rows(side: Texts, chosen: NDArray[np.bool_]) -> list[str]:
    """Return the texts of the chosen rows."""
    if chosen.all():
        return side.texts
    kept = np.repeat(chosen, side.sizes)
    return [text for text, keep in zip(side.texts, kept.tolist(), strict=True) if keep]


def _row_hashes(side: Texts | None) -> Codes | None:
    """Return one hash for the texts of each row; 0 for a row without."""
    if side is None or not side.texts:
        return None
    found = hashed(side.texts)
    ends = np.cumsum(side.sizes)
    if side.sizes.max() > 1:  # the place of a text counts
        place = np.arange(len(found)) - np.repeat(ends - side.sizes, side.sizes)
        found = found * (np.uint64(2) * place.astype(np.uint64) + np.uint64(1))
    out = np.zeros(len(side.sizes), np.uint64)
    held = side.sizes > 0
    out[held] = np.add.reduceat(found, (ends - side.sizes)[held])
    return out


def _groups(frame: Frame) -> dict[str, Answers]:
    """Return the columns that results can be broken down by."""
    found = {}
    for name, column in frame.columns.items():
        if name in NOT_GROUPS:
            continue
        if len(coded(column[:PROBE]).words) > MOST_GROUPS:
            continue
        words = coded(column)
        if len(words.words) <= MOST_GROUPS:
            found[name] = answers(words)
    return found
