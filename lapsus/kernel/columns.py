"""Validation of a metric's columns: every element is checked, and an error names the first wrong one.

>>> scores("predictions", [1, 0.5, True])
array([1. , 0.5, 1. ])
>>> texts("predictions", ["a", 3])
Traceback (most recent call last):
TypeError: predictions[1] is 3, not text: convert it with str() if that is what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lapsus.kernel.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]
    IntArray: TypeAlias = NDArray[np.int64]

FEWEST = 10  # labels from which two columns without a common one are a mistake

Groups: TypeAlias = "Iterable[Any] | Mapping[str, Iterable[Any]]"


def listed(name: str, values: Iterable[Any]) -> Any:
    """Return `values` as a list, tuple or numpy array of at least one element."""
    column = held(name, values)
    if len(column) == 0:
        raise ValueError(f"{name} is empty: there is nothing to score.")
    return column


def held(name: str, values: Any) -> Any:
    """Return `values` as a list, tuple or numpy array of numbers, which can be read more than once.

    Tensors and arrays of other types become lists, also inside a list; masked elements become None.

    >>> held("predictions", (letter for letter in "ab")), held("predictions", np.ma.array([1, 2], mask=[True, False]))
    (['a', 'b'], [None, 2])
    """
    if isinstance(values, (str, bytes, Mapping, AbstractSet)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {brief(values)}, not a column: give one element per example in a list.")
    column = _unmasked(values) if hasattr(values, "__array__") else values
    if not isinstance(column, (list, tuple, np.ndarray)):
        column = list(column)
    if isinstance(column, np.ndarray):
        return column
    first = column[0] if len(column) > 0 else None
    if isinstance(first, np.ndarray):
        foreign = any(isinstance(value, np.ma.MaskedArray) for value in column)
    else:
        foreign = hasattr(first, "__array__") and not isinstance(first, np.generic)
    return [_unmasked(value) if hasattr(value, "__array__") else value for value in column] if foreign else column


def _unmasked(values: Any) -> Any:
    """Return an array or tensor as an array of numbers, or as Python values with None for masked elements."""
    if isinstance(values, np.ma.MaskedArray):
        return values.tolist()
    try:
        array = np.asarray(values)
    except (TypeError, RuntimeError):  # a dtype that numpy lacks, such as bfloat16, or a tensor that requires grad
        return values.tolist()
    return array if array.dtype.kind in "biuf" and array.ndim else array.tolist()


def same_length(**columns: Any) -> int:
    """Return the common length of the columns."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"The columns differ in length ({found}): give one element of each per example.")
    return next(iter(lengths.values()))


def texts(name: str, values: Iterable[str], first: int = 0) -> Sequence[str]:
    """Return `values`, each of which must be a string; `first` is the index of the first in its column."""
    column: Sequence[str] = listed(name, values)
    try:
        "".join(column)  # checks the type of every element, faster than a loop
    except TypeError:
        index, value = next((i, v) for i, v in enumerate(column) if not isinstance(v, str))
        raise TypeError(
            f"{name}[{first + index}] is {brief(value)}, not text: convert it with str() if that is what was meant."
        ) from None
    return column


def text_lengths(name: str, values: Sequence[str], first: int = 0) -> IntArray:
    """Return the length of each element, which must be a string."""
    return np.fromiter(map(len, texts(name, values, first)), np.int64, len(values))


def scores(name: str, values: Iterable[float]) -> FloatArray:
    """Return `values` as floats, each of which must be a finite number."""
    column = listed(name, values)
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise TypeError(f"{name} has the shape {column.shape}: give one number per example.")
        array = np.asarray(column, np.float64)
    else:
        for kind in set(map(type, column)):
            if not issubclass(kind, (Real, np.bool_)):
                index = next(i for i, value in enumerate(column) if type(value) is kind)
                raise TypeError(f"{name}[{index}] is {brief(column[index])}, not a number.")
        array = np.fromiter(column, np.float64, len(column))
    _refuse_not_finite(name, array, "leave the example out")
    return array


