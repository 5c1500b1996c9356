"""Sheets for judges, out and in: CSV for a spreadsheet, JSON lines for programs.

A sheet has one row for each item: the sentence, the paraphrase, and columns to fill in. What comes back may be such a
sheet, what `lapsus collect paraphrases judge` saved, or an export of Label Studio.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lapsus.collect.candidates import Paraphrase
from lapsus.collect.judgements import InvalidJudgementError, Judgement, is_blank, parse_judgement
from lapsus.core.files import stage_file
from lapsus.core.messages import format_list
from lapsus.io.cells import escape_formula, restore_text
from lapsus.io.readers import FileFormatError, Row, detect_format, read_rows

JUDGE_COLUMNS = ("judge", "similarity", "grammatical")
COLUMNS = ("item", "text", "paraphrase", *JUDGE_COLUMNS)


def write_sheets(candidates: Sequence[Paraphrase], folder: Path) -> list[Path]:
    """Write the sheet in each form; return the files.

    Judges are not told what made a paraphrase, nor how alike a program thinks it: order is that of the items' names.
    """
    order = sorted(candidates, key=lambda each: each.item)
    rows = [{"item": each.item, "text": each.text, "paraphrase": each.paraphrase} for each in order]
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows({name: escape_formula(text) for name, text in row.items()} for row in rows)
    blank = dict.fromkeys(JUDGE_COLUMNS)
    texts = {
        "sheet.csv": table.getvalue(),
        "sheet.jsonl": "".join(json.dumps({**row, **blank}, ensure_ascii=False) + "\n" for row in rows),
        "label_studio.json": json.dumps(to_tasks(rows), ensure_ascii=False, indent=1) + "\n",
        "label_studio.xml": CONFIG,
    }
    for name, text in texts.items():
        with stage_file(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in texts]


def read_judgements(path: Path, judge: str | None = None) -> list[Judgement]:
    """Return the judgements of a file, the last where a judge judged an item again; rows left blank are none.

    `judge` is who filled in a sheet whose column `judge` is empty; of `merge_judgements`, the file's name.
    """
    rows = _read_sheet(path)
    if is_export(rows):
        try:
            rows = list(iter_judgements(rows))
        except (AttributeError, LookupError, TypeError):
            raise FileFormatError(path, "is not as Label Studio exports it", "export it again, as JSON") from None
    judgements: dict[tuple[str, str], Judgement] = {}
    for number, row in enumerate(rows, 1):
        if all(is_blank(row.get(name)) for name in ("similarity", "grammatical")):
            continue
        try:
            entry = parse_judgement({**row, "judge": row.get("judge") or judge})
        except InvalidJudgementError as error:
            raise FileFormatError(path, f"row {number} (item {row.get('item')}) {error}", error.cure) from None
        judgements[entry.item, entry.judge] = entry
    return list(judgements.values())


def merge_judgements(paths: Iterable[Path], items: Iterable[str]) -> list[Judgement]:
    """Return the judgements of several files; raise where two have the same judge and item, or one an unknown item."""
    known = set(items)
    seen: dict[tuple[str, str], Path] = {}
    judgements = []
    paths = list(paths)
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(
            f"a file of {format_list(map(str, paths))} is given twice; give the judgements of each judge once"
        )
    for path in paths:
        file_judgements = read_judgements(path, path.stem)
        unknown_items = [each.item for each in file_judgements if each.item not in known]
        if unknown_items:
            raise ValueError(
                f"{path} judges {format_list(unknown_items, 2)}, which the sheet does not have; is it of another sheet?"
            )
        for each in file_judgements:
            first_path = seen.setdefault((each.item, each.judge), path)
            if first_path != path:
                raise ValueError(
                    f"{first_path} and {path} both have the judgement of {each.judge!r} on {each.item}; "
                    "leave one file out, or give each judge another name"
                )
        judgements += file_judgements
    return judgements


def _read_sheet(path: Path) -> list[Row]:
    """Return the rows of a sheet, with texts as they were before `write_sheets` made them safe for a spreadsheet."""
    rows = list(read_rows(path))
    if detect_format(path) != "csv":
        return rows
    return [{name: restore_text(value) for name, value in row.items()} for row in rows]


def iter_sheet(path: Path) -> Iterator[Row]:
    """Yield the items of a sheet, to be judged."""
    for number, row in enumerate(_read_sheet(path), 1):
        missing = [name for name in ("item", "text", "paraphrase") if not row.get(name)]
        if missing:
            what = f"row {number} lacks {format_list(missing)} (it has {format_list(row)})"
            raise FileFormatError(
                path, what, "give the sheet.csv or sheet.jsonl of `lapsus collect paraphrases propose`"
            )
        yield {name: str(row[name]) for name in ("item", "text", "paraphrase")}


# Label Studio: the tasks it imports, the labelling interface that goes with them, and the export it gives back.
# A new project takes `label_studio.xml` as its labelling interface and imports `label_studio.json`; its export as JSON
# is a file of judgements, one judge for each of its users.


CONFIG = """<View>
  <Header value="Sentence"/>
  <Text name="text" value="$text"/>
  <Header value="The same in other words"/>
  <Text name="paraphrase" value="$paraphrase"/>
  <Header value="How well does it keep the meaning? 100: exactly the same. 0: something else, or the opposite."/>
  <Number name="similarity" toName="paraphrase" min="0" max="100" step="1" slider="true" required="true"/>
  <Header value="Is it grammatical?"/>
  <Choices name="grammatical" toName="paraphrase" choice="single" showInline="true" required="true">
    <Choice value="yes"/>
    <Choice value="no"/>
  </Choices>
</View>
"""


def to_tasks(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a sheet as tasks.

    >>> to_tasks([{"item": "a", "text": "Ada won.", "paraphrase": "Ada was the winner."}])
    [{'data': {'item': 'a', 'text': 'Ada won.', 'paraphrase': 'Ada was the winner.'}}]
    """
    return [{"data": dict(row)} for row in rows]


def is_export(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether rows are tasks with annotations."""
    return bool(rows) and all("data" in row and "annotations" in row for row in rows)


def iter_judgements(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the annotations of an export as rows; those that were cancelled (skipped) are none."""
    for task in rows:
        for annotation in task["annotations"]:
            if annotation.get("was_cancelled"):
                continue
            values = {result.get("from_name"): result.get("value", {}) for result in annotation.get("result", ())}
            choices = values.get("grammatical", {}).get("choices") or [None]
            yield {
                "item": task["data"].get("item"),
                "judge": _find_judge(annotation.get("completed_by")),
                "similarity": values.get("similarity", {}).get("number"),
                "grammatical": choices[0],
            }


def _find_judge(completed_by: Any) -> str | None:
    """Return who annotated: a number, or in other exports an object with one."""
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return None if completed_by is None else str(completed_by)
