"""Will the Hub show this folder? The rules of its dataset viewer, and of the clients that load it, as checks.

The rules of the viewer's worker are restated from its public source, huggingface/dataset-viewer at commit f62009e:
limits, first rows, and what each column's statistics need. `viewer_worker.py` runs its statistics where a checkout is.
Not covered: image and audio columns, scans for personal data, the web pages themselves.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml
from datasets import ClassLabel, DatasetInfo, Features, List, Sequence, Value
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCardData

MAX_CONFIGS, SHOWN_CONFIGS = 4000, 100  # Croissant and the loading snippets stop at the second
MAX_SPLITS = 30
MAX_COLUMNS, MAX_COLUMN_NAME = 1000, 500
FIRST_ROWS, FIRST_ROWS_BYTES = 10, 200_000  # below this many rows, cells are cut instead
PAGE_ROWS, PAGE_BYTES = 100, 10_000_000
ROW_GROUP_BYTES = 300_000_000
FORBIDDEN_IN_CONFIG = set("<>:/\\|?*[]")
SHARD = re.compile(r"(?P<split>.+)-(?P<index>\d{5})-of-(?P<shards>\d{5})\.parquet")
BINS = 10
CATEGORY_SHARE, MAX_CATEGORIES = 0.2, 1000  # string columns below these are shown as categories

YAML_BYTES = 60_000  # the Hub's own limit is not published; cards of 139 KB were met with 413
CARD_SECTIONS = (
    (2, "Dataset Details"),
    (3, "Dataset Description"),
    (3, "Dataset Sources"),
    (2, "Uses"),
    (3, "Direct Use"),
    (3, "Out-of-Scope Use"),
    (2, "Dataset Structure"),
    (2, "Dataset Creation"),
    (3, "Curation Rationale"),
    (3, "Source Data"),
    (4, "Data Collection and Processing"),
    (4, "Who are the source data producers?"),
    (3, "Annotations"),
    (4, "Annotation process"),
    (4, "Who are the annotators?"),
    (4, "Personal and Sensitive Information"),
    (2, "Bias, Risks, and Limitations"),
    (3, "Recommendations"),
    (2, "Citation"),
    (2, "Glossary"),
    (2, "More Information"),
    (2, "Dataset Card Authors"),
    (2, "Dataset Card Contact"),
)


class Finding(NamedTuple):
    """Something the Hub would stumble over (serious), or show less well."""

    what: str
    serious: bool = True


def check_folder(folder: Path) -> list[str]:
    """Return what would break a client or the viewer; nothing for a folder fit to be published."""
    return [finding.what for finding in findings(folder) if finding.serious]


def warn_folder(folder: Path) -> list[str]:
    """Return what the viewer would show less well."""
    return [finding.what for finding in findings(folder) if not finding.serious]


def findings(folder: Path) -> Iterator[Finding]:
    """Yield all that is to be said of a folder."""
    yield from (
        Finding(f"{script.name} in the root: datasets refuses a repo of that name") for script in folder.glob("*.py")
    )
    card = folder / "README.md"
    if not card.is_file():
        yield Finding("there is no README.md")
        return
    text = card.read_text(encoding="utf-8")
    parts = re.fullmatch(r"---\n(?P<yaml>.*?)\n---\n(?P<prose>.*)", text, re.DOTALL)
    if parts is None:
        yield Finding("README.md does not begin with YAML between --- lines")
        return
    yield from check_prose(parts["prose"])
    if (size := len(parts["yaml"].encode())) > YAML_BYTES:
        yield Finding(f"README.md has {size:,} bytes of YAML; the Hub answers 413 to a few times as many")
    try:
        content = yaml.safe_load(parts["yaml"])
        card_data = DatasetCardData(**content)
        configs = MetadataConfigs.from_dataset_card_data(card_data)
        infos = DatasetInfosDict.from_dataset_card_data(card_data)
    except Exception as error:  # noqa: BLE001 - whatever the client trips over
        yield Finding(f"datasets cannot read the YAML of README.md: {error}")
        return
    yield from check_configs(content, configs, infos)
    yield from check_files(folder, configs)
    for config, info in infos.items():
        if config in configs:
            yield from check_config(folder, config, configs[config], info)


def check_prose(prose: str) -> Iterator[Finding]:
    """Check the card's text: every section of the template is there and says something."""
    for placeholder in re.findall(r"\[More Information Needed\]|\{\{ .*? \}\}|\{% .*? %\}", prose):
        yield Finding(f"the card still has {placeholder!r}")
    outline = re.sub(r"(?ms)^```.*?^```", "code", prose)  # a comment in code is no heading
    headings = list(re.finditer(r"(?m)^(#+) +(.+?) *$", outline))
    levels = {heading[2]: len(heading[1]) for heading in headings}
    for level, title in CARD_SECTIONS:
        if title not in levels:
            yield Finding(f"the card has no section {title!r}")
        elif levels[title] != level:
            yield Finding(f"the card's section {title!r} is at level {levels[title]}, the template's at {level}")
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        end = following.start() if following else len(outline)
        has_children = following is not None and len(following[1]) > len(heading[1])
        if not has_children and not outline[heading.end() : end].strip():
            yield Finding(f"the card's section {heading[2]!r} is empty")


