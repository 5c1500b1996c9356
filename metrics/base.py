"""The base class of the evaluate modules: it raises on values that `evaluate` would silently convert.

Modules must `import lapsus.metrics.base`, not the class: evaluate loads the first metric class it finds in
a module.
"""

from __future__ import annotations

import abc
import inspect
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import evaluate
import numpy as np
import pyarrow as pa

from lapsus.core.checks import check_same_length, materialise, shorten_repr

if TYPE_CHECKING:
    import datasets

ROWS_PER_WRITE = 1000
ROWS_PER_BATCH = 100_000
CODES = {pa.int64(): "q", pa.float64(): "d"}
PAIR = ("predictions", "references")


class StrictMetric(evaluate.Metric, metaclass=abc.ABCMeta):  # type: ignore[misc]  # evaluate has no types
    """A metric whose columns are checked element by element, before Arrow sees them.

    The docstring of a subclass is its description. It sets the three constants, and `_compute = as_method(function)`,
    where the function takes the columns of `FEATURES`, and options.
    """

    CITATION: ClassVar[str]  # BibTeX, of lapsus.metrics.citations
    FEATURES: ClassVar[datasets.Features | list[datasets.Features]]  # in a list, the first that fits is used
    EXAMPLE: ClassVar[dict[str, Any]]  # example columns and options, shown in the app of its Space

    selected_feature_format: datasets.Features | None

    @abc.abstractmethod
    def _compute(self) -> dict[str, Any]: ...

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.getdoc(type(self)),
            citation=self.CITATION,
            inputs_description=inspect.getdoc(self._compute),
            features=self.FEATURES,
        )

    def __init__(
        self, config_name: str | None = None, keep_in_memory: bool = False, *, num_process: int = 1, **kwargs: Any
    ) -> None:
        # In memory: no cache file that a failed or a second instance could keep locked.
        in_memory = keep_in_memory or num_process == 1
        super().__init__(config_name, keep_in_memory=in_memory, num_process=num_process, **kwargs)
        self.info.format = "arrow"  # columns reach `_compute` unconverted
        self._waiting: dict[str, list[Any]] = {}
        self._column_types: dict[str, pa.DataType] = {}

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one example.

        Args:
            prediction: of this example.
            reference: of this example.
            **kwargs: its other columns.
        """
        values = {"predictions": prediction, "references": reference, **kwargs}
        row = {
            name: _materialise(name, value) for name, value in values.items() if value is not None or name not in PAIR
        }
        kinds = self._choose_types({name: [value] for name, value in row.items()})
        for name, value in row.items():
            if not has_type(value, kinds[name]):
                raise TypeError(f"{name} is {shorten_repr(value)}: {suggest_fix(value, kinds[name])}.")
        for name, value in row.items():
            self._waiting.setdefault(name, []).append(value)
        if len(self._waiting["predictions"]) >= ROWS_PER_WRITE:
            self._write_waiting()

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add several examples.

        Args:
            predictions: one per example.
            references: one per example.
            **kwargs: the other columns.
        """
        columns = {"predictions": predictions, "references": references, **kwargs}
        table = self._build_table(
            {name: materialise(name, column) for name, column in columns.items() if column is not None}
        )
        self._write_waiting()
        self._write(table)

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Score these examples, or those that `add` and `add_batch` were given.

        Args:
            predictions: one per example.
            references: one per example.
            **kwargs: the other columns, and options.
        """
        columns = {"predictions": predictions, "references": references, **kwargs}
        waiting = len(self) + len(self._waiting.get("predictions", ()))
        if waiting and any(columns.get(name) is not None for name in self._feature_names()):
            raise ValueError(
                f"{self.name} still holds {waiting} examples of add or add_batch, which would be scored with these: "
                "call compute() without columns first."
            )
        result: dict[str, Any] | None = evaluate.Metric.compute(
            self, predictions=predictions, references=references, **kwargs
        )
        return result

    def _build_table(self, columns: dict[str, Any]) -> pa.Table:
        kinds = self._choose_types(columns)
        arrays = {name: to_arrow_column(name, columns[name], kind) for name, kind in kinds.items()}
        check_same_length(**arrays)
        return pa.table(arrays)

    def _choose_types(self, columns: dict[str, Any]) -> dict[str, pa.DataType]:
        """Return the Arrow type of each column; of several declared, the first that fits the first example."""
        expected = self._feature_names()
        if columns.keys() != set(expected):
            raise ValueError(
                f"{self.name} was given {', '.join(columns) or 'no columns'}: it needs {', '.join(expected)}."
            )
        if self.writer is None and not self._waiting:
            choices = self.features if isinstance(self.features, list) else [self.features]
            firsts = {name: next(iter(column), None) for name, column in columns.items()}
            schemas = [features.arrow_schema for features in choices]
            fitting = (all(has_type(firsts[field.name], field.type) for field in schema) for schema in schemas)
            index = next((number for number, fit in enumerate(fitting) if fit), None)
            if index is None:
                _check_first_values(firsts, schemas)
                index = 0
            self.selected_feature_format = choices[index]
            self._column_types = {name: schemas[index].field(name).type for name in expected}
        return self._column_types

    def _write_waiting(self) -> None:
        if self._waiting:
            columns, self._waiting = self._waiting, {}
            self._write(self._build_table(columns))

    def _write(self, table: pa.Table) -> None:
        if self.writer is None:
            self._init_writer()
        self.writer.write_table(table, ROWS_PER_BATCH)

    def _finalize(self) -> None:
        self._write_waiting()
        if self.writer is None and self.buf_writer is None and self.num_process == 1:
            raise ValueError(f"{self.name} has nothing to score: add examples, or give them to compute.")
        super()._finalize()


def to_compute_method(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Turn a plain function into the `_compute` of a metric: Arrow columns are converted, parameter names are kept.

    >>> def total(predictions, *, scale=1):
    ...     return {"total": scale * sum(predictions)}
    >>> inspect.signature(to_compute_method(total))
    <Signature (self, predictions, *, scale=1)>
    >>> to_compute_method(total)(None, predictions=pa.array([1, 2]))
    {'total': np.int64(3)}
    """

    @wraps(function)
    def compute(_self: StrictMetric, **columns_and_options: Any) -> dict[str, Any]:
        return function(
            **{
                name: to_numpy_or_list(value) if isinstance(value, (pa.Array, pa.ChunkedArray)) else value
                for name, value in columns_and_options.items()
            }
        )

    signature = inspect.signature(function)
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    compute.__signature__ = signature.replace(parameters=[self_parameter, *signature.parameters.values()])  # type: ignore[attr-defined]
    return compute


