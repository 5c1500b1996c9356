r"""Tables of any origin, row by row and split by split, so that memory does not grow with the rows.

`open_streams` takes what `tables.read_table` takes, and also folders, patterns with `*`, SQuAD's JSON and CoNLL files.
A stream can be read again and again. Files keep their own rules: what `readers.read_rows` returns is what a stream
yields.

>>> {split: list(stream.read()) for split, stream in open_streams([{"id": "a"}]).items()}
{'': [{'id': 'a'}]}
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.messages import format_list
from lapsus.io import readers
from lapsus.io.json_columns import list_rows
from lapsus.io.tables import is_hub_id, is_saved_dataset, read_table

if TYPE_CHECKING:
    from lapsus.io.readers import Row

BATCH_ROWS = 1000
CONLL = (".conll", ".conllu", ".bio", ".iob")
SPLITS = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "devel": "validation",
    "development": "validation",
    "test": "test",
    "eval": "test",
}
WORD = re.compile(r"[A-Za-z]+")
COMMENT = re.compile(r"#\s+(?P<name>[\w-]+)\s*[:=]\s*(?P<value>.*)")
CARD = "README.md"


@dataclass(frozen=True, slots=True)
class RowStream:
    """The rows of one split: `schema` is Arrow's where the source has one, `files` are what the rows stand in."""

    name: str  # of the source, in errors
    read: Callable[[], Iterator[Row]]
    schema: Any = None
    files: tuple[Path, ...] = ()


def open_streams(source: Any, split: str | None = None) -> dict[str, RowStream]:
    """Return the splits of a source; a source that names none has one, called "".

    Args:
        source: A file, a folder of files or one that `save_to_disk` or `lapsus build` wrote, a pattern such as
            `data/*.jsonl`, a repo of the Hub (ORG/NAME, or ORG/NAME:CONFIG), or an object: rows as dicts, datasets of
            `datasets`, a data frame, an Arrow table.
        split: The one split to take.
    """
    if isinstance(source, str | os.PathLike):
        streams = _open_path(os.fspath(source))
    elif isinstance(source, Mapping) and type(source).__module__.partition(".")[0] == "datasets":
        streams = {str(name): _open_dataset(dataset, str(name)) for name, dataset in source.items()}
    elif type(source).__module__.partition(".")[0] == "datasets":
        streams = {str(getattr(source, "split", None) or ""): _open_dataset(source, "the dataset")}
        streams = {name if name in SPLITS else "": stream for name, stream in streams.items()}
    elif hasattr(source, "to_batches"):  # an Arrow table
        streams = {"": RowStream("the table", partial(_iter_batches, source.to_batches), source.schema)}
    else:
        rows = read_table(source).to_rows()
        streams = {"": RowStream("the rows", partial(iter, rows))}
    if split is None or list(streams) == [""]:
        return streams
    if split not in streams:
        raise LookupError(f"{source}: has no split {split!r}; it has {format_list(map(repr, streams))}")
    return {split: streams[split]}


def _open_path(source: str) -> dict[str, RowStream]:
    path = Path(source)
    if path.is_file():
        return _open_files([path])
    if path.is_dir():
        return _open_folder(path)
    if glob.has_magic(source):
        files = sorted(Path(name) for name in glob.glob(source, recursive=True) if Path(name).is_file())  # noqa: PTH207 - absolute ones too
        if not files:
            raise FileNotFoundError(f"{source}: no file matches; check the pattern")
        return _open_files(files)
    if is_hub_id(source) and path.suffix.lower() not in CONLL:
        repo, _, config = source.partition(":")
        return _load(repo, config or None, source)
    raise FileNotFoundError(f"{source}: no such file; give the path of a file of rows")


def _open_folder(folder: Path) -> dict[str, RowStream]:
    if is_saved_dataset(folder):
        import datasets

        return open_streams(datasets.load_from_disk(str(folder)))
    card = folder / CARD
    if card.is_file() and "\nconfigs:" in card.read_text(encoding="utf-8", errors="replace"):
        return _load(str(folder), None, str(folder))
    files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (*readers.SUFFIXES, *CONLL)]
    if not files:
        known = format_list(f"*{suffix}" for suffix in (*readers.SUFFIXES, *CONLL))
        raise FileNotFoundError(f"{folder}: has no file of rows; name a folder with files {known}")
    return _open_files(files, folder)


