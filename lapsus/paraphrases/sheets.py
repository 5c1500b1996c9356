"""Sheets for judges, out and in: CSV for a spreadsheet, JSON lines for programs.

A sheet has one row for each item: the sentence, the paraphrase, and columns to fill in. What comes back may be such a
sheet, what `lapsus paraphrase judge` saved, or an export of Label Studio.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lapsus.kernel.atomic import staged_file
from lapsus.kernel.names import shown
from lapsus.kernel.rows import BrokenFileError, Row, read
from lapsus.paraphrases import label_studio
from lapsus.paraphrases.candidates import Candidate
from lapsus.paraphrases.judgements import Judgement, NotAJudgementError, judgement

ASKED = ("judge", "similarity", "grammatical")
COLUMNS = ("item", "text", "paraphrase", *ASKED)


def write_sheets(candidates: Sequence[Candidate], folder: Path) -> list[Path]:
    """Write the sheet in each form; return the files.

    Judges are not told what made a paraphrase, nor how alike a program thinks it: order is that of the items' names.
    """
    order = sorted(candidates, key=lambda each: each.item)
    rows = [{"item": each.item, "text": each.text, "paraphrase": each.paraphrase} for each in order]
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    blank = dict.fromkeys(ASKED)
    texts = {
        "sheet.csv": table.getvalue(),
        "sheet.jsonl": "".join(json.dumps({**row, **blank}, ensure_ascii=False) + "\n" for row in rows),
        "label_studio.json": json.dumps(label_studio.tasks(rows), ensure_ascii=False, indent=1) + "\n",
        "label_studio.xml": label_studio.CONFIG,
    }
    for name, text in texts.items():
        with staged_file(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in texts]


def read_judgements(path: Path, judge: str | None = None) -> list[Judgement]:
    """Return the judgements of a file, the last where a judge judged an item again; rows left blank are none.

    `judge` is who filled in a sheet whose column `judge` is empty; of `read_all`, the file's name.
    """
    rows = read(path)
    found: dict[tuple[str, str], Judgement] = {}
    for number, row in enumerate(label_studio.judged(rows) if label_studio.is_export(rows) else rows, 1):
        if all(row.get(name) in {None, ""} for name in ("similarity", "grammatical")):
            continue
        try:
            one = judgement({**row, "judge": row.get("judge") or judge})
        except NotAJudgementError as error:
            raise BrokenFileError(path, f"row {number} (item {row.get('item')}) {error}", error.cure) from None
        found[one.item, one.judge] = one
    return list(found.values())


def read_all(paths: Iterable[Path], items: Iterable[str]) -> list[Judgement]:
    """Return the judgements of several files; raise where two have the same judge and item, or one an unknown item."""
    known = set(items)
    seen: dict[tuple[str, str], Path] = {}
    found = []
    paths = list(paths)
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(f"a file of {shown(map(str, paths))} is given twice; give the judgements of each judge once")
    for path in paths:
        mine = read_judgements(path, path.stem)
        strange = [each.item for each in mine if each.item not in known]
        if strange:
            raise ValueError(
                f"{path} judges {shown(strange, 2)}, which the sheet does not have; is it of another sheet?"
            )
        for each in mine:
            other = seen.setdefault((each.item, each.judge), path)
            if other != path:
                raise ValueError(
                    f"{other} and {path} both have the judgement of {each.judge!r} on {each.item}; leave one file out, "
                    "or give each judge another name"
                )
        found += mine
    return found


def sheet_rows(path: Path) -> Iterator[Row]:
    """Yield the items of a sheet, to be judged."""
    for number, row in enumerate(read(path), 1):
        lacking = [name for name in ("item", "text", "paraphrase") if not row.get(name)]
        if lacking:
            what = f"row {number} lacks {shown(lacking)} (it has {shown(row)})"
            raise BrokenFileError(path, what, "give the sheet.csv or sheet.jsonl of `lapsus paraphrase propose`")
        yield {name: str(row[name]) for name in ("item", "text", "paraphrase")}