def to_arrow_column(name: str, values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    """Return the values as an Arrow array of this type; raise a TypeError that names the first value of another type.

    >>> to_arrow_column("predictions", [1, 2.5], pa.int64())
    Traceback (most recent call last):
    TypeError: predictions[1] is 2.5: give a whole number.
    """
    values = materialise(name, values)
    if pa.types.is_struct(kind):
        return _to_struct(name, values, kind)
    try:
        arrow_array = _infer_array(values, kind)
        if accepts_type(arrow_array.type, kind) and not arrow_array.null_count:
            return arrow_array.cast(kind)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError):
        pass  # mixed types: check each element
    elements = []
    for index, value in enumerate(values):
        try:
            elements.append(pa.array([value]).cast(kind) if has_type(value, kind) else None)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError):
            elements.append(None)
        if elements[-1] is None:
            raise TypeError(f"{name}[{index}] is {shorten_repr(value)}: {suggest_fix(value, kind)}.")
    return pa.concat_arrays(elements)


def _materialise(name: str, value: Any) -> Any:
    """Return one example's value in a form that can be read more than once (an iterator becomes a list)."""
    (value,) = materialise(name, [value])
    return list(value) if isinstance(value, Iterator) else value


def _infer_array(values: Any, kind: pa.DataType) -> pa.Array:
    """Return the values as an Arrow array of their own type; raise where they have no common type."""
    if isinstance(values, np.ndarray):
        if values.ndim > 2:
            raise TypeError(values.shape)
        flat = pa.array(values.ravel())
        return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    if kind in CODES:  # as strict as Arrow's inference, but faster
        return pa.array(np.array(array(CODES[kind], values)))
    return pa.array(values)


def _to_struct(name: str, values: Iterable[Any], kind: pa.StructType) -> pa.Array:
    rows = list(values)
    fields = [field.name for field in kind]
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or not row.keys() >= set(fields):
            raise TypeError(f"{name}[{index}] is {shorten_repr(row)}: {suggest_fix(row, kind)}.")
    parts = [to_arrow_column(f"{name} {field.name}", [row[field.name] for row in rows], field.type) for field in kind]
    return pa.StructArray.from_arrays(parts, fields=list(kind))