def _load(name: str, config: str | None, source: str) -> dict[str, RowStream]:
    """Return the splits of a repo of the Hub, or of a folder that has the form of one."""
    import datasets

    try:
        return open_streams(datasets.load_dataset(name, config))
    except (datasets.exceptions.DatasetNotFoundError, ConnectionError) as error:
        problem = f"{source}: no such file, and no dataset of the Hub ({readers.strip_error_message(error)})"
        raise FileNotFoundError(f"{problem}; give the path of a file of rows") from None


def _open_files(files: list[Path], folder: Path | None = None) -> dict[str, RowStream]:
    """Group files by the splits that their names state."""
    if len(files) == 1 and files[0].suffix.lower() == ".json":
        return _open_json(files[0])
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(find_split(file.relative_to(folder) if folder else Path(file.name)), []).append(file)
    if len(by_split) > 1 and "" in by_split:
        names = format_list(path.name for path in by_split[""])
        raise ValueError(
            f"{names} is of no split, and other files are of {format_list(filter(None, by_split))}; name it"
        )
    streams = {}
    for split in sorted(by_split, key=lambda name: (*SPLITS.values(), name, "").index(name)):
        parts = [_open_file(file) for file in by_split[split]]
        schemas = {str(part.schema): part.schema for part in parts}
        streams[split] = RowStream(
            format_list((part.name for part in parts), 2),
            partial(_chain, parts),
            parts[0].schema if len(schemas) == 1 else None,
            tuple(by_split[split]),
        )
    return streams


def find_split(path: Path) -> str:
    """Return the split that the name of a file states, or else that of its folder; "" where neither does.

    >>> [find_split(Path(name)) for name in ("train.jsonl", "mine_dev.csv", "test/part-1.parquet", "mine.jsonl")]
    ['train', 'validation', 'test', '']
    """
    for part in (path.stem, *reversed(path.parts[:-1])):
        if names := [SPLITS[word.lower()] for word in WORD.findall(part) if word.lower() in SPLITS]:
            return names[-1]
    return ""


def _chain(parts: list[RowStream]) -> Iterator[Row]:
    return chain.from_iterable(part.read() for part in parts)


def _open_file(path: Path) -> RowStream:
    """Return the rows of one file, by its ending."""
    suffix = path.suffix.lower()
    if suffix in CONLL:
        return RowStream(str(path), partial(_read_conll, path), files=(path,))
    if suffix in readers.COLUMNAR:
        reader = _open_parquet if readers.COLUMNAR[suffix] == "parquet" else _open_arrow
        schema, iterate = reader(path)
        return RowStream(str(path), partial(_iter_batches, iterate), _without_dictionaries(schema), (path,))
    if suffix == ".json":
        return next(iter(_open_json(path).values()))
    if readers.detect_format(path) == "csv":
        return RowStream(str(path), partial(_read_csv, path), files=(path,))
    return RowStream(str(path), partial(_read_lines, path), files=(path,))


def _read_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        yield from readers.parse_json_lines(file, path)


def _read_csv(path: Path) -> Iterator[Row]:
    """Yield the rows of a table; a first reading finds the types, as `readers.infer_types` does for whole columns."""
    delimiter = readers.detect_delimiter(path)

    def read() -> Iterator[list[str]]:
        with path.open("rb") as file:
            for _, cells in readers.parse_csv(readers.decode_lines(file, path), path, delimiter):
                yield cells

    cells = read()
    header = next(cells)
    texts = {index for index, name in enumerate(header) if name == "id"}
    for row in cells:
        texts |= {index for index, cell in enumerate(row) if index not in texts and not _is_json_value(cell)}
    cells = read()
    next(cells)
    for row in cells:
        yield {
            name: cell if name == "id" else None if not cell else cell if index in texts else json.loads(cell)
            for index, (name, cell) in enumerate(zip(header, row, strict=True))
        }


def _is_json_value(cell: str) -> bool:
    """Return whether a cell is empty, a number or a list."""
    if not cell:
        return True
    if readers.NUMBER_OR_LIST.match(cell):
        with suppress(ValueError, RecursionError):
            json.loads(cell)
            return True
    return False