def score_table(name: str, values: Iterable[Iterable[float | None]]) -> FloatArray:
    """Return examples x annotators, with NaN where an annotator's score is missing: None, or masked by numpy."""
    rows = values if isinstance(values, np.ma.MaskedArray) and values.ndim == 2 else listed(name, values)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2:
            raise TypeError(
                f"{name} has the shape {rows.shape}: give each example a list of scores, one per annotator."
            )
        missing = np.ma.getmaskarray(rows)
        table = np.ma.getdata(rows).astype(np.float64)
    else:
        flat, width = flattened(name, rows)
        kinds = set(map(type, flat))
        for kind in kinds - {type(None)}:
            if not issubclass(kind, (Real, np.bool_)):
                index = next(i for i, value in enumerate(flat) if type(value) is kind)
                raise TypeError(f"{name}[{index // width}][{index % width}] is {brief(flat[index])}, not a number.")
        missing = np.zeros((len(rows), width), np.bool_)
        if type(None) in kinds:
            missing = np.fromiter((value is None for value in flat), np.bool_, len(flat)).reshape(-1, width)
            flat = [0.0 if value is None else value for value in flat]
        table = np.fromiter(flat, np.float64, len(flat)).reshape(-1, width)
    _refuse_not_finite(name, table, "a missing score is None")
    if missing.any():
        refuse_unannotated(name, missing)
        table[missing] = np.nan
    return table


def flattened(name: str, rows: Sequence[Any]) -> tuple[list[Any], int]:
    """Return the elements of all rows in order, and the one length that every row must have."""
    for kind in set(map(type, rows)):
        if issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable):
            index = next(i for i, row in enumerate(rows) if type(row) is kind)
            raise TypeError(f"{name}[{index}] is {brief(rows[index])}: give a list with one element per annotator.")
    widths = set(map(len, rows))
    if len(widths) > 1:
        width = len(rows[0])
        index = next(i for i, row in enumerate(rows) if len(row) != width)
        raise ValueError(
            f"{name}[{index}] has {len(rows[index])} annotators and {name}[0] has {width}: "
            "put None where an annotator is missing."
        )
    if widths == {0}:
        raise ValueError(f"{name}[0] has no annotators: give at least one element per example.")
    return list(chain.from_iterable(rows)), widths.pop()


def refuse_unannotated(name: str, missing: NDArray[np.bool_]) -> None:
    """Raise if an example has no score of any annotator."""
    if (nobody := missing.all(axis=1)).any():
        raise ValueError(f"{name}[{nobody.argmax()}] has no annotator at all: leave the example out.")


def labels(label_map: Mapping[Any, Any] | None = None, **columns: Iterable[Any]) -> list[IntArray]:
    """Return the columns as integers: equal labels of any column, after `label_map`, have equal integers."""
    if label_map is not None and not isinstance(label_map, Mapping):
        raise TypeError(f"label_map is {label_map!r}: give a mapping, as in {{'neutral': 'not_entailment'}}.")
    label_map = label_map or {}
    given = {name: listed(name, values) for name, values in columns.items()}
    same_length(**given)
    kinds = {name: _label_kind(name, values) for name, values in given.items()}
    if len(set(kinds.values())) > 1:
        found = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        raise TypeError(f"The labels are of different kinds ({found}), so none would ever be equal: use one kind.")
    if label_map:
        _refuse_useless(label_map, given, "integers" in kinds.values())
    if "integers" in kinds.values():
        coded = [_mapped_integers(name, values, label_map) for name, values in given.items()]
        _refuse_other_words(given, coded)
        return coded
    numbers: dict[Any, int] = {}
    table: dict[str, int] = {}
    for label in sorted(set(chain.from_iterable(given.values()))):
        table[label] = numbers.setdefault(label_map.get(label, label), len(numbers))
    coded = [np.fromiter(map(table.__getitem__, values), np.int64, len(values)) for values in given.values()]
    _refuse_other_words(given, coded)
    return coded


