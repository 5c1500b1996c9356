"""Tables of the page.

A cell function (`rate_cell`, `count_cell`, …) formats one value, `make_table` lays cells out, and `to_markdown` and
`to_latex` write the table for notes and papers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lapsus.reporting.analysis.records import Estimate, PairedTest, is_significant

DASH = "–"
SUGGESTIVE = "°"  # marks an exploratory test that is below 5 % after its correction
EXPLORATORY = "p, BH"  # the column of p-values corrected by Benjamini and Hochberg
MAX_ROWS = 500  # rows of a table on the page, at most
LATEX = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "−": "$-$", DASH: "--"} | {
    letter: f"\\{letter}" for letter in "&%$#_{}"
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, the value that the column sorts by, a small note below the text, and the unit of the column."""

    text: str
    sort: float | str | None = None
    note: str = ""
    bold: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table on the page; a column is a title and its unit, and its kind is "word" or "number"."""

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    kinds: Sequence[str]


def make_table(caption: str, rows: Sequence[Mapping[str, Cell]]) -> PageTable | None:
    """Lay out rows of cells by column title, at most MAX_ROWS; None without rows."""
    if not rows:
        return None
    cell_rows = [list(row.values()) for row in rows[:MAX_ROWS]]
    if len(rows) > len(cell_rows):
        caption += f": the first {len(cell_rows):,} of {len(rows):,} rows; the files beside this page hold all"
    words = [any(isinstance(cell.sort, str) for cell in column) for column in zip(*cell_rows, strict=True)]
    columns = [(title, cell.unit) for title, cell in rows[0].items()]
    return PageTable(caption, columns, cell_rows, ["word" if is_word else "number" for is_word in words])


def text_cell(text: str) -> Cell:
    """Show a word."""
    return Cell(text or DASH, text)


def count_cell(value: int | None) -> Cell:
    """Show a count."""
    return Cell(DASH) if value is None else Cell(f"{value:,}", value)


def rate_cell(estimate: Estimate | float | None, unit: str = "%", sign: str = "") -> Cell:
    """Show a fraction in per cent, with its interval below."""
    ends = estimate if isinstance(estimate, Estimate) else (estimate,)
    known = [format_signed(part, sign) for part in ends if part is not None]
    return Cell(known[0], ends[0], " to ".join(known[1:]), unit=unit) if known else Cell(DASH, unit=unit)


def p_value_cells(test: PairedTest | None, n_tests: int) -> dict[str, Cell]:
    """Show a p-value, the same after Holm's correction, bold if significant, and the smallest detectable difference."""
    test = test or PairedTest()
    holm = Cell(format_p_value(test.p_holm), test.p_holm, bold=test.is_significant, unit=format_count(n_tests, "test"))
    return _test_cells(test, {"p, Holm": holm})


def exploratory_p_cells(test: PairedTest | None, n_tests: int) -> dict[str, Cell]:
    """Show the same of an exploratory test, by Benjamini and Hochberg's correction, with its own mark."""
    test = test or PairedTest()
    return _test_cells(test, {EXPLORATORY: exploratory_cell(test.p_bh, n_tests)})


def exploratory_cell(p_value: float | None, n_tests: int | None = None) -> Cell:
    """Show the corrected p-value of an exploratory test, marked if it is below 5 %.

    >>> exploratory_cell(0.012, 24).text, exploratory_cell(0.2, 24).text
    ('0.012°', '0.200')
    """
    mark = SUGGESTIVE if is_significant(p_value) else ""
    unit = "exploratory" if n_tests is None else f"exploratory, {format_count(n_tests, 'test')}"
    return Cell(f"{format_p_value(p_value)}{mark}", p_value, unit=unit)


