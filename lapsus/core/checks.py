"""Validation of a metric's columns: every element is checked, and an error names the first wrong one.

>>> check_scores("predictions", [1, 0.5, True])
array([1. , 0.5, 1. ])
>>> check_texts("predictions", ["a", 3])
Traceback (most recent call last):
TypeError: predictions[1] is 3, not text: convert it with str() if that is what was meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lapsus.core.messages import format_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]
    IntArray: TypeAlias = NDArray[np.int64]

MIN_LABELS = 10  # rows from which two columns without a common label are a mistake

Groups: TypeAlias = "Iterable[Any] | Mapping[str, Iterable[Any]]"


def check_list(name: str, values: Iterable[Any]) -> Any:
    """Return `values` as a list, tuple or numpy array of at least one element."""
    column = materialise(name, values)
    if len(column) == 0:
        raise ValueError(f"{name} is empty: there is nothing to score.")
    return column


def materialise(name: str, values: Any) -> Any:
    """Return `values` as a list, tuple or numpy array of numbers, which can be read more than once.

    Tensors and arrays of other types become lists, also inside a list; masked elements become None.

    >>> materialise("predictions", (letter for letter in "ab"))
    ['a', 'b']
    >>> materialise("predictions", np.ma.array([1, 2], mask=[True, False]))
    [None, 2]
    """
    if isinstance(values, (str, bytes, Mapping, AbstractSet)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {shorten_repr(values)}, not a column: give one element per example in a list.")
    column = _unmask(values) if hasattr(values, "__array__") else values
    if not isinstance(column, (list, tuple, np.ndarray)):
        column = list(column)
    if isinstance(column, np.ndarray):
        return column
    first = column[0] if len(column) > 0 else None
    if isinstance(first, np.ndarray):
        has_arrays = any(isinstance(value, np.ma.MaskedArray) for value in column)
    else:
        has_arrays = hasattr(first, "__array__") and not isinstance(first, np.generic)
    return [_unmask(value) if hasattr(value, "__array__") else value for value in column] if has_arrays else column


def _unmask(values: Any) -> Any:
    """Return an array or tensor as an array of numbers, or as Python values with None for masked elements."""
    if isinstance(values, np.ma.MaskedArray):
        return values.tolist()
    try:
        array = np.asarray(values)
    except (TypeError, RuntimeError):  # a dtype that numpy lacks, such as bfloat16, or a tensor that requires grad
        return values.tolist()
    return array if array.dtype.kind in "biuf" and array.ndim else array.tolist()


def check_same_length(**columns: Any) -> int:
    """Return the common length of the columns."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"The columns differ in length ({listing}): give one element of each per example.")
    return next(iter(lengths.values()))


def check_texts(name: str, values: Iterable[str], first: int = 0) -> Sequence[str]:
    """Return `values`, each of which must be a string; `first` is the index of the first in its column."""
    column: Sequence[str] = check_list(name, values)
    try:
        "".join(column)  # checks the type of every element, faster than a loop
    except TypeError:
        index, value = next((i, v) for i, v in enumerate(column) if not isinstance(v, str))
        raise TypeError(
            f"{name}[{first + index}] is {shorten_repr(value)}, not text: "
            "convert it with str() if that is what was meant."
        ) from None
    return column


def check_text_lengths(name: str, values: Sequence[str], first: int = 0) -> IntArray:
    """Return the length of each element, which must be a string."""
    return np.fromiter(map(len, check_texts(name, values, first)), np.int64, len(values))


def check_scores(name: str, values: Iterable[float]) -> FloatArray:
    """Return `values` as floats, each of which must be a finite number."""
    column = check_list(name, values)
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise TypeError(f"{name} has the shape {column.shape}: give one number per example.")
        array = np.asarray(column, np.float64)
    else:
        for kind in set(map(type, column)):
            if not issubclass(kind, (Real, np.bool_)):
                index = next(i for i, value in enumerate(column) if type(value) is kind)
                raise TypeError(f"{name}[{index}] is {shorten_repr(column[index])}, not a number.")
        array = np.fromiter(column, np.float64, len(column))
    _check_finite(name, array, "leave the example out")
    return array