def _refuse_other_words(given: Mapping[str, Any], numbers: Sequence[IntArray]) -> None:
    """Raise if a column of several labels, which repeat, shares none with any other: the wording differs."""
    for place, (name, mine) in enumerate(zip(given, numbers, strict=True)):
        others = [each for number, each in enumerate(numbers) if number != place]
        if len(mine) < FEWEST or not others or any((mine == other).any() for other in others):
            continue
        own, theirs = np.unique(mine), np.unique(np.concatenate(others))
        if 1 < len(own) <= len(mine) / 2 and len(theirs) > 1 and not np.isin(own, theirs).any():
            told = {key: shown(map(repr, dict.fromkeys(list(values))), 3) for key, values in given.items()}
            other = next(key for key in told if key != name)
            raise ValueError(
                f"{name} are {told[name]} and {other} are {told[other]}: none is ever equal, as if the same labels were"
                " called otherwise; use the same names, or label_map."
            )


def _label_kind(name: str, values: Any) -> str:
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biu":
            raise TypeError(f"{name} holds {values.dtype} numbers: a label is a string or an integer.")
        return "integers"
    found = {}
    for kind in set(map(type, values)):
        label_kind = (
            "strings" if issubclass(kind, str) else "integers" if issubclass(kind, (Integral, np.bool_)) else None
        )
        index = next(i for i, value in enumerate(values) if type(value) is kind)
        if label_kind is None:
            raise TypeError(f"{name}[{index}] is {brief(values[index])}: a label is a string or an integer.")
        found[label_kind] = index
    if len(found) > 1:
        index = max(found.values())
        raise TypeError(f"{name}[{index}] is {brief(values[index])}, unlike the labels before it: use one kind.")
    return next(iter(found))


def _refuse_useless(label_map: Mapping[Any, Any], given: Mapping[str, Any], integers: bool) -> None:
    """Raise if the map has another type than the labels (str or int), or none of its keys is a label."""
    kinds: tuple[type, ...] = (Integral, np.bool_) if integers else (str,)
    for label in (*label_map.keys(), *label_map.values()):
        if not isinstance(label, kinds):
            called = "an integer" if integers else "a string"
            raise TypeError(f"label_map has {brief(label)}, and the labels are not of its kind: give {called}.")
    columns = (np.unique(values).tolist() if isinstance(values, np.ndarray) else values for values in given.values())
    occurring = set(chain.from_iterable(columns))
    if occurring.isdisjoint(label_map):
        raise ValueError(
            f"label_map names {brief(list(label_map))}, none of which is a label; the labels are "
            f"{shown(map(repr, sorted(occurring)), 5)}: map those, or leave label_map out."
        )


def _mapped_integers(name: str, values: Any, label_map: Mapping[Any, Any]) -> IntArray:
    try:
        array = np.asarray(values, np.int64)
    except OverflowError:
        array = None
    if array is None or (isinstance(values, np.ndarray) and values.dtype == np.uint64 and (array < 0).any()):
        index = next(i for i, value in enumerate(values) if not -(2**63) <= int(value) < 2**63)
        raise ValueError(f"{name}[{index}] is {brief(int(values[index]))}, more than 64 bits hold: use strings.")
    mapped = array.copy() if label_map else array
    for label, target in label_map.items():
        mapped[array == label] = target
    return mapped


