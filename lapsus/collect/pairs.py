"""The pairs of a premise and a hypothesis that are put in other words, and the rows these become.

>>> pair = {"id": "7", "premise": "Ada won twice.", "hypothesis": "Ada won.", "label": "entailed"}
>>> [row["id"] for row in build_pairs([pair], {"Ada won twice.": "Twice Ada won.", "Ada won.": "Ada was the winner."})]
['7.premise', '7.hypothesis', '7.both']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lapsus.collect.judgements import is_blank
from lapsus.core.messages import format_list
from lapsus.io.readers import FileFormatError, Row, read_class_names, read_rows

SIDES = ("premise", "hypothesis")
NEEDED = ("id", *SIDES, "label")


def read_pairs(source: Path, split: str = "test") -> list[Row]:
    """Return the pairs of a file, or of a split of a folder of `lapsus build rte`.

    Rows have `id`, `premise`, `hypothesis` and `label`; of such a folder they also have `rte`, the challenge.
    """
    if not source.exists():
        raise FileNotFoundError(
            f"there is nothing at {source}; give a file of pairs, or a folder of `lapsus build rte`"
        )
    if source.is_dir():
        files = sorted(source.glob(f"*/{split}-*.parquet"))
        if not files:
            raise FileNotFoundError(f"{source} has no split {split!r} (CONFIG/{split}-*.parquet); name another --split")
        pairs = [{**row, "rte": path.parent.name} for path in files for row in _iter_checked_rows(path)]
        return [{**row, "id": f"{row['rte']}.{row['id']}"} for row in pairs]  # the challenges count anew
    return list(_iter_checked_rows(source))


def _iter_checked_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file with classes by name; raise where one is no pair, or has the id of another."""
    names = read_class_names(path)
    seen: dict[str, int] = {}
    for number, row in enumerate(read_rows(path), 1):
        missing = [name for name in NEEDED if is_blank(row.get(name))]
        if missing:
            what = f"row {number} lacks {format_list(missing)} (it has {format_list(row)})"
            raise FileFormatError(path, what, "give each pair id, premise, hypothesis and label")
        key = str(row["id"])
        if key in seen:
            raise FileFormatError(path, f"rows {seen[key]} and {number} have the id {key!r}", "give each its own")
        seen[key] = number
        class_values = {name: row[name] if isinstance(row[name], str) else names[name][row[name]] for name in names}
        texts = {side: " ".join(str(row[side]).split()) for side in SIDES}
        yield {**row, **class_values, **texts, "id": key}


def read_ids(path: Path) -> set[str]:
    """Return the ids of the rows of a file, such as of pairs to exclude."""
    ids = set()
    for number, row in enumerate(read_rows(path), 1):
        if is_blank(row.get("id")):
            raise FileFormatError(path, f"row {number} lacks id (it has {format_list(row)})", "give each row its id")
        ids.add(str(row["id"]))
    return ids


def unique_sentences(pairs: Iterable[Row]) -> list[str]:
    """Return every premise and hypothesis once."""
    return list(dict.fromkeys(str(pair[side]) for pair in pairs for side in SIDES))


def build_pairs(pairs: Iterable[Row], best: Mapping[str, str]) -> Iterator[Row]:
    """Yield P'-H, P-H' and P'-H' of each pair, as far as `best` has its sentences in other words.

    A pair with both sides in other words has all three, as in P̂aRTE: its 914 pairs, 132 of them with both, make the
    1,178 rows that were looked through by hand. The columns are those that `lapsus build parte` reads.
    """
    for pair in pairs:
        paraphrased = {side: best[pair[side]] for side in SIDES if pair[side] in best}
        both = ["both"] if len(paraphrased) == len(SIDES) else []
        for rewritten in (*paraphrased, *both):
            row = {
                "id": f"{pair['id']}.{rewritten}",
                **{f"original_{side}": pair[side] for side in SIDES},
                **{
                    f"paraphrased_{side}": paraphrased[side] if rewritten in {side, "both"} else pair[side]
                    for side in SIDES
                },
                "label": pair["label"],
                "rewritten": rewritten,
            }
            extra_columns = {name: value for name, value in pair.items() if name not in {*NEEDED, *row}}
            yield {**row, **extra_columns, "original_id": pair["id"]}


def strip_numbering(text: str) -> str:
    """Return a line of a list without its number or bullet, and without quotes around it.

    >>> strip_numbering('2) "Ada won."'), strip_numbering("- Ada won."), strip_numbering("1990 was cold.")
    ('Ada won.', 'Ada won.', '1990 was cold.')
    """
    line = re.sub(r"^\s*(?:\d{1,2}[.):]|[-*•])\s+", "", text).strip()
    return line[1:-1].strip() if len(line) > 1 and line[0] in "\"“'" and line[-1] in "\"”'" else line
