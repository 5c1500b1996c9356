"""How human a synthetic track is: files in, profiles side by side and the classifier's verdict out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def read_texts(path: Path, column: str | None = None) -> list[str]:
    """Return the texts of a file: its lines, or one column of its JSON lines, without the space around them.

    Args:
        path: a text file with one text per line, or a file whose name ends in .jsonl or .json with one object per line.
        column: which value of each object is the text; not needed where only one is a string.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix not in {".jsonl", ".json"}:
        return [line.strip() for line in lines]
    return [_value(path, number, line, column).strip() for number, line in enumerate(lines, 1) if line.strip()]


def _value(path: Path, number: int, line: str, column: str | None) -> str:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number} of {path} is no JSON ({error.msg}): give one object per line.") from None
    strings = [name for name, value in row.items() if isinstance(value, str)] if isinstance(row, dict) else []
    wanted = column or (strings[0] if len(strings) == 1 else None)
    if wanted is None:
        raise ValueError(f"line {number} of {path} has the texts {strings}: name one of them with --column.")
    if wanted not in strings:
        raise LookupError(f"line {number} of {path} has no text {wanted!r}: its texts are {strings}.")
    text: str = row[wanted]
    return text


def fidelity(
    clean: Path, human: Sequence[Path], synthetic: Sequence[Path], column: str | None = None
) -> dict[str, Any]:
    """Return `human_likeness` of the files' texts, each file one writer, line by line over the same clean sentences."""
    from lapsus.metrics.human_likeness.score import human_likeness

    reference = read_texts(clean, column)
    sides = [[read_texts(path, column) for path in paths] for paths in (human, synthetic)]
    for paths, texts in zip((human, synthetic), sides, strict=True):
        for path, lines in zip(paths, texts, strict=True):
            if len(lines) != len(reference):
                raise ValueError(f"{path} has {len(lines)} texts and {clean} has {len(reference)}: give one for each.")
    people, machines = ([list(row) for row in zip(*side, strict=True)] for side in sides)
    return human_likeness(machines, reference, people)


def table(result: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the comparison: a name, the synthetic side, the human side, each human."""
    sides = [result["synthetic"], result["human"], *result["humans"]]
    yield ("", "synthetic", "human", *(f"human {n}" for n in range(1, len(result["humans"]) + 1)))
    for key, name in (("micro_average", "error rate, micro"), ("worst_average", "error rate, worst")):
        yield (name, *(f"{side[key]:.3f}" for side in sides))
    for key in ("unchanged", "equal_length", "edits_per_text", "new_latin"):
        yield (key.replace("_", " "), *(f"{side[key]:.3f}" for side in sides))
    for group, name in (("kinds", "kind: "), ("span_lengths", "span of ")):
        for key in sides[0][group]:
            yield (name + key.replace("_", " "), *(f"{side[group][key]:.3f}" for side in sides))
    aucs = [result["auc"], None, *result["human_aucs"]]
    yield ("AUC against the humans", *("-" if auc is None else f"{auc:.3f}" for auc in aucs))


def report(result: dict[str, Any]) -> str:
    """Return the comparison as aligned text, with what gives either side away.

    >>> from lapsus.metrics.human_likeness.score import human_likeness
    >>> clean = ["花呗怎么不能提额了", "借呗额度为什么没有了"]
    >>> print(report(human_likeness(clean, clean, [["花呗怎么不能贴了"], [clean[1]]])).splitlines()[1])
    error rate, micro           0.000  0.111    0.111
    """
    rows = list(table(result))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    for side, names in result["features"].items():
        lines.append(f"what says {side}: {', '.join(names) or 'nothing'}")
    return "\n".join(line.rstrip() for line in lines)
