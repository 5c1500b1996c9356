"""What a reader takes from the page: each plot as SVG and PNG, each table as Markdown and LaTeX (booktabs)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lapsus.reporting.html.cells import DASH, Cell, PageTable
from lapsus.reporting.html.plots import Plot
from lapsus.reporting.html.sections import Section

LATEX = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "−": "$-$", DASH: "--"} | {
    letter: f"\\{letter}" for letter in "&%$#_{}"
}


def write_plots_and_tables(sections: Iterable[Section], drawings: Mapping[str, Plot], folder: Path) -> None:
    """Write the plots into `plots/` and the tables into `tables/` of a folder."""
    for section in sections:
        for figure in section.figures:
            (folder / "plots").mkdir(exist_ok=True)
            drawing = drawings[figure.key]
            (folder / "plots" / f"{figure.key}.svg").write_text(drawing.to_standalone_svg(), encoding="utf-8")
            (folder / "plots" / f"{figure.key}.png").write_bytes(drawing.png)
        if section.table is not None:
            (folder / "tables").mkdir(exist_ok=True)
            (folder / "tables" / f"{section.key}.md").write_text(to_markdown(section.table), encoding="utf-8")
            (folder / "tables" / f"{section.key}.tex").write_text(to_latex(section.table), encoding="utf-8")


def to_markdown(table: PageTable) -> str:
    r"""Return a table as Markdown, intervals in brackets and what is bold on the page in bold.

    >>> from lapsus.reporting.html.cells import Estimate, rate_cell, text_cell
    >>> from lapsus.reporting.html.cells import table as laid_out
    >>> print(to_markdown(laid_out("All", [{"Model": word("a|b"), "Score": rate(Estimate(0.5, 0.4, 0.6))}])), end="")
    | Model | Score (%) |
    |---|---:|
    | a\|b | 50.0 [40.0 to 60.0] |
    """
    marks = ["---" if kind == "word" else "---:" for kind in table.kinds]
    lines = [_format_titles(table), *([_format_markdown_cell(cell) for cell in row] for row in table.rows)]
    texts = ["| " + " | ".join(re.sub(r"([|\\])", r"\\\1", text) for text in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "|".join(marks) + "|", *texts[1:]]) + "\n"


def to_latex(table: PageTable) -> str:
    r"""Return a table as LaTeX with the rules of booktabs.

    >>> from lapsus.reporting.html.cells import Estimate, rate_cell, text_cell
    >>> from lapsus.reporting.html.cells import table as laid_out
    >>> print(to_latex(laid_out("50 %", [{"Model": word("a_b"), "Score": rate(Estimate(0.5, 0.4, 0.6))}])), end="")
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


def escape_latex(text: str) -> str:
    r"""Return a text with the characters that LaTeX takes for commands escaped.

    >>> escape_latex("50 % of a_b \\ −3")
    '50 \\% of a\\_b \\textbackslash{} $-$3'
    """
    return "".join(LATEX.get(letter, letter) for letter in text)


def _format_titles(table: PageTable) -> list[str]:
    return [f"{title} ({unit})" if unit else title for title, unit in table.columns]


def _format_markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return f"{text} [{cell.note}]" if cell.note else text


def _format_latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{escape_latex(cell.text)}}}" if cell.bold else escape_latex(cell.text)
    return rf"{text} {{\scriptsize [{escape_latex(cell.note)}]}}" if cell.note else text