def check_score_table(name: str, values: Iterable[Iterable[float | None]]) -> FloatArray:
    """Return examples x annotators, with NaN where an annotator's score is missing: None, or masked by numpy."""
    rows = values if isinstance(values, np.ma.MaskedArray) and values.ndim == 2 else check_list(name, values)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2:
            raise TypeError(
                f"{name} has the shape {rows.shape}: give each example a list of scores, one per annotator."
            )
        missing = np.ma.getmaskarray(rows)
        table = np.ma.getdata(rows).astype(np.float64)
    else:
        flat, width = flatten_rows(name, rows)
        kinds = set(map(type, flat))
        for kind in kinds - {type(None)}:
            if not issubclass(kind, (Real, np.bool_)):
                index = next(i for i, value in enumerate(flat) if type(value) is kind)
                raise TypeError(
                    f"{name}[{index // width}][{index % width}] is {shorten_repr(flat[index])}, not a number."
                )
        missing = np.zeros((len(rows), width), np.bool_)
        if type(None) in kinds:
            missing = np.fromiter((value is None for value in flat), np.bool_, len(flat)).reshape(-1, width)
            flat = [0.0 if value is None else value for value in flat]
        table = np.fromiter(flat, np.float64, len(flat)).reshape(-1, width)
    _check_finite(name, table, "a missing score is None")
    if missing.any():
        check_annotated(name, missing)
        table[missing] = np.nan
    return table


def flatten_rows(name: str, rows: Sequence[Any]) -> tuple[list[Any], int]:
    """Return the elements of all rows in order, and the one length that every row must have."""
    for kind in set(map(type, rows)):
        if issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable):
            index = next(i for i, row in enumerate(rows) if type(row) is kind)
            raise TypeError(
                f"{name}[{index}] is {shorten_repr(rows[index])}: give a list with one element per annotator."
            )
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


def check_annotated(name: str, missing: NDArray[np.bool_]) -> None:
    """Raise if an example has no score of any annotator."""
    if (unannotated := missing.all(axis=1)).any():
        raise ValueError(f"{name}[{unannotated.argmax()}] has no annotator at all: leave the example out.")


def encode_labels(label_map: Mapping[Any, Any] | None = None, **columns: Iterable[Any]) -> list[IntArray]:
    """Return the columns as integers: equal labels of any column, after `label_map`, have equal integers."""
    if label_map is not None and not isinstance(label_map, Mapping):
        raise TypeError(f"label_map is {label_map!r}: give a mapping, as in {{'neutral': 'not_entailment'}}.")
    label_map = label_map or {}
    label_columns = {name: check_list(name, values) for name, values in columns.items()}
    check_same_length(**label_columns)
    kinds = {name: _label_type(name, values) for name, values in label_columns.items()}
    if len(set(kinds.values())) > 1:
        listing = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        raise TypeError(f"The labels are of different kinds ({listing}), so none would ever be equal: use one kind.")
    if label_map:
        _check_label_map(label_map, label_columns, "integers" in kinds.values())
    if "integers" in kinds.values():
        codes = [_encode_column(name, values, label_map) for name, values in label_columns.items()]
        _check_shared_vocabulary(label_columns, codes)
        return codes
    numbers: dict[Any, int] = {}
    table: dict[str, int] = {}
    for label in sorted(set(chain.from_iterable(label_columns.values()))):
        table[label] = numbers.setdefault(label_map.get(label, label), len(numbers))
    codes = [np.fromiter(map(table.__getitem__, values), np.int64, len(values)) for values in label_columns.values()]
    _check_shared_vocabulary(label_columns, codes)
    return codes