def check_configs(content: dict[str, Any], configs: MetadataConfigs, infos: DatasetInfosDict) -> Iterator[Finding]:
    """Check names and numbers of configs, and that the two lists of the YAML are about the same ones."""
    names = [entry["config_name"] for entry in content.get("configs", [])]
    if not names:
        yield Finding("the YAML lists no configs")
    yield from (
        Finding(f"config {name!r} is listed {count} times") for name, count in Counter(names).items() if count > 1
    )
    described = content.get("dataset_info", [])
    twice = Counter(
        entry.get("config_name", "default") for entry in ([described] if isinstance(described, dict) else described)
    )
    yield from (Finding(f"config {name!r} is described {count} times") for name, count in twice.items() if count > 1)
    if len(configs) > MAX_CONFIGS:
        yield Finding(f"{len(configs)} configs, the viewer stops at {MAX_CONFIGS}")
    elif len(configs) > SHOWN_CONFIGS:
        yield Finding(f"{len(configs)} configs, Croissant shows the first {SHOWN_CONFIGS}", serious=False)
    for name in configs:
        if not isinstance(name, str):
            yield Finding(f"config {name!r} is a {type(name).__name__} in YAML, it needs quotes")
        elif not name or name == "data" or FORBIDDEN_IN_CONFIG & set(name):
            yield Finding(f"config {name!r} has a name that datasets rejects")
    try:
        if configs.get_default_config_name() is None:
            yield Finding("no config is the default")
    except ValueError as error:
        yield Finding(str(error))
    for name in sorted(set(map(str, configs)) ^ set(map(str, infos))):
        yield Finding(f"config {name!r} is only in {'configs' if name in configs else 'dataset_info'} of the YAML")


def check_files(folder: Path, configs: MetadataConfigs) -> Iterator[Finding]:
    """Check that every Parquet file belongs to exactly one split."""
    owners = Counter(
        file for config in configs.values() for entry in config["data_files"] for file in folder.glob(entry["path"])
    )
    for file in sorted(folder.rglob("*.parquet")):
        if owners[file] != 1:
            yield Finding(f"{file.relative_to(folder).as_posix()} belongs to {owners[file]} splits")


@dataclass(frozen=True, slots=True)
class Split:
    """One split as its files tell it."""

    place: str
    table: pa.Table
    features: Features
    download_size: int


def check_config(folder: Path, config: str, metadata: dict[str, Any], info: DatasetInfo) -> Iterator[Finding]:
    """Compare what the YAML says of a config with the footers of its files, and check each split."""
    paths = {entry["split"]: entry["path"] for entry in metadata["data_files"]}
    if len(paths) > MAX_SPLITS:
        yield Finding(f"config {config!r} has {len(paths)} splits, the viewer stops at {MAX_SPLITS}")
    if list(paths) != list(info.splits or {}):
        yield Finding(
            f"config {config!r} has the splits {list(paths)} in configs, {list(info.splits or {})} in dataset_info"
        )
    download_size = 0
    for split, path in paths.items():
        place = f"{config}/{split}"
        if not re.fullmatch(r"\w+(\.\w+)*", split) or split == "all":
            yield Finding(f"{place}: datasets rejects the name of the split")
        files = sorted(folder.glob(path))
        if not files:
            yield Finding(f"{place}: no file matches {path}")
            continue
        yield from check_shards(place, split, files)
        tables = []
        for file in files:
            yield from check_footer(f"{place}: {file.name}", file, info.features)
            tables.append(pq.read_table(file))
            download_size += file.stat().st_size
        if len({table.schema.remove_metadata() for table in tables}) > 1:
            yield Finding(f"{place}: its files have different columns")
            continue
        table = pa.concat_tables(tables)
        yield from check_size(place, table, info, split)
        yield from check_rows(place, table, info.features)
    if info.download_size != download_size:
        yield Finding(
            f"config {config!r}: download_size is {info.download_size} in YAML, the files have {download_size}"
        )
    if info.dataset_size != sum(split.num_bytes for split in (info.splits or {}).values()):
        yield Finding(f"config {config!r}: dataset_size is not the sum of its splits' num_bytes")


