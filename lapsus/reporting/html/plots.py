"""Plots as inline SVG with the colours and the font of the page; equal numbers give equal bytes.

`arrange_panels` says which plots there are, the `draw_` functions draw one each, and `draw_in_parallel` draws all.
A panel is as wide as a phone, so that text is not scaled; the page sets panels side by side. The colours are those
of Okabe and Ito, which readers with a colour vision deficiency can tell apart, and each comes with its own shape.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from html import escape
from io import BytesIO, StringIO
from math import ceil, floor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.core.terminal import defer_interrupts
from lapsus.reporting.analysis.records import Averages, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Limits = tuple[float, float]


WIDTH = 360  # px: a phone
EDGE = 16  # px left and right of the axis, for half a tick label
FOOT = 42  # px below the axis, for its ticks and its name
# Light colours, each written in one way only, so that the page can have CSS variables in their place.
LIGHT = {
    "ink": "#1c1e21",
    "muted": "#62666c",
    "grid": "#e4e1da",
    "paper": "#ffffff",
    "clean": "#0072b2",
    "average": "#e69f00",
    "worst": "#d55e00",
    "series-0": "#0072b1",
    "series-1": "#d55e01",
    "series-2": "#009e73",
    "series-3": "#cc79a7",
    "series-4": "#e69f01",
    "series-5": "#56b4e9",
    "series-6": "#1c1e22",
}
INK, MUTED, GRID, PAPER, CLEAN, AVERAGE, WORST, *SERIES = LIGHT.values()
PNG_OPTIONS = {"compress_level": 2}  # a third larger than the default, in a fraction of its time
MIN_SEVERITIES = 3  # severities of one noise that make a curve
MIN_PARALLEL = 8  # fewer plots are drawn sooner than processes start
MAX_WORKERS = 4
STATES = ((CLEAN, "o"), (AVERAGE, "D"), (WORST, "s"))
UNCLIPPED: dict[str, Any] = {"clip_on": False}  # a point at the end of the axis is not cut in half
LARGE: dict[str, Any] = {"markersize": 9, "markeredgecolor": PAPER, "zorder": 4} | UNCLIPPED
DISC: dict[str, Any] = {"markersize": 13, "markeredgecolor": AVERAGE, "markeredgewidth": 1.6, "zorder": 4} | UNCLIPPED
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1)),
    (0, (8, 2)),
    (0, (2, 2, 6, 2)),
)


class Panel(NamedTuple):
    """The families of one plot, each with its severity: one family, whose severity is None, or several of one noise."""

    title: str
    families: tuple[tuple[float | None, str], ...]


def arrange_panels(families: Iterable[str]) -> list[Panel]:
    """Return the plots of families: one each, and one for three or more severities of one noise.

    A severity is a percentage at the end of a name, or stands behind "@".

    >>> [panel.title for panel in arrange_panels(["typing", "sounds_5%", "sounds_10%", "sounds_20%"])]
    ['typing', 'sounds']
    """
    names = list(dict.fromkeys(families))
    severities: dict[tuple[str, str], list[tuple[float, str]]] = {}
    name_parts: dict[str, tuple[str, str]] = {}
    for name in names:
        match = re.fullmatch(r"(.+?)[_ -]?(\d+(?:\.\d+)?)(%)", name) or re.fullmatch(r"(.+?)@(\d+(?:\.\d+)?)()", name)
        if match:
            name_parts[name] = (match[1], match[3])
            severities.setdefault(name_parts[name], []).append((float(match[2]), name))
    panels_by_key: dict[str, Panel] = {}
    for name in names:
        series = sorted(severities[name_parts[name]]) if name in name_parts else []
        title, unit = name_parts.get(name, (name, ""))
        if len(series) >= MIN_SEVERITIES:
            panels_by_key[f"{title}@{unit}"] = Panel(title, tuple(series))
        else:
            panels_by_key[name] = Panel(name, ((None, name),))
    return list(panels_by_key.values())


def make_anchors(key: str, families: Iterable[str]) -> dict[str, str]:
    """Return the anchor of each family's plot on the page.

    >>> make_anchors("d0", ["typing", "speech"])["speech"]
    'd0-overview-1'
    """
    return {
        family: f"{key}-overview-{number}"
        for number, panel in enumerate(arrange_panels(families))
        for _, family in panel.families
    }


class Plot(NamedTuple):
    """A plot: SVG for the page, its height there, and PNG in light colours with two pixels per point."""

    svg: str
    height: float
    png: bytes

    def to_standalone_svg(self) -> str:
        """Return the SVG as a file of its own, in light colours."""
        svg = re.sub(r"var\(--([\w-]+)\)", lambda match: LIGHT[match[1]], self.svg)
        size = f'width="{WIDTH}" height="{self.height:g}" font-family="sans-serif"'
        spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        return svg.replace("<svg ", f"<svg {spaces} {size} ", 1) + "\n"


class Mark(NamedTuple):
    """An estimate in a plot, at its height."""

    y: float
    value: float
    interval: Sequence[float] | None


def compute_axis_limits(values: Iterable[float | None]) -> Limits:
    """Return the ends of an axis that holds all values, in steps of ten per cent, or of twenty where it is long.

    >>> compute_axis_limits([0.62, 0.913, None]), compute_axis_limits([0.21, 0.9])
    ((0.6, 1.0), (0.2, 1.0))
    """
    known = [value for value in values if value is not None]
    low, high = floor(min(known) * 10), ceil(max(known) * 10)
    while high - low < 3:
        low, high = max(0, low - 1), min(10, high + 1)
    if high - low > 6:
        low, high = low - low % 2, high + high % 2
    return low / 10, high / 10


def draw_slopes(name: str, title: str, rows: Sequence[tuple[str, Averages, int]], axis: Limits) -> Plot:
    """Draw the clean, average and worst score of every row as steps downwards, with the numbers beside its name.

    A row is a name, its averages and the number of its annotators; with one annotator, worst and average are equal.
    """
    step, lane = 60, 10
    with _open_panel(step * len(rows)) as (figure, axes):
        marks_by_state: list[list[Mark]] = [[] for _ in STATES]
        for number, (text, averages, annotators) in enumerate(rows):
            scores = (averages.clean_average, averages.micro_average, averages.worst_average)
            known = [(state, value, score) for state, score in enumerate(scores) if (value := score.value) is not None]
            points = [point for point in known if annotators > 1 or point[0] < 2]
            lanes = [step * number + 28 + lane * place for place in range(len(points))]
            axes.plot([value for _, value, _ in points], lanes, color=MUTED, linewidth=1.2, zorder=2)
            for y, (state, value, score) in zip(lanes, points, strict=True):
                marks_by_state[state].append(Mark(y, value, score.interval))
            _draw_row_heading(
                axes, step * number + 16, text, " → ".join(f"{value * 100:.1f}" for _, value, _ in points)
            )
        for (colour, marker), marks in zip(STATES, marks_by_state, strict=True):
            _draw_intervals(axes, marks, colour)
            axes.plot([mark.value for mark in marks], [mark.y for mark in marks], marker, color=colour, **LARGE)
        _draw_axis(axes, axis)
        return _render(figure, name, title)


def draw_annotators(
    name: str, title: str, rows: Sequence[tuple[str, float | None, Sequence[tuple[str, Estimate]]]], axis: Limits
) -> Plot:
    """Draw the average of every annotator as its number, row by row, beside a line for clean.

    A row is a name, its clean average, and the number and average of each of its annotators.
    """
    step = 18
    with _open_panel(sum(32 + step * len(tracks) for _, _, tracks in rows)) as (figure, axes):
        top = 0
        marks: list[Mark] = []
        for text, clean, tracks in rows:
            _draw_row_heading(axes, top + 16, text, "")
            first = top + 32
            if clean is not None:
                last = first + step * (len(tracks) - 1)
                axes.plot([clean, clean], [first - 9, last + 9], color=CLEAN, linewidth=2.5, zorder=2, **UNCLIPPED)
            for number, (annotator, score) in enumerate(tracks):
                if score.value is None:
                    continue
                y = first + step * number
                marks.append(Mark(y, score.value, score.interval))
                axes.text(score.value, y, annotator[:3], ha="center", va="center_baseline", fontsize=9, zorder=5)
            top += 32 + step * len(tracks)
        _draw_intervals(axes, marks, AVERAGE)
        axes.plot([mark.value for mark in marks], [mark.y for mark in marks], "o", color=PAPER, **DISC)
        _draw_axis(axes, axis)
        return _render(figure, name, title)


class Line(NamedTuple):
    """A line of a plot: its name, the number of its colour, and its points, each a place and a score."""

    text: str
    colour: int
    points: Sequence[tuple[float, Estimate]]


def draw_curves(name: str, title: str, lines: Sequence[Line], axis: Limits, x_label: str, x_max: float) -> Plot:
    """Draw scores against what `x_label` names, from 0 to `x_max`, one line each."""
    legend_height = 18 * ceil(len(lines) / 2) + 4 if len(lines) > 1 else 0
    with _open_panel(220, legend_height) as (figure, axes):
        for text, number, points in lines:
            colour = SERIES[number % 7]
            style = {"color": colour, "marker": MARKERS[number % 7], "linestyle": DASHES[number % 7], **UNCLIPPED}
            known = [(place, value, score.interval) for place, score in points if (value := score.value) is not None]
            x, y = [place for place, _, _ in known], [value for _, value, _ in known]
            axes.plot(
                x, y, label=_shorten(text, 24), markersize=7, linewidth=2, markeredgecolor=PAPER, zorder=3, **style
            )
            with_interval = [(place, interval) for place, _, interval in known if interval]
            if with_interval:
                ends = zip(*(interval for _, interval in with_interval), strict=True)
                axes.vlines(
                    [place for place, _ in with_interval], *ends, color=colour, alpha=0.45, linewidth=1.6, zorder=2
                )
        axes.set_ylim(axis[0] - 0.01, axis[1] + 0.01)
        axes.set_xlim(-0.03 * x_max, 1.03 * x_max)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:.0f}")
        axes.set_xlabel(x_label)
        axes.text(0, 1.03, "average score (%)", transform=axes.transAxes)
        axes.grid(axis="y", color=GRID)
        axes.spines["bottom"].set_color(MUTED)
        axes.set_position(
            (
                30 / WIDTH,
                (FOOT + legend_height) / (220 + FOOT + legend_height),
                (WIDTH - 30 - 8) / WIDTH,
                194 / (220 + FOOT + legend_height),
            )
        )
        if legend_height:
            figure.legend(loc="lower left", ncols=2, bbox_to_anchor=(0.0, 0.0), borderaxespad=0, handlelength=2.8)
        return _render(figure, name, title)


class Contrasts(NamedTuple):
    """A panel with a scale of its own: its name, and its rows: a name and differences, each by its place in the key."""

    text: str
    rows: Sequence[tuple[str, Sequence[tuple[int, Estimate]]]]


def draw_contrasts(name: str, title: str, panels: Sequence[Contrasts], legend: Sequence[str]) -> Plot:
    """Draw differences and their intervals beside a line at 0, in a panel each for scales that cannot be compared."""
    lane, head, foot = 14, 30, 26
    heights = [head + sum(8 + lane * len(estimates) for _, estimates in panel.rows) for panel in panels]
    legend_height = 18 * len(legend) + 4
    with _open_panel(sum(heights) + foot * len(panels) - FOOT, legend_height) as (figure, legend_axes):
        legend_axes.set_visible(False)
        total, top, left = figure.get_figheight() * 72, 0.0, 110
        for panel, height in zip(panels, heights, strict=True):
            place = (left / WIDTH, 1 - (top + height) / total, (WIDTH - left - EDGE) / WIDTH, (height - head) / total)
            axes = figure.add_axes(place)
            axes.set_ylim(height - head, 0)
            axes.set_yticks([])
            axes.axvline(0, color=MUTED, linewidth=1.2, zorder=1)
            y = 0.0
            for text, estimates in panel.rows:
                middle = y + 4 + lane * len(estimates) / 2
                axes.annotate(
                    _shorten(text, 16), (-8, middle), xycoords=("axes pixels", "data"), ha="right", va="center"
                )
                y += 4 + lane / 2
                for number, estimate in estimates:
                    colour = SERIES[number % 7]
                    if estimate.interval:
                        axes.plot(estimate.interval, [y, y], color=colour, linewidth=2.2, zorder=2)
                    if estimate.value is not None:
                        axes.plot(estimate.value, y, MARKERS[number % 7], color=colour, markersize=7, zorder=3)
                    y += lane
                y += 4 - lane / 2
            axes.locator_params(axis="x", nbins=5)
            axes.grid(axis="x", color=GRID, zorder=0)
            axes.annotate(
                _shorten(panel.text, 46),
                (EDGE / WIDTH, 1 - (top + head - 12) / total),
                xycoords="figure fraction",
                weight="bold",
            )
            top += height + foot
        for number, text in enumerate(legend):
            legend_axes.plot([], [], MARKERS[number % 7], color=SERIES[number % 7], label=text)
        handles, labels = legend_axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower left", ncols=1, bbox_to_anchor=(0.0, 0.0), borderaxespad=0)
        return _render(figure, name, title)


@contextmanager
def _open_panel(height: float, legend_height: float = 0) -> Iterator[tuple[Figure, Axes]]:
    """Give a panel whose y axis counts px downwards, in the place-holder colours."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style = {
        "svg.fonttype": "none",  # text as text, not paths: the page's font, selectable
        "font.size": 11,
        "text.parse_math": False,  # no math: a model may be named $x$
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.unicode_minus": False,
        "axes.edgecolor": MUTED,
        "axes.spines.left": False,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.axisbelow": True,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.major.size": 3,
        "ytick.major.size": 0,
        "legend.frameon": False,
    }
    with rc_context(style):
        total_height = height + FOOT + legend_height
        figure = Figure(figsize=(WIDTH / 72, total_height / 72))
        axes = figure.add_axes(
            (EDGE / WIDTH, (FOOT + legend_height) / total_height, 1 - 2 * EDGE / WIDTH, height / total_height)
        )
        axes.set_ylim(height, 0)
        yield figure, axes