def _check_shared_vocabulary(label_columns: Mapping[str, Any], codes: Sequence[IntArray]) -> None:
    """Raise if a column of several labels, which repeat, shares none with any other: the wording differs.

    Warn if it shares some, and is still equal to none in any row: class numbers may be counted from other ones.
    """
    for index, (name, column) in enumerate(zip(label_columns, codes, strict=True)):
        other_columns = [other for number, other in enumerate(codes) if number != index]
        if len(column) < MIN_LABELS or not other_columns or any((column == other).any() for other in other_columns):
            continue
        own, theirs = np.unique(column), np.unique(np.concatenate(other_columns))
        if 1 < len(own) <= len(column) / 2 and len(theirs) > 1:
            descriptions = {
                key: format_list(map(repr, dict.fromkeys(np.asarray(values).tolist())), 3)
                for key, values in label_columns.items()
            }
            other = next(key for key in descriptions if key != name)
            message = f"{name} are {descriptions[name]} and {other} are {descriptions[other]}: none is ever equal"
            if not np.isin(own, theirs).any():
                raise ValueError(f"{message}, as if the same labels had other names; use the same names, or label_map.")
            cure = "check the order of the rows, and the number from which classes are counted"
            warnings.warn(f"{message}; {cure}", stacklevel=5)
            return


def _label_type(name: str, values: Any) -> str:
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biu":
            raise TypeError(f"{name} holds {values.dtype} numbers: a label is a string or an integer.")
        return "integers"
    index_by_type = {}
    for kind in set(map(type, values)):
        label_type = (
            "strings" if issubclass(kind, str) else "integers" if issubclass(kind, (Integral, np.bool_)) else None
        )
        index = next(i for i, value in enumerate(values) if type(value) is kind)
        if label_type is None:
            raise TypeError(f"{name}[{index}] is {shorten_repr(values[index])}: a label is a string or an integer.")
        index_by_type[label_type] = index
    if len(index_by_type) > 1:
        index = max(index_by_type.values())
        raise TypeError(f"{name}[{index}] is {shorten_repr(values[index])}, unlike the labels before it: use one kind.")
    return next(iter(index_by_type))


def _check_label_map(label_map: Mapping[Any, Any], label_columns: Mapping[str, Any], integers: bool) -> None:
    """Raise if the map has another type than the labels (str or int), or none of its keys is a label."""
    kinds: tuple[type, ...] = (Integral, np.bool_) if integers else (str,)
    for label in (*label_map.keys(), *label_map.values()):
        if not isinstance(label, kinds):
            expected = "an integer" if integers else "a string"
            raise TypeError(
                f"label_map has {shorten_repr(label)}, and the labels are not of its kind: give {expected}."
            )
    columns = (
        np.unique(values).tolist() if isinstance(values, np.ndarray) else values for values in label_columns.values()
    )
    labels = set(chain.from_iterable(columns))
    if labels.isdisjoint(label_map):
        raise ValueError(
            f"label_map names {shorten_repr(list(label_map))}, none of which is a label; the labels are "
            f"{format_list(map(repr, sorted(labels)), 5)}: map those, or leave label_map out."
        )


def _encode_column(name: str, values: Any, label_map: Mapping[Any, Any]) -> IntArray:
    try:
        array = np.asarray(values, np.int64)
    except OverflowError:
        array = None
    if array is None or (isinstance(values, np.ndarray) and values.dtype == np.uint64 and (array < 0).any()):
        index = next(i for i, value in enumerate(values) if not -(2**63) <= int(value) < 2**63)
        raise ValueError(f"{name}[{index}] is {shorten_repr(int(values[index]))}, more than 64 bits hold: use strings.")
    mapped = array.copy() if label_map else array
    for label, target in label_map.items():
        mapped[array == label] = target
    return mapped


def factorize(name: str, values: Iterable[Any]) -> tuple[IntArray, list[Any]]:
    """Return each name's number and the distinct names; a name is a string or an integer."""
    column = check_list(name, values)
    _label_type(name, column)
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