def _test_cells(test: PairedTest, corrected: Mapping[str, Cell]) -> dict[str, Cell]:
    return {
        "p": Cell(format_p_value(test.p_value), test.p_value, test.test or ""),
        **corrected,
        "Smallest detectable": rate_cell(test.minimum_detectable, "points"),
    }


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> format_count(1, "model"), format_count(2000, "model")
    ('1 model', '2,000 models')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_percent(value: float | None) -> str:
    """Return a fraction in per cent, with one decimal.

    >>> format_percent(0.0395), format_percent(None)
    ('4.0', '–')
    """
    return DASH if value is None else format_signed(value)


def format_signed(value: float, sign: str = "") -> str:
    """Return a fraction in per cent with its sign, using the minus sign U+2212; zero has no sign.

    >>> format_signed(-0.031), format_signed(0.031, "+"), format_signed(-0.0, "+")
    ('−3.1', '+3.1', '0.0')
    """
    text = f"{value * 100:{sign}.1f}"
    return "0.0" if text in {"-0.0", "+0.0"} else text.replace("-", "−")


def format_p_value(value: float | None) -> str:
    """Return a p-value with three decimals.

    >>> format_p_value(0.00012), format_p_value(0.0449), format_p_value(None)
    ('< 0.001', '0.045', '–')
    """
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def natural_sort_key(text: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that orders numbers in a text by value.

    >>> sorted(["10 to 20", "9", "over 20", "100"], key=natural_sort_key)
    ['9', '10 to 20', '100', 'over 20']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if number % 2 else (1, 0.0, part) for number, part in enumerate(parts) if part)


def to_markdown(table: PageTable) -> str:
    r"""Return a table as Markdown, with intervals in brackets; texts hold no HTML, links or images.

    >>> row = {"Model": text_cell("a|<b>"), "Score": rate_cell(Estimate(0.5, 0.4, 0.6))}
    >>> print(to_markdown(make_table("All", [row])), end="")
    | Model | Score (%) |
    |---|---:|
    | a\|&lt;b&gt; | 50.0 [40.0 to 60.0] |
    """
    marks = ["---" if kind == "word" else "---:" for kind in table.kinds]
    titles = map(escape_markdown, _format_titles(table))
    lines = [titles, *(map(_format_markdown_cell, row) for row in table.rows)]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "|".join(marks) + "|", *texts[1:]]) + "\n"


def to_latex(table: PageTable) -> str:
    r"""Return a table as LaTeX with the rules of booktabs.

    >>> row = {"Model": text_cell("a_b"), "Score": rate_cell(Estimate(0.5, 0.4, 0.6))}
    >>> print(to_latex(make_table("50 %", [row])), end="")
    % \usepackage{booktabs}
    \begin{table}
    \caption{50 \%}
    \begin{tabular}{lr}
    \toprule
    Model & Score (\%) \\
    \midrule
    a\_b & 50.0 {\scriptsize [40.0 to 60.0]} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    kinds = "".join("l" if kind == "word" else "r" for kind in table.kinds)
    rows = (" & ".join(map(_format_latex_cell, row)) + r" \\" for row in table.rows)
    head = " & ".join(map(escape_latex, _format_titles(table))) + r" \\"
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{escape_latex(table.caption)}}}",
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escape_markdown(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    >>> escape_markdown("<b> & ![x](y) `c`")
    '&lt;b&gt; &amp; !\\[x\\](y) \\`c\\`'
    """
    return re.sub(r"([|\\`*\[\]])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def escape_latex(text: str) -> str:
    r"""Return a text with LaTeX's special characters escaped.

    >>> escape_latex("50 % of a_b \\ −3")
    '50 \\% of a\\_b \\textbackslash{} $-$3'
    """
    return "".join(LATEX.get(letter, letter) for letter in text)


def _format_titles(table: PageTable) -> list[str]:
    return [f"{title} ({unit})" if unit else title for title, unit in table.columns]


def _format_markdown_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    text = f"**{text}**" if cell.bold else text
    return f"{text} [{escape_markdown(cell.note)}]" if cell.note else text


def _format_latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{escape_latex(cell.text)}}}" if cell.bold else escape_latex(cell.text)
    return rf"{text} {{\scriptsize [{escape_latex(cell.note)}]}}" if cell.note else text