def _draw_axis(axes: Axes, axis: Limits) -> None:
    """Give the axis of scores its ends, its lines and its name."""
    axes.set_xlim(*axis)
    axes.set_yticks([])
    steps = round((axis[1] - axis[0]) * 10)
    axes.set_xticks([axis[0] + number / 10 for number in range(0, steps + 1, 2 if steps > 6 else 1)])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value * 100:.0f}")
    axes.grid(axis="x", color=GRID, zorder=0)
    axes.set_xlabel("average score (%)")


def _draw_row_heading(axes: Axes, y: float, text: str, numbers: str) -> None:
    """Write a row's name above it on the left, and its numbers on the right."""
    side: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "zorder": 6, "va": "baseline"}
    axes.text(-EDGE / (WIDTH - 2 * EDGE), y, _shorten(text, 30 if numbers else 46), weight="bold", **side)
    axes.text(1 + EDGE / (WIDTH - 2 * EDGE), y, numbers, ha="right", **side)


def _draw_intervals(axes: Axes, marks: Sequence[Mark], colour: str) -> None:
    """Draw the interval of each mark at its height."""
    known = [(mark.y, *mark.interval) for mark in marks if mark.interval]
    if known:
        axes.hlines(*zip(*known, strict=True), color=colour, linewidth=2.5, zorder=3)