def check_shards(place: str, split: str, files: list[Path]) -> Iterator[Finding]:
    """Check that the shards of a split are complete and named after it."""
    shards = [SHARD.fullmatch(file.name) for file in files]
    expected = [(split, f"{index:05}", f"{len(files):05}") for index in range(len(files))]
    if [match.groups() if match else None for match in shards] != expected:
        yield Finding(f"{place}: {', '.join(file.name for file in files)} are not all shards of the split")


def check_footer(place: str, file: Path, announced: Features | None) -> Iterator[Finding]:
    """Check one file by its footer alone: features, where the YAML has them too, page index, row groups."""
    parquet = pq.ParquetFile(file)
    footer = parquet.schema_arrow.metadata or {}
    if b"huggingface" not in footer:
        yield Finding(f"{place} has no features in its footer")
    elif announced is not None and (features := Features.from_arrow_schema(parquet.schema_arrow)) != announced:
        different = [name for name in {**features, **announced} if features.get(name) != announced.get(name)]
        yield Finding(f"{place} and the YAML have different features: {', '.join(different)}")
    for group in range(parquet.metadata.num_row_groups):
        row_group = parquet.metadata.row_group(group)
        chunks = [row_group.column(column) for column in range(row_group.num_columns)]
        if not all(chunk.has_offset_index and chunk.has_column_index for chunk in chunks):
            yield Finding(f"{place} has no page index")
            break
        if row_group.total_byte_size > ROW_GROUP_BYTES:
            yield Finding(f"{place} has a row group of {row_group.total_byte_size:,} bytes, over {ROW_GROUP_BYTES:,}")


def check_size(place: str, table: pa.Table, info: DatasetInfo, split: str) -> Iterator[Finding]:
    """Compare the numbers of the YAML with the table."""
    announced = (info.splits or {}).get(split)
    if announced is None:
        return
    if announced.num_examples != table.num_rows:
        yield Finding(f"{place}: num_examples is {announced.num_examples} in YAML, {table.num_rows} in the files")
    least = table.nbytes - sum(bitmap_bytes(chunk) for column in table.columns for chunk in column.chunks)
    slack = 64 + table.nbytes // 100  # each chunk of rows has one offset more
    if not least - slack <= announced.num_bytes <= table.nbytes + slack:
        yield Finding(f"{place}: num_bytes is {announced.num_bytes:,} in YAML, {table.nbytes:,} in memory")


def bitmap_bytes(array: pa.Array) -> int:
    """Return the size of an array's maps of nulls, which a reader may keep even where nothing is null."""
    own = 0 if array.buffers()[0] is None else ceil(len(array) / 8)
    if pa.types.is_struct(array.type):
        return own + sum(bitmap_bytes(array.field(index)) for index in range(array.type.num_fields))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return own + bitmap_bytes(array.values)
    return own


def check_rows(place: str, table: pa.Table, features: Features | None) -> Iterator[Finding]:
    """Check what the viewer does with the rows of a split: first rows, pages, statistics."""
    if not table.num_rows:
        yield Finding(f"{place} is empty")
    if table.num_columns > MAX_COLUMNS:
        yield Finding(f"{place} has {table.num_columns} columns, the viewer stops at {MAX_COLUMNS}")
    for name in table.column_names:
        if len(name) > MAX_COLUMN_NAME:
            yield Finding(f"{place}: the column {name[:20]}… has a name of {len(name)} characters")
        if table.num_rows and table[name].null_count == table.num_rows:
            yield Finding(f"{place}: the column {name!r} is null in every row")
    if features and (size := len(json.dumps(features.to_dict()))) > FIRST_ROWS_BYTES:
        yield Finding(f"{place}: the features take {size:,} bytes, over {FIRST_ROWS_BYTES:,}")
    yield from check_json(place, table)
    for name, feature in (features or {}).items():
        if name in table.column_names:
            try:
                statistics(table[name], feature)
            except StatisticsError as error:
                yield Finding(f"{place}: no statistics of {name!r}: {error}", error.serious)


def check_json(place: str, table: pa.Table) -> Iterator[Finding]:
    """Check that rows become JSON of a size the viewer sends."""
    try:
        page = [json_bytes(row) for row in table.slice(0, PAGE_ROWS).to_pylist()]
    except (TypeError, ValueError) as error:
        yield Finding(f"{place}: the first rows do not become JSON: {error}")
        return
    if sum(page[:FIRST_ROWS]) > FIRST_ROWS_BYTES:
        yield Finding(f"{place}: the first {FIRST_ROWS} rows take {sum(page[:FIRST_ROWS]):,} bytes, so cells are cut")
    sizes = [sum(page)]
    sizes += [table.slice(start, PAGE_ROWS).nbytes for start in range(PAGE_ROWS, table.num_rows, PAGE_ROWS)]
    if max(sizes) > PAGE_BYTES:
        yield Finding(f"{place}: a page of {PAGE_ROWS} rows takes {max(sizes):,} bytes, over {PAGE_BYTES:,}")


