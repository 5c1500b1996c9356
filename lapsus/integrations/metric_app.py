"""The app of a metric's Space: a file or JSON in, numbers and a plot out, and its documentation below.

>>> compute_from_json(lambda predictions: {"sum": sum(predictions)}, '{"predictions": [2, 3]}')
{'sum': 5}
"""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus import metrics
from lapsus.core.messages import USER_ERRORS, format_error
from lapsus.io.readers import FORMATS
from lapsus.reporting.score import list_metric_columns, score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

MAX_POINTS = 24  # of a plot
MAX_RESAMPLES = 100_000  # of an interval
NO_SCORES = ("se", "p_value", "df", "variance", "log_likelihood")  # ends of the keys that are no scores


class Point(NamedTuple):
    """A number of a result, and its interval where it has one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def compute_from_json(metric: Callable[..., dict[str, Any]], text: str) -> dict[str, Any]:
    """Return the metric's result for a JSON object of its columns and options."""
    try:
        columns_and_options = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"The input is no JSON ({error}): write one object, as in the example.") from None
    if not isinstance(columns_and_options, dict):
        raise TypeError(f"The input is {text[:40]!r}: write one JSON object, as in the example.")
    _check_resamples(columns_and_options)
    return metric(**columns_and_options)


def compute_from_files(name: str, files: Sequence[str] | None, options: str) -> dict[str, Any]:
    """Return the metric's result for uploaded files, as `lapsus score` does; options are lines of NAME=VALUE.

    A file that an option names by its name, as in original_predictions=clean.jsonl, is none of the predictions.
    """
    if not files:
        raise ValueError("There is no file: upload one, or click on the example below.")
    uploads = {Path(file).name: Path(file) for file in files}
    option_files: set[str] = set()
    arguments: dict[str, str] = {}
    for line in filter(None, map(str.strip, options.splitlines())):
        option, equals, value = map(str.strip, line.partition("="))
        if not equals:
            raise ValueError(f"The option {line!r} has no value: write NAME=VALUE, such as confidence_level=0.99.")
        if option in arguments:
            raise ValueError(f"The option {option!r} is given twice: give it once.")
        parts = {value, *value.split(",")}
        option_files |= uploads.keys() & {*parts, *(part.rpartition(":")[0] for part in parts)}
        arguments[option] = value
    _check_resamples(arguments)
    predictions = [path for path in map(Path, files) if path.name not in option_files]
    try:  # who wrote the options is not who owns the server: they name no other file of it
        return score(name, predictions, options=arguments, option_files=uploads)
    except USER_ERRORS as error:
        message = format_error(error)
        for file in files:  # the visitor knows the file by its name, not by where the server keeps it
            message = message.replace(file, Path(file).name)
        raise ValueError(message) from error


def _check_resamples(options: Mapping[str, Any]) -> None:
    """Refuse more resamples than a server can share with others.

    >>> _check_resamples({"n_resamples": "1e9"})
    Traceback (most recent call last):
    ValueError: n_resamples is 1e9: give at most 100000 here, or install lapsus.
    """
    value = options.get("n_resamples", 0)
    try:
        is_too_many = float(value) > MAX_RESAMPLES
    except OverflowError:
        is_too_many = True
    except (TypeError, ValueError):  # the metric says what is wrong with it
        is_too_many = False
    if is_too_many:
        raise ValueError(f"n_resamples is {str(value)[:20]}: give at most {MAX_RESAMPLES} here, or install lapsus.")


def read_documentation(name: str) -> str:
    """Return the card of a metric without its YAML.

    >>> read_documentation("win_rate").splitlines()[0]
    '# Win rate: how often one score beats another'
    """
    card = (metrics.FOLDER / name / "README.md").read_text(encoding="utf-8")
    return card.partition("\n---\n")[2].strip()