def number_clusters(clusters: Iterable[Any] | None, **column: Any) -> IntArray:
    """Return the number of each row's cluster; without clusters, each row is its own.

    The rows are those of `column`, a metric's argument by its name, which errors give.

    >>> number_clusters(["b", "a", "b"], predictions=[1, 2, 3]), number_clusters(None, predictions=[1, 2])
    (array([0, 1, 0]), array([0, 1]))
    """
    ((_, rows),) = column.items()
    if clusters is None:
        return np.arange(len(rows))
    numbers, _ = factorize("clusters", clusters)
    check_same_length(**column, clusters=numbers)
    return numbers


def has_repeats(numbers: IntArray) -> bool:
    """Return whether a number from 0 on occurs twice.

    >>> has_repeats(np.array([2, 0, 2])), has_repeats(np.arange(3))
    (True, False)
    """
    return len(numbers) > 0 and bool(np.bincount(numbers).max() > 1)  # np.unique takes thirty times as long


def encode_groups(groups: Iterable[Any], group_names: Iterable[Any] | None, length: int) -> tuple[IntArray, list[str]]:
    """Return the number of each row's group, and the groups' names: all that occur, or the given ones.

    >>> encode_groups(["b", "a", "b"], None, 3)
    (array([1, 0, 1]), ['a', 'b'])
    """
    column = [str(value) for value in check_list("groups", groups)]
    if len(column) != length:
        raise ValueError(f"groups has {len(column)} elements for {length} examples: give one per example.")
    names = sorted(set(column)) if group_names is None else [str(name) for name in group_names]
    number_by_name = {name: number for number, name in enumerate(names)}
    if unknown := set(column) - set(names):
        raise ValueError(f"groups holds {min(unknown)!r}, which is not in group_names {names}.")
    return np.fromiter(map(number_by_name.__getitem__, column), np.int64, length), names


def score_by_group(
    groups: Groups,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None,
    length: int,
    score: Callable[[IntArray], dict[str, Any]],
) -> dict[str, Any]:
    """Score each group of rows; a named group without rows is scored on none.

    `groups` is one value per example, or several such columns by name. Results are keyed by `str(value)`.
    """

    def score_column(codes: IntArray, names: Sequence[str]) -> dict[str, Any]:
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
        rows = np.split(np.argsort(codes, kind="stable"), ends)
        return {name: score(members) for name, members in zip(names, rows, strict=True)}

    return apply_by_column(groups, group_names, length, score_column)


def apply_by_column(
    groups: Groups,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None,
    length: int,
    function: Callable[[IntArray, list[str]], dict[str, Any]],
) -> dict[str, Any]:
    """Return what a function makes of the groups of each row; of several columns, a result for each by its name."""
    if isinstance(groups, Mapping):
        names_by_column = group_names if isinstance(group_names, Mapping) else {}
        return {
            name: apply_by_column(column, names_by_column.get(name), length, function)
            for name, column in groups.items()
        }
    names = None if group_names is None or isinstance(group_names, Mapping) else group_names
    return function(*encode_groups(groups, names, length))


def check_integer(name: str, value: Any, minimum: int = 0) -> int:
    """Return an option that is a whole number, of Python or numpy.

    >>> check_integer("seed", np.int64(3))
    3
    >>> check_integer("n_resamples", True)
    Traceback (most recent call last):
    TypeError: n_resamples is True: give a whole number from 0 on.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {shorten_repr(value)}: give a whole number from {minimum} on.")
    if value < minimum:
        raise ValueError(f"{name} is {shorten_repr(value)}: give a whole number from {minimum} on.")
    return int(value)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise unless the option has one of the allowed values."""
    if value not in allowed:
        raise ValueError(f"{name} is {shorten_repr(value)}: choose one of {', '.join(map(repr, allowed))}.")


def _check_finite(name: str, array: FloatArray, hint: str) -> None:
    if not np.isfinite(array).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        index = "".join(f"[{position}]" for position in place)
        raise ValueError(f"{name}{index} is {array[place]}, not a score: {hint}.")


def shorten_repr(value: object, width: int = 60) -> str:
    """Return a value as Python writes it, cut where it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else text[: width - 1] + "…"