def json_bytes(row: dict[str, Any]) -> int:
    """Return how long a row is as JSON."""

    def rest(value: Any) -> str:
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        raise TypeError(f"{type(value).__name__} has no JSON form")

    return len(json.dumps(row, ensure_ascii=False, default=rest).encode())


class StatisticsError(Exception):
    """The viewer would show no statistics of the whole split."""

    def __init__(self, reason: str, *, serious: bool = True) -> None:
        super().__init__(reason)
        self.serious = serious


def statistics(column: pa.ChunkedArray, feature: Any) -> dict[str, Any] | None:
    """Return a column's statistics as the viewer computes them; None for a type that it passes over.

    >>> statistics(pa.chunked_array([["ab", "c", None]]), Value("string"))
    {'frequencies': {'ab': 1, 'c': 1}, 'nulls': 1}
    >>> statistics(pa.chunked_array([[[1], [1, 2, 3], []]]), List(Value("int32")))["histogram"]
    {'counts': [1, 1, 1], 'edges': [0, 1, 2, 3]}
    """
    if not len(column):
        raise StatisticsError("there are no rows to divide by")
    if isinstance(feature, ClassLabel):
        return class_statistics(column, feature)
    if isinstance(feature, List | Sequence | list):
        return number_statistics(pc.list_value_length(column))
    dtype = feature.dtype if isinstance(feature, Value) else ""
    if dtype in {"string", "large_string"}:
        return string_statistics(column)
    if dtype == "bool":
        return {"frequencies": frequencies(column), "nulls": column.null_count}
    if re.fullmatch(r"u?int\d+|float\d+", dtype):
        return number_statistics(column)
    return None


def frequencies(column: pa.ChunkedArray) -> dict[Any, int]:
    """Count the values that are not null."""
    counts = pc.value_counts(column.drop_null().combine_chunks())
    return {entry["values"].as_py(): entry["counts"].as_py() for entry in counts}


def class_statistics(column: pa.ChunkedArray, feature: ClassLabel) -> dict[str, Any]:
    """Count the examples of each class; -1 stands for no label."""
    counts = frequencies(column)
    unlabelled = counts.pop(-1, 0)
    if strange := sorted(set(counts) - set(range(feature.num_classes))):
        raise StatisticsError(f"{strange[0]} is none of its {feature.num_classes} classes")
    return {
        "frequencies": {name: counts.get(number, 0) for number, name in enumerate(feature.names)},
        "nulls": column.null_count,
        "unlabelled": unlabelled,
    }


def string_statistics(column: pa.ChunkedArray) -> dict[str, Any]:
    """Count the values when they are few, else measure their lengths."""
    distinct = pc.count_distinct(column, mode="all").as_py()
    if distinct <= BINS or (distinct / len(column) <= CATEGORY_SHARE and distinct <= MAX_CATEGORIES):
        return {"frequencies": frequencies(column), "nulls": column.null_count}
    return number_statistics(pc.utf8_length(column))


def number_statistics(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return moments and a histogram; the edges of integers are integers."""
    values = column.drop_null().to_numpy()
    if values.dtype.kind == "f":
        values = values[~np.isnan(values)]
    nulls = len(column) - len(values)
    if not len(values):
        return {"nulls": nulls}
    if len(values) == 1:
        raise StatisticsError("one value alone has no deviation (huggingface/dataset-viewer#2653)")
    low, high = values.min().item(), values.max().item()
    if not np.isfinite([low, high]).all():
        raise StatisticsError("an infinite value fits no histogram")
    edges = bin_edges(low, high)
    if len(edges) == 2 and low != high:
        raise StatisticsError(f"all are {low} or {high} (huggingface/dataset-viewer#3440)")
    counts = [len(values)] if low == high else np.histogram(values, edges)[0].tolist()
    if sum(counts) != len(values):
        raise StatisticsError(f"its histogram holds {sum(counts)} of {len(values)} values")
    return {
        "nulls": nulls,
        "min": low,
        "max": high,
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "std": float(values.std(ddof=1)),
        "histogram": {"counts": counts, "edges": edges},
    }


def bin_edges(low: float, high: float) -> list[float]:
    """Return at most ten bins; those of integers have a whole width.

    >>> bin_edges(0, 12), bin_edges(4, 5), bin_edges(7, 7)
    ([0, 2, 4, 6, 8, 10, 12], [4, 5], [7, 7])
    """
    if low == high:
        return [low, high]
    width = (high - low) / BINS if isinstance(low, float) else ceil((high - low + 1) / BINS)
    edges = np.arange(low, high, width).tolist()
    return edges if edges[-1] == high else [*edges, high]