def split_example(name: str, example: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a metric's example as the rows of a file, and its options as NAME=VALUE.

    >>> split_example("win_rate", {"predictions": [2, 3], "references": [1, 3], "ties": "half"})
    ([{'predictions': 2, 'references': 1}, {'predictions': 3, 'references': 3}], ['ties=half'])
    """
    columns = {key: values for key, values in example.items() if key in list_metric_columns(name)}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    known = inspect.signature(metrics.load_metrics()[name]).parameters
    options = {key: key for key in columns if known[key].default is not known[key].empty}
    options |= {key: value for key, value in example.items() if key not in columns}
    return rows, [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in options.items()]


def extract_points(result: Mapping[str, Any]) -> list[Point]:
    """Return the scores of a result: those with an interval, or all where none has one.

    >>> extract_points({"accuracy": 0.5, "accuracy_ci": [0.2, 0.8], "examples": 4, "share": 0.1})
    [Point(name='accuracy', value=0.5, low=0.2, high=0.8)]
    >>> extract_points({"f1": 0.5, "types": {"date": {"f1": 1.0, "counts": {"true": 1}}}})
    [Point(name='f1', value=0.5, low=None, high=None), Point(name='types, date, f1', value=1.0, low=None, high=None)]
    """
    all_points = list(_iter_points(result, ""))
    with_interval = [point for point in all_points if point.low is not None]
    return (with_interval or all_points)[:MAX_POINTS]


def _iter_points(result: Mapping[str, Any], prefix: str) -> Iterator[Point]:
    for key, value in result.items():
        if isinstance(value, Mapping):
            yield from _iter_points(value, f"{prefix}{key}, ")
        elif isinstance(value, float) and not key.endswith((*NO_SCORES, "_p")) and "p_value" not in key:
            interval = result.get("ci" if key == "estimate" else f"{key}_ci") or (None, None)
            yield Point(f"{prefix}{key}", value, *interval)


def draw_points(result: Mapping[str, Any]) -> Figure | None:
    """Draw the scores of a result, with their intervals; None where it has no scores."""
    from matplotlib.figure import Figure

    scores = extract_points(result)
    if not scores:
        return None
    figure = Figure(figsize=(7, 0.8 + 0.4 * len(scores)), layout="constrained")
    axes = figure.add_subplot()
    for place, point in enumerate(reversed(scores)):
        if point.low is not None and point.high is not None:
            axes.plot([point.low, point.high], [place, place], color="#0072b2", linewidth=2, solid_capstyle="butt")
        axes.plot(point.value, place, "o", color="#0072b2")
        axes.annotate(f"{point.value:.3g}", (point.value, place), (0, 5), textcoords="offset points", ha="center")
    axes.set_yticks(range(len(scores)), [point.name.replace("_", " ") for point in reversed(scores)])
    axes.set_ylim(-0.5, len(scores) - 0.2)
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure


def build_app(metric: Callable[..., dict[str, Any]], example: dict[str, Any]) -> Any:
    """Return the gradio app of a metric, filled with an example."""
    import gradio

    name = metric.__name__
    rows, options = split_example(name, example)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file = Path(tempfile.mkdtemp()) / f"{name}.jsonl"
    file.write_text(lines, encoding="utf-8")
    page = read_documentation(name)
    title, _, rest = page.partition("\n")

    def run_and_draw(make: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], Figure | None]:
        try:
            result = make()
        except USER_ERRORS as error:
            raise gradio.Error(format_error(error), print_exception=False) from None
        return result, draw_points(result)

    with gradio.Blocks(title=name, analytics_enabled=False) as blocks:
        gradio.Markdown(title)
        with gradio.Tab("File"):
            files = gradio.File(
                label="Rows with the columns " + ", ".join(rows[0]), file_types=sorted(FORMATS), file_count="multiple"
            )
            options_input = gradio.Textbox(label="Options, one NAME=VALUE per line", lines=2)
            gradio.Examples([[[str(file)], "\n".join(options)]], [files, options_input], label="Example (click it)")
            score_files = gradio.Button("Score", variant="primary")
        with gradio.Tab("JSON"):
            text = gradio.Code(json.dumps(example, ensure_ascii=False, indent=1), language="json", label="Input")
            score_text = gradio.Button("Score", variant="primary")
        plot_output = gradio.Plot(label="Scores, with their intervals")
        result = gradio.JSON(label="Result")
        gradio.Markdown(rest)
        score_files.click(
            lambda files, options: run_and_draw(lambda: compute_from_files(name, files, options or "")),
            [files, options_input],
            [result, plot_output],
            api_name="files",
        )
        score_text.click(
            lambda text: run_and_draw(lambda: compute_from_json(metric, text)),
            text,
            [result, plot_output],
            api_name=name,
        )
    return blocks
