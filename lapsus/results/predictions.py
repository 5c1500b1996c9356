"""Predictions of any origin, read into rows: one dict per example, with its `id` as text.

JSON lines, JSON, CSV, TSV and Parquet keep their columns. A samples file of lm-evaluation-harness and a log of
inspect (`.json`, `.eval`) are recognised by their content: their rows get `id`, `prediction` and `reference`, one
column per metric or scorer, and the columns of the documents that the model saw.
"""

from __future__ import annotations

import csv
import json
import re
import struct
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from lapsus.kernel.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

Row = dict[str, Any]

NUMBER_OR_LIST = re.compile(
    r"[\[{]|-?\d+(\.\d+)?([eE][-+]?\d+)?$", re.ASCII
)  # JSON has no 007 and no 1_000: labels stay
VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # inspect's marks: correct, partial, incorrect, no answer


@dataclass(frozen=True, slots=True)
class Predictions:
    """The rows of one file, and what the file itself says about their origin.

    `metrics` names the columns that a harness has already scored; `task` is the harness's name for the data.
    """

    path: Path
    rows: list[Row] = field(repr=False)
    model: str | None = None
    task: str | None = None
    metrics: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order of their first appearance."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


def read(path: Path, *, where: Mapping[str, str] | None = None) -> Predictions:
    """Read the predictions in `path`, keeping the rows whose columns have the values that `where` asks for.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.jsonl"
    ...     _ = path.write_text('{"id": 7, "prediction": "yes"}')
    ...     read(path).rows
    [{'id': '7', 'prediction': 'yes'}]
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the files in it.")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the path of a file with predictions.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: files ending in {path.suffix!r} are not read; give one of {', '.join(READERS)}.")
    found = reader(path)
    for column, value in (where or {}).items():
        found = _keep(found, column, value)
    if not found.rows:
        raise ValueError(f"{path}: holds no predictions; give a file with at least one row.")
    return found


def read_beside(path: Path, where: Mapping[str, str] | None) -> Predictions:
    """Read a file that stands beside the predictions: `where` applies to it as far as it has such rows."""
    found = read(path)
    for column, value in (where or {}).items():
        if any(column in row and label(row[column]) == value for row in found.rows):
            found = _keep(found, column, value)
    return found


def by_id(found: Predictions) -> dict[str, Row]:
    """Return the rows of `found` by their id, which every row must have and no other row may share.

    >>> from pathlib import Path
    >>> by_id(Predictions(Path("p.csv"), [{"id": "a", "score": 1}]))
    {'a': {'id': 'a', 'score': 1}}
    """
    rows: dict[str, Row] = {}
    for number, row in enumerate(found.rows, 1):
        key = row.get("id")
        if key is None:
            raise ValueError(f"{found.path}, row {number}: has no 'id'; the columns are {few(found.columns)}.")
        if key in rows:
            differing = [name for name in ("filter", "epoch", "split", "track") if row.get(name) != rows[key].get(name)]
            cure = f"keep one with where, as in {differing[0]}={row[differing[0]]}" if differing else "keep one of them"
            raise ValueError(f"{found.path}, row {number}: id {key!r} occurs a second time; {cure}.")
        rows[key] = row
    return rows


def few(names: Iterable[object], most: int = 8) -> str:
    """Name up to `most` of `names`, for a sentence.

    >>> few(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return shown(map(repr, names), most, nothing="none")


def label(value: Any) -> str:
    """Return a prediction or gold answer as text, the same for 1, 1.0 and "1".

    >>> label(1.0), label("1"), label({"b": 1, "a": [2]})
    ('1', '1', '{"a": [2], "b": 1}')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _keep(found: Predictions, column: str, value: str) -> Predictions:
    """Keep the rows of `found` that have `value` in `column`."""
    rows = [row for row in found.rows if label(row.get(column)) == value]
    if not rows:
        seen = sorted({label(row[column]) for row in found.rows if column in row})
        held = f"column {column!r} holds {few(seen)}" if seen else f"the columns are {few(found.columns)}"
        raise ValueError(f"{found.path}: no row has {column}={value}; {held}.")
    return replace(found, rows=rows)


def _named(row: Row) -> Row:
    """Return `row` with its id as text, so that 7, 7.0 and "7" join."""
    key = row.get("id")
    if key is None:
        return row
    return {**row, "id": str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)}


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, with or without a byte order mark."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise ValueError(f"{path}, line {number}: is not UTF-8; save the file as UTF-8.") from None


def _read_json_lines(path: Path) -> Predictions:
    rows: list[Row] = []
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            where = f"{path}, line {number}, column {error.colno}"
            raise ValueError(f"{where}: {error.msg}; every line is one JSON object.") from None
        if not isinstance(row, dict):
            held = line.strip()[:40]
            raise ValueError(f"{path}, line {number}: holds {held!r}; every line is one JSON object.")  # noqa: TRY004 - the file is wrong, not the call
        rows.append(row)
    if rows and {"doc_id", "doc"} <= rows[0].keys():
        return _lm_eval(path, rows)
    return Predictions(path, [_named(row) for row in rows])


def _read_csv(path: Path) -> Predictions:
    table = csv.reader(_lines(path), delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
    try:
        header = next(table, [])
        if len(set(header)) < len(header):
            raise ValueError(f"{path}, line 1: names a column twice ({few(header)}); give every column its own name.")
        cells: list[list[str]] = []
        for row in table:
            if row and len(row) != len(header):
                raise ValueError(
                    f"{path}, line {table.line_num}: has {len(row)} cells where the header names {len(header)};"
                    " quote cells that contain the separator."
                )
            if row:
                cells.append(row)
    except csv.Error as error:
        raise ValueError(f"{path}, line {table.line_num}: {error}; are its quotes closed?") from None
    columns = [
        values if name == "id" else _typed(values)
        for name, values in zip(header, zip(*cells, strict=True), strict=False)
    ]
    return Predictions(path, [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)])


def _typed(cells: tuple[str, ...]) -> Iterable[Any]:
    """Return the cells of one column as numbers or JSON lists if every cell is one; an empty cell is None."""
    if all(NUMBER_OR_LIST.match(cell) for cell in cells if cell):
        with suppress(json.JSONDecodeError):
            return [json.loads(cell) if cell else None for cell in cells]
    return [cell or None for cell in cells]


def _read_parquet(path: Path) -> Predictions:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: is no Parquet file ({_first_sentence(error)}); write it again.") from None
    return Predictions(path, [_named(row) for row in rows])


def _read_json(path: Path) -> Predictions:
    text = "".join(_lines(path))
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # one document after another: JSON lines, as READIN's files are named too
            return _read_json_lines(path)
        where = f"{path}, line {error.lineno}, column {error.colno}"
        raise ValueError(f"{where}: {error.msg}; mend the file.") from None
    if isinstance(whole, dict) and isinstance(whole.get("eval"), dict) and isinstance(whole.get("samples"), list):
        return _inspect(path, whole["eval"], whole["samples"])
    if isinstance(whole, list) and all(isinstance(row, dict) for row in whole):
        return Predictions(path, [_named(row) for row in whole])
    raise ValueError(
        f"{path}: holds neither a list of objects nor a log of inspect with its samples; give one of them."
    )


def _read_eval(path: Path) -> Predictions:
    try:
        with zipfile.ZipFile(path) as log:
            names = {entry.filename: entry for entry in log.infolist()}
            entry = names.get("header.json") or names.get("_journal/start.json")
            head = None if entry is None else _member(path, log, entry)
            if not isinstance(head, dict) or not isinstance(head.get("eval"), dict):
                raise ValueError(f"{path}: has no header with its task and model; give a log of inspect.")  # noqa: TRY004 - the file is wrong
            samples = [_member(path, log, names[name]) for name in names if re.fullmatch(r"samples/.*\.json", name)]
            return _inspect(path, head["eval"], samples)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError) as error:
        raise ValueError(f"{path}: is no inspect log ({_first_sentence(error)}); run it again.") from None


def _member(path: Path, log: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    """Parse one JSON file of an inspect log."""
    data = _unzstd(path, entry) if entry.compress_type == 93 else log.read(entry)
    try:
        return json.loads(data)
    except ValueError as error:
        raise ValueError(f"{path}, {entry.filename}: is no JSON ({_first_sentence(error)}); run it again.") from None


def _unzstd(path: Path, entry: zipfile.ZipInfo) -> bytes:
    """Read a Zstandard member, which inspect writes and zipfile reads only from Python 3.14 on."""
    import pyarrow as pa

    with path.open("rb") as file:
        file.seek(entry.header_offset)
        name_length, extra_length = struct.unpack("<26xHH", file.read(30))
        file.seek(name_length + extra_length, 1)
        packed = file.read(entry.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        return bytes(stream.read())


def _first_sentence(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _inspect(path: Path, spec: Mapping[str, Any], samples: list[Mapping[str, Any]]) -> Predictions:
    """Make rows of the samples of an inspect log."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for number, sample in enumerate(samples, 1):
        try:
            marks, row = _inspect_sample(sample)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, sample {number}: is not as inspect writes it ({error!r}); log again.") from None
        metrics |= dict.fromkeys(marks)
        rows.append(_named(row))
    rows.sort(key=lambda row: (str(row["epoch"]), row["id"]))
    return Predictions(path, rows, spec.get("model"), spec.get("task"), tuple(metrics))


def _inspect_sample(sample: Mapping[str, Any]) -> tuple[dict[str, float], Row]:
    """Return the scores and the row of one sample."""
    if sample["id"] is None:
        raise KeyError("id")
    scores = sample.get("scores") or {}
    marks = {name: value for scorer, score in scores.items() for name, value in _marks(scorer, score["value"])}
    answers = [score["answer"] for score in scores.values() if score.get("answer") is not None]
    target = sample.get("target")
    row = {
        "id": str(sample["id"]),
        "epoch": sample.get("epoch", 1),
        "prediction": answers[0] if answers else _completion(sample.get("output") or {}),
        "reference": target[0] if isinstance(target, list) and len(target) == 1 else target,
    }
    return marks, {**(sample.get("metadata") or {}), **row, **marks}


def _marks(scorer: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of one score of inspect: a mark, a number, or a dict of either."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _marks(f"{scorer}.{name}", part)
    elif isinstance(value, int | float):
        yield scorer, float(value)
    elif isinstance(value, str) and value in VERDICTS:
        yield scorer, VERDICTS[value]


def _completion(output: Mapping[str, Any]) -> str | None:
    """Return the text that the model gave in answer, as inspect logs it."""
    if output.get("completion"):
        return str(output["completion"])
    for choice in output.get("choices") or []:
        content = choice["message"]["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return None


LM_EVAL_COLUMNS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


def _lm_eval(path: Path, samples: list[Row]) -> Predictions:
    """Make rows of the samples that lm-evaluation-harness logs."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for number, sample in enumerate(samples, 1):
        doc = sample.get("doc")
        if not isinstance(doc, dict) or "doc_id" not in sample:
            raise ValueError(f"{path}, sample {number}: has no doc or doc_id; use --log_samples.")
        marks = {
            name: float(value)
            for name, value in sample.items()
            if name not in LM_EVAL_COLUMNS and isinstance(value, int | float)
        }
        metrics |= dict.fromkeys(marks)
        try:
            said = _response(sample.get("filtered_resps", sample.get("resps")))
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{path}, sample {number}: has a response that is not understood ({error}).") from None
        row = {
            "id": doc.get("id", sample["doc_id"]),
            "prediction": said,
            "reference": sample.get("target"),
            **({"filter": sample["filter"]} if "filter" in sample else {}),
        }
        rows.append(_named({**doc, **row, **marks}))
    name = re.fullmatch(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT.*)?", path.stem)
    return Predictions(path, rows, path.resolve().parent.name or None, name[1] if name else None, tuple(metrics))


def _response(responses: Any) -> Any:
    """Return what the model said: a text, or for log-likelihoods of several choices the index of the likeliest."""
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list | str):
        responses = responses[0]
    if not isinstance(responses, list) or not responses:
        return responses
    if all(isinstance(choice, list) and choice for choice in responses):
        likelihoods = [float(choice[0][0] if isinstance(choice[0], list) else choice[0]) for choice in responses]
        return likelihoods.index(max(likelihoods))
    return responses[0]


READERS: dict[str, Callable[[Path], Predictions]] = {
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
    ".eval": _read_eval,
}
