"""Numbers as the page writes them, and tables of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lapsus.results.measuring.records import Estimate, PairedTest

DASH = "–"
MOST_TABLED = 500  # rows of a table that the page shows at most


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table shows: a text, a note below it in small, what the column is sorted by, the unit of the column."""

    text: str
    sort: float | str | None = None
    note: str = ""
    marked: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that every column can sort; a column is a title and its unit, and holds words or numbers."""

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    kinds: Sequence[str]


def table(caption: str, rows: Sequence[Mapping[str, Cell]]) -> Table | None:
    """Lay out rows of cells by the titles of their columns, if there are any; of very many, the first."""
    if not rows:
        return None
    shown = [list(row.values()) for row in rows[:MOST_TABLED]]
    if len(rows) > len(shown):
        caption += f": the first {len(shown):,} of {len(rows):,} rows, all of which are in the files beside this page"
    words = [any(isinstance(cell.sort, str) for cell in column) for column in zip(*shown, strict=True)]
    columns = [(title, cell.unit) for title, cell in rows[0].items()]
    return Table(caption, columns, shown, ["word" if is_word else "number" for is_word in words])


def word(text: str) -> Cell:
    """Show a word."""
    return Cell(text or DASH, text)


def count(value: int | None) -> Cell:
    """Show a count."""
    return Cell(DASH) if value is None else Cell(f"{value:,}", value)


def rate(estimate: Estimate | float | None, unit: str = "%", sign: str = "") -> Cell:
    """Show a fraction in per cent, with its interval below."""
    ends = estimate if isinstance(estimate, Estimate) else (estimate,)
    known = [signed(part, sign) for part in ends if part is not None]
    return Cell(known[0], ends[0], " to ".join(known[1:]), unit=unit) if known else Cell(DASH, unit=unit)


def tested(test: PairedTest | None, tests: int) -> dict[str, Cell]:
    """Show a p-value, and the one corrected by Holm's method for the number of tests, in bold where it is small.

    The smallest difference that the test would find is shown too, since a difference not found may still exist.
    """
    test = test or PairedTest()
    holm = test.p_holm
    return {
        "p": Cell(p_value(test.p_value), test.p_value, test.test or ""),
        "p, Holm": Cell(p_value(holm), holm, marked=test.holds_up, unit=counted(tests, "test")),
        "Would find": rate(test.detectable, "points"),
    }


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "model"), counted(2000, "model")
    ('1 model', '2,000 models')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(value: float | None) -> str:
    """Return a fraction in per cent, with one decimal.

    >>> percent(0.0395), percent(None)
    ('4.0', '–')
    """
    return DASH if value is None else signed(value)


def signed(value: float, sign: str = "") -> str:
    """Return a fraction in per cent with its sign, using the minus sign U+2212; zero has no sign.

    >>> signed(-0.031), signed(0.031, "+"), signed(-0.0, "+")
    ('−3.1', '+3.1', '0.0')
    """
    text = f"{value * 100:{sign}.1f}"
    return "0.0" if text in {"-0.0", "+0.0"} else text.replace("-", "−")


def p_value(value: float | None) -> str:
    """Return a p-value as it is usually written.

    >>> p_value(0.00012), p_value(0.0449), p_value(None)
    ('< 0.001', '0.045', '–')
    """
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