def accepts_type(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Return whether every value of the found type is acceptable as the wanted type."""
    if pa.types.is_null(actual):
        return True
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(actual) or pa.types.is_large_list(actual) or pa.types.is_fixed_size_list(actual)
        return is_list and accepts_type(actual.value_type, expected.value_type)
    if pa.types.is_struct(expected):
        names = {field.name for field in expected}
        return (
            bool(pa.types.is_struct(actual))
            and {field.name for field in actual} == names
            and all(accepts_type(actual.field(name).type, expected.field(name).type) for name in names)
        )
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(actual) or pa.types.is_large_string(actual))
    is_integral = pa.types.is_integer(actual) or pa.types.is_boolean(actual)
    return bool(is_integral or (pa.types.is_floating(expected) and pa.types.is_floating(actual)))


def has_type(value: Any, kind: pa.DataType) -> bool:
    """Return whether a Python value has the type without conversion; elements of a list may be None."""
    if pa.types.is_struct(kind):
        return isinstance(value, dict) and all(has_type(value.get(field.name), field.type) for field in kind)
    if pa.types.is_list(kind):
        is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict, set, frozenset))
        return is_list and all(element is None or has_type(element, kind.value_type) for element in value)
    if pa.types.is_string(kind):
        return isinstance(value, str)
    return isinstance(value, (Integral if pa.types.is_integer(kind) else Real, np.bool_))


def _check_first_values(firsts: dict[str, Any], schemas: list[pa.Schema]) -> None:
    """Raise if the first value of a column fits none of the declared types."""
    for name, value in firsts.items():
        kinds = list(dict.fromkeys(schema.field(name).type for schema in schemas))
        if value is not None and len(kinds) > 1 and not any(has_type(value, kind) for kind in kinds):
            expected = " or ".join(dict.fromkeys(map(_describe_type, kinds)))
            raise TypeError(f"{name}[0] is {shorten_repr(value)}: give {expected}.")


def suggest_fix(value: Any, kind: pa.DataType) -> str:
    """Return what to give instead of a value that has not the type.

    >>> suggest_fix(None, pa.float64()), suggest_fix("0.5", pa.float64())
    ('give a number, or leave the example out', "give a number; float('0.5') makes one")
    >>> suggest_fix("Paris", pa.list_(pa.string()))
    "give a list of texts, as in ['Paris']"
    """
    suggestion = f"give {_describe_type(kind)}"
    if value is None:
        return f"{suggestion}, or leave the example out"
    if pa.types.is_list(kind) and has_type(value, kind.value_type):
        return f"{suggestion}, as in {shorten_repr([value])}"
    if pa.types.is_string(kind) and isinstance(value, str):
        return f"{suggestion} of whole characters; this one holds half of a surrogate pair"
    if pa.types.is_integer(kind) and isinstance(value, Integral):
        return f"{suggestion} of at most 64 bits"
    convert = str if pa.types.is_string(kind) else int if pa.types.is_integer(kind) else float
    return (
        f"{suggestion}; {convert.__name__}({shorten_repr(value)}) makes one"
        if _converts_losslessly(convert, value)
        else suggestion
    )


def _converts_losslessly(convert: type, value: Any) -> bool:
    """Return whether a text or number is turned into another type without a loss."""
    if not isinstance(value, (str, int, float, np.number)):
        return False
    try:
        return convert is str or float(convert(value)) == float(value)
    except (ValueError, OverflowError):
        return False


def _describe_type(kind: pa.DataType) -> str:
    """Return what users call the type."""
    if pa.types.is_struct(kind):
        return f"a dictionary with {' and '.join(field.name for field in kind)}"
    if pa.types.is_list(kind):
        element = _describe_type(kind.value_type)
        return (
            f"a list, each element of it {element}"
            if pa.types.is_nested(kind.value_type)
            else f"a list of {element[2:]}s"
        )
    return "a text" if pa.types.is_string(kind) else "a whole number" if pa.types.is_integer(kind) else "a number"


def to_numpy_or_list(column: pa.Array | pa.ChunkedArray) -> Any:
    """Return a column as numpy where it holds numbers, with a mask where some are missing; else as a list."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_list(values.type) and _is_number(values.type.value_type):
        widths = np.diff(values.offsets.to_numpy())
        if len(widths) and (widths == widths[0]).all() and widths[0] and not values.null_count:
            flat = values.flatten()
            numbers = flat.fill_null(0).to_numpy(zero_copy_only=False).reshape(len(widths), -1)
            missing = flat.is_null().to_numpy(zero_copy_only=False).reshape(numbers.shape)
            return np.ma.MaskedArray(numbers, missing) if flat.null_count else numbers
    elif _is_number(values.type):
        return values.to_numpy(zero_copy_only=False)
    return values.to_pylist()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
