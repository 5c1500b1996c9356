"""Synthetic tracks: clean rows perturbed by an operator, with a record of its edits."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from datasets import Features

from lapsus.core.executors import LOCAL, Executor
from lapsus.perturbations.noise import Noise, apply_in_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lapsus.perturbations import Operator

BATCH_ROWS = 1000
TRACKS = tuple(f"{kind}.{annotator}" for kind in ("auto", "keyboard", "speech") for annotator in (1, 2, 3))


def perturb_rows(
    noise: Noise | Sequence[Noise], rows: Iterable[dict[str, Any]], executor: Executor = LOCAL
) -> Iterator[dict[str, Any]]:
    """Yield each row with its noisy columns, their clean twins, the edits by column, and the operator.

    Of several noises each is put on what the ones before made; they differ in operator and seed only.
    The engine perturbs batches of rows, of which a few are in memory at once.
    The features of these rows are `noisy_features(noise, features)`.

    >>> from lapsus.perturbations import OPERATORS, Noise
    >>> noise = Noise(OPERATORS["filler_bos"], text="text", id="id")
    >>> row = next(perturb_rows(noise, [{"id": "a", "text": "wake me at six"}]))
    >>> row["clean_text"], row["text"].endswith(" wake me at six")
    ('wake me at six', True)
    """
    noises = [noise] if isinstance(noise, Noise) else list(noise)
    remaining = iter(rows)
    batches = iter(lambda: list(islice(remaining, BATCH_ROWS)), [])
    for _, noisy_batch in executor.map(partial(_perturb_batch, noises), batches, ordered=True):
        yield from noisy_batch


def _perturb_batch(noises: Sequence[Noise], batch: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    description = " then ".join(each.op.name for each in noises)
    columns = {name: [row[name] for row in batch] for name in batch[0]}
    with mark_operator_errors(f"{description} on the rows {batch[0]['id']!r} to {batch[-1]['id']!r}"):
        columns |= apply_in_turn(noises, columns)
    columns["edits"] = [group_edits_by_column(noises[0], edits) for edits in columns["edits"]]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def noisy_features(noise: Noise, clean: Features) -> Features:
    """Return the features of `perturb_rows`.

    Edits are keyed by column, also where only one is noisy: the Hub's viewer computes no statistics of a split with a
    column of lists that have no element or one, but it skips columns that are structs.

    >>> from datasets import Value
    >>> from lapsus.perturbations import OPERATORS, Noise
    >>> noise = Noise(OPERATORS["filler_bos"], text="text", id="id")
    >>> list(noisy_features(noise, Features({"id": Value("string"), "text": Value("string")}))["edits"])
    ['text']
    """
    features = noise.features(clean)
    return Features({**features, "edits": group_edits_by_column(noise, features["edits"])})


def group_edits_by_column(noise: Noise, edits: Any) -> Any:
    """Return the edits of a row, or their features, by the column that they change."""
    return edits if len(noise.columns) > 1 else {noise.columns[0]: edits}


@contextmanager
def mark_operator_errors(what: str) -> Iterator[None]:
    """Re-raise an error of an operator, so that it is not reported as a malformed source file."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise RuntimeError(f"{what} failed ({type(error).__name__}: {error}); report it as a bug of lapsus") from error


def make_track_operator(track: str) -> tuple[Operator, int]:
    """Return the operator and the seed of a track of the `-sim` datasets.

    >>> make_track_operator("auto.2")[1]
    2
    """
    from lapsus.perturbations.zh.homophone import ZhHomophone
    from lapsus.perturbations.zh.speech.dictation import ZhSpeech
    from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

    if track not in TRACKS:
        raise LookupError(f"there is no synthetic track {track!r}; there are {', '.join(TRACKS)}")
    kind, _, number = track.partition(".")
    annotator = int(number)
    if kind == "keyboard":
        return ZhKeyboard.annotator(annotator), 0
    return (ZhSpeech.annotator(annotator), 0) if kind == "speech" else (ZhHomophone(), annotator)