def _open_json(path: Path) -> dict[str, RowStream]:
    """Return the splits of a JSON file: a list of rows, SQuAD's form, or an object of lists by the name of a split."""
    content = readers.read_json(path)
    split = find_split(Path(path.name))
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        rows = list(_flatten_squad(content["data"], path))
    elif isinstance(content, dict) and content and {*content} <= {*SPLITS}:
        return {
            SPLITS[name]: RowStream(str(path), partial(iter, readers.check_objects(part, path)), files=(path,))
            for name, part in content.items()
        }
    else:
        rows = readers.check_objects(content, path)
    return {split: RowStream(str(path), partial(iter, rows), files=(path,))}


def _flatten_squad(articles: list[Any], path: Path) -> Iterator[Row]:
    """Yield a row for each question of SQuAD's articles; other objects are rows themselves."""
    if not all(isinstance(article, dict) and "paragraphs" in article for article in articles):
        yield from readers.check_objects(articles, path)
        return
    try:
        for article in articles:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    answers = question.get("answers", [])
                    yield {
                        "id": str(question["id"]),
                        **({"title": article["title"]} if "title" in article else {}),
                        "context": paragraph["context"],
                        "question": question["question"],
                        "answers": {key: [answer[key] for answer in answers] for key in ("text", "answer_start")},
                    }
    except (KeyError, TypeError) as error:
        raise readers.FileFormatError(path, f"lacks {error} in a question", "give SQuAD's form") from None


def _read_conll(path: Path) -> Iterator[Row]:
    """Yield a row for each block of lines of tokens and tags; comments such as `# id = 7` become columns."""
    columns: Row = {}
    lines: list[list[str]] = []
    with path.open("rb") as file:
        for number, text in enumerate(chain(readers.decode_lines(file, path), [""]), 1):
            line = text.rstrip("\r\n")
            if not line.strip():
                if lines:
                    yield {**columns, **_parse_block(lines, path, number)}
                    columns, lines = {}, []
            elif (comment := COMMENT.fullmatch(line)) and not lines:
                columns[comment["name"]] = comment["value"].strip()
            elif not line.startswith(("-DOCSTART-", "# ")) or lines:
                lines.append(line.split("\t") if "\t" in line else line.split())


def _parse_block(lines: list[list[str]], path: Path, number: int) -> Row:
    """Return the tokens and tags of a block: the first and last cells of its lines, after a number if there is one."""
    if any(len(cells) < 2 for cells in lines):
        raise readers.FileFormatError(
            path, "has a token without a tag", "give each line a token and a tag", line=number - 1
        )
    numbered = all(len(cells) > 2 and cells[0] == str(index) for index, cells in enumerate(lines, 1))
    return {"tokens": [cells[int(numbered)] for cells in lines], "tags": [cells[-1] for cells in lines]}


def _open_parquet(path: Path) -> tuple[Any, Callable[[], Iterator[Any]]]:
    from pyarrow import parquet

    with readers.translate_arrow_errors(path):
        schema = parquet.read_schema(path)

    def iterate() -> Iterator[Any]:
        with readers.translate_arrow_errors(path), parquet.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH_ROWS)

    return schema, iterate


def _open_arrow(path: Path) -> tuple[Any, Callable[[], Iterator[Any]]]:
    import pyarrow as pa

    def iterate() -> Iterator[Any]:
        with readers.translate_arrow_errors(path), pa.OSFile(str(path)) as file:
            try:
                table = pa.ipc.open_file(file)
                yield from map(table.get_batch, range(table.num_record_batches))
            except pa.ArrowInvalid:
                file.seek(0)
                yield from pa.ipc.open_stream(file)

    with readers.translate_arrow_errors(path), pa.OSFile(str(path)) as file:
        try:
            return pa.ipc.open_file(file).schema, iterate
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file).schema, iterate


def _iter_batches(iterate: Callable[[], Any]) -> Iterator[Row]:
    for batch in iterate():
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield from list_rows(batch.slice(start, BATCH_ROWS))


def _without_dictionaries(schema: Any) -> Any:
    """Return a schema with the values of dictionary columns, as rows have them."""
    import pyarrow as pa

    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema
    ]
    return pa.schema(fields, schema.metadata)


def _open_dataset(dataset: Any, name: str) -> RowStream:
    """Return the rows of a dataset of `datasets`, which may be one that is streamed."""
    if dataset.features is None:
        return RowStream(name, partial(iter, dataset))
    schema = dataset.features.arrow_schema

    def iterate() -> Iterator[Any]:
        for batch in dataset.with_format("arrow").iter(BATCH_ROWS):
            yield batch.cast(schema) if hasattr(batch, "cast") else batch

    return RowStream(name, partial(_iter_batches, iterate), schema)