def numbered(name: str, values: Iterable[Any]) -> tuple[IntArray, list[Any]]:
    """Return each name's number and the distinct names; a name is a string or an integer."""
    column = listed(name, values)
    _label_kind(name, column)
    if not isinstance(column, np.ndarray):
        numbers = {value: number for number, value in enumerate(dict.fromkeys(column))}
        return np.fromiter(map(numbers.__getitem__, column), np.int64, len(column)), list(numbers)
    low, high = int(column.min()), int(column.max())
    if high - low > 4 * len(column):  # too sparse for a lookup table over the whole range of integers
        distinct, inverse = np.unique(column, return_inverse=True)
        return inverse, distinct.tolist()
    offsets = np.asarray(column, np.int64)
    offsets = offsets - low if low else offsets
    occurs = np.bincount(offsets) > 0
    if occurs.all():
        return offsets, list(range(low, high + 1))
    return (np.cumsum(occurs) - 1)[offsets], (np.flatnonzero(occurs) + low).tolist()


def repeats(numbers: IntArray) -> bool:
    """Return whether a number from 0 on occurs twice.

    >>> repeats(np.array([2, 0, 2])), repeats(np.arange(3))
    (True, False)
    """
    return len(numbers) > 0 and bool(np.bincount(numbers).max() > 1)  # np.unique takes thirty times as long


def grouped(groups: Iterable[Any], group_names: Iterable[Any] | None, length: int) -> tuple[IntArray, list[str]]:
    """Return the number of each row's group, and the groups' names: all that occur, or the given ones.

    >>> grouped(["b", "a", "b"], None, 3)
    (array([1, 0, 1]), ['a', 'b'])
    """
    column = [str(value) for value in listed("groups", groups)]
    if len(column) != length:
        raise ValueError(f"groups has {len(column)} elements for {length} examples: give one per example.")
    wanted = sorted(set(column)) if group_names is None else [str(name) for name in group_names]
    place = {name: number for number, name in enumerate(wanted)}
    if unknown := set(column) - set(wanted):
        raise ValueError(f"groups holds {min(unknown)!r}, which is not in group_names {wanted}.")
    return np.fromiter(map(place.__getitem__, column), np.int64, length), wanted


def breakdown(
    groups: Groups,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None,
    length: int,
    score: Callable[[IntArray], dict[str, Any]],
) -> dict[str, Any]:
    """Score each group of rows; a named group without rows is scored on none.

    `groups` is one value per example, or several such columns by name. Results are keyed by `str(value)`.
    """

    def of_column(codes: IntArray, names: Sequence[str]) -> dict[str, Any]:
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
        rows = np.split(np.argsort(codes, kind="stable"), ends)
        return {name: score(members) for name, members in zip(names, rows, strict=True)}

    return by_column(groups, group_names, length, of_column)


def by_column(
    groups: Groups,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None,
    length: int,
    of_column: Callable[[IntArray, list[str]], dict[str, Any]],
) -> dict[str, Any]:
    """Return what a function makes of the groups of each row; of several columns, a result for each by its name."""
    if isinstance(groups, Mapping):
        named = group_names if isinstance(group_names, Mapping) else {}
        return {name: by_column(column, named.get(name), length, of_column) for name, column in groups.items()}
    names = None if group_names is None or isinstance(group_names, Mapping) else group_names
    return of_column(*grouped(groups, names, length))


def whole(name: str, value: Any, least: int = 0) -> int:
    """Return an option that is a whole number, of Python or numpy.

    >>> whole("seed", np.int64(3))
    3
    >>> whole("n_resamples", True)
    Traceback (most recent call last):
    TypeError: n_resamples is True: give a whole number from 0 on.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {brief(value)}: give a whole number from {least} on.")
    if value < least:
        raise ValueError(f"{name} is {brief(value)}: give a whole number from {least} on.")
    return int(value)


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise unless the option has one of the allowed values."""
    if value not in allowed:
        raise ValueError(f"{name} is {brief(value)}: choose one of {', '.join(map(repr, allowed))}.")


def _refuse_not_finite(name: str, array: FloatArray, cure: str) -> None:
    if not np.isfinite(array).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        index = "".join(f"[{position}]" for position in place)
        raise ValueError(f"{name}{index} is {array[place]}, not a score: {cure}.")


def brief(value: object, width: int = 60) -> str:
    """Return a value as Python writes it, cut where it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else text[: width - 1] + "…"