def _shorten(text: str, max_width: int) -> str:
    """Shorten a name to the width of `max_width` Latin letters, keeping both ends."""
    if _measure_width(text) <= max_width:
        return text
    head = tail = ""
    for left, right in zip(text, reversed(text), strict=True):
        if _measure_width(head + left + tail) >= max_width:
            break
        head += left
        if _measure_width(head + right + tail) >= max_width:
            break
        tail = right + tail
    return f"{head}…{tail}"


def _measure_width(text: str) -> int:
    """Return the approximate width of a text in Latin letters; East Asian wide characters count as two."""
    return sum(2 if letter > "\u2e80" else 1 for letter in text)


def _render(figure: Figure, name: str, title: str) -> Plot:
    """Return the figure as SVG and PNG."""
    from matplotlib import rc_context

    vectors, pixels = StringIO(), BytesIO()
    with rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the page's font has it
        figure.savefig(vectors, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        figure.savefig(
            pixels, format="png", dpi=144, facecolor="white", metadata={"Software": None}, pil_kwargs=PNG_OPTIONS
        )
    height = figure.get_figheight() * 72
    return Plot(_inline_svg(vectors.getvalue(), height, name, title), height, pixels.getvalue())


def _inline_svg(svg: str, height: float, name: str, title: str) -> str:
    """Return an SVG for inlining: without a width, with CSS colours and font, and with unique ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    used_ids = set(re.findall(r"(?:url\(#|href=\"#)([^\")]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used_ids else "", svg)
    svg = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?|<style.*?</style>", "", svg, flags=re.DOTALL)  # left to the page
    for variable, colour in LIGHT.items():
        svg = svg.replace(colour, f"var(--{variable})")
    opening = f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {height:g}">'
    return re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1).strip()


@contextmanager
def draw_in_parallel(plots: Sequence[Callable[[], Plot]]) -> Iterator[Iterator[Plot]]:
    """Start to draw plots, each a call that can be pickled, and give them in their order.

    Few plots are drawn in this process. Workers are forked, which only Linux does safely; spawned processes would run
    the user's script again.

    >>> from functools import partial
    >>> from lapsus.reporting.html.plots import draw_curves
    >>> calls = [partial(draw_curves, name, "Nothing", [], (0.0, 1.0), "severity", 1.0) for name in "ab"]
    >>> with draw_in_parallel(calls) as drawings:
    ...     ['id="a-' in drawing.svg for drawing in drawings]
    [True, False]
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if len(plots) < MIN_PARALLEL or cores == 1:
        yield map(_call, plots)
        return
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg  # noqa: F401 - once, before the processes that all need them

    with ProcessPoolExecutor(min(cores, MAX_WORKERS), get_context("fork")) as pool:
        with defer_interrupts():
            drawings = pool.map(_call, plots)
        try:
            yield drawings
        finally:
            pool.shutdown(cancel_futures=True)


def _call(plot: Callable[[], Plot]) -> Plot:
    return plot()
