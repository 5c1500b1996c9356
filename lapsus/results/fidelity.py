"""Compare files of synthetic and human texts: their profiles, and whether a classifier can tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lapsus.kernel.rows import decoded
from lapsus.results.joining import by_id, join
from lapsus.results.predictions import READABLE, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lapsus.kernel.rows import Row


def read_texts(path: Path, column: str | None = None) -> list[str]:
    """Return the texts of a file: its lines, or one column of its rows, without the space around them.

    Args:
        path: a file of rows, read by its ending (.jsonl, .csv, ...); any other is plain text, one per line.
        column: which value of each row is the text; not needed where only one is a string.
    """
    return list(_texts_by_id(path, column).values())


def _texts_by_id(path: Path, column: str | None) -> dict[str, str]:
    """Return the texts by the `id` of their rows, or by their index where rows have no `id`."""
    if path.suffix.lower() not in READABLE:
        with path.open("rb") as file:
            return {str(number): line.strip() for number, line in enumerate(decoded(file, path), 1)}
    found = read(path)
    rows = by_id(found) if "id" in found.columns else {str(n): row for n, row in enumerate(found.rows, 1)}
    return {key: _value(path, number, row, column).strip() for number, (key, row) in enumerate(rows.items(), 1)}


def _value(path: Path, number: int, row: Row, column: str | None) -> str:
    strings = [name for name, value in row.items() if isinstance(value, str) and name != "id"]
    wanted = column or (strings[0] if len(strings) == 1 else None)
    if wanted is None:
        raise ValueError(f"{path}, row {number}: has the texts {strings}; name one of them with --column.")
    if wanted not in strings:
        raise LookupError(f"{path}, row {number}: has no text {wanted!r}; its texts are {strings}.")
    text: str = row[wanted]
    return text


def fidelity(
    clean: Path, human: Sequence[Path], synthetic: Sequence[Path], column: str | None = None
) -> dict[str, Any]:
    """Return `human_likeness` of the files' texts, each file one writer of the same clean `sentences`.

    Sentences are matched by the `id` of their rows, where they have one, and those that every file has are
    compared; other files must have one line per clean line.
    """
    from lapsus.metrics.human_likeness.score import human_likeness

    meant = _texts_by_id(clean, column)
    people, machines = ([_texts_by_id(path, column) for path in paths] for paths in (human, synthetic))
    shared = [key for key in meant if all(key in track for track in (*people, *machines))]
    for path, track in zip((*human, *synthetic), (*people, *machines), strict=True):
        if len(track) != len(meant) and list(track) == [str(n) for n in range(1, len(track) + 1)]:
            raise ValueError(f"{path} has {len(track)} texts and {clean} has {len(meant)}: give one for each.")
        join(path, track, meant, clean)
    if not shared:
        raise ValueError(f"No sentence of {clean} is in all the other files; give files that share some.")
    rows = [([track[key] for track in machines], meant[key], [track[key] for track in people]) for key in shared]
    return {**human_likeness(*map(list, zip(*rows, strict=True))), "sentences": len(meant)}


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
    """Return the comparison as aligned text, with the features that distinguish the two sides.

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
    lines.append(f"compared {result['examples']} of {result.get('sentences', result['examples'])} sentences")
    return "\n".join(line.rstrip() for line in lines)
