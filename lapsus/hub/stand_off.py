"""Stand-off publishing: the edits of noisy rows without their texts, and the rows again over the user's own copy.

Rows of a base without a licence cannot be passed on, but the noise over them is ours: `id, edits, operator` and the
SHA-256 of the clean text. `make_edits_benchmark` turns a built folder into such a dataset; `make_rebuild_benchmark`
builds the rows again from the original files, and refuses files with other texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import datasets
from datasets import Features, Value

from lapsus.core.edits import apply, parse_edits
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.dataset_scripts import EDITS, Benchmark, Source, benchmarks
from lapsus.hub.built_folder import EDITS_FILE, read_card
from lapsus.hub.people import derive_edits
from lapsus.perturbations import apply_tags, apply_tokens
from lapsus.stats.noise_rates import find_noisy_columns

Row = dict[str, Any]
HASH = "clean_sha256"
ENDING = "-edits"  # of the name of the repo
TAGS, CLEAN_TAGS = "tags", "clean_tags"


@dataclass(frozen=True, slots=True)
class ConfigEdits:
    """How a config follows from another one: `base` is that config, `paths` are where the noisy texts stand."""

    base: str
    paths: dict[str, list[str]]  # name of the text -> column and keys
    has_record: bool  # whether the rows hold edits and operator themselves
    digests: dict[str, str]  # split -> SHA-256 of its rows


def hash_texts(texts: Iterable[Any]) -> str:
    """Return the SHA-256 of the clean texts of a row; tokens count as the text they make.

    >>> hash_texts(["slow down"])[:8]
    'e4120a64'
    """
    return hashlib.sha256("\n".join(map(to_text, texts)).encode()).hexdigest()


def hash_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of rows, as JSON."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def get_path(row: Mapping[str, Any], path: Iterable[str]) -> Any:
    """Return the value at a path of a row."""
    value: Any = row
    for key in path:
        value = value[key]
    return value


def put_path(container: Mapping[str, Any], path: list[str], value: Any) -> Any:
    """Return a row with another value at a path.

    >>> put_path({"translation": {"zh": "a", "en": "b"}}, ["translation", "zh"], "c")
    {'translation': {'zh': 'c', 'en': 'b'}}
    """
    if not path:
        return value
    return {**container, path[0]: put_path(container[path[0]], path[1:], value)}


def replay(clean: Mapping[str, Any], record: Mapping[str, Any], how: ConfigEdits, tag_names: list[str] | None) -> Row:
    """Return the noisy row that recorded edits make of a clean one; raise where its text is another."""
    texts = {name: get_path(clean, path) for name, path in how.paths.items()}
    if hash_texts(texts.values()) != record[HASH]:
        raise ValueError(
            f"row {record['id']!r} of the source has another text than the edits were made for; get the original files"
        )
    row: Row = dict(clean)
    for name, path in how.paths.items():
        edits = parse_edits(record["edits"][name])
        value = texts[name]
        if isinstance(value, list) and TAGS in clean:
            tags = [tag_names[tag] if tag_names else tag for tag in clean[TAGS]]
            noisy_tags = apply_tags(value, tags, edits)
            row[TAGS] = [tag_names.index(tag) for tag in noisy_tags] if tag_names else noisy_tags
            row[CLEAN_TAGS] = clean[TAGS]
        noisy = apply_tokens(value, edits) if isinstance(value, list) else apply(value, edits)
        row = put_path(row, path, noisy)
        row[f"clean_{name}"] = value
    return {**row, "edits": record["edits"], "operator": record["operator"]} if how.has_record else row


def read_split(folder: Path, config: str, split: str) -> datasets.Dataset:
    """Return the rows of a split of a built folder."""
    files = sorted(str(path) for path in (folder / config).glob(f"{split}-?????-of-?????.parquet"))
    return datasets.Dataset.from_parquet(files, cache_dir=str(folder.parent / ".unused"), keep_in_memory=True)


class Edits(Benchmark):
    """The edits of noisy rows, without their texts."""

    PROSE = "_edits.md"
    OWN = True
    FOLDER: ClassVar[Path]
    BASE_NAME: ClassVar[str]
    CONFIGS: ClassVar[Mapping[str, ConfigEdits]]
    OTHERS: ClassVar[tuple[str, ...]]  # configs without noise, which the source gives

    def __init__(self, *args: Any, source: Source | None = None, **kwargs: Any) -> None:
        super().__init__(*args, source=Source(Path(), {}), **kwargs)

    def _has_split(self, split: str) -> bool:
        return True

    def columns(self, config: str) -> Features:
        """Return the features of every config."""
        edits = dict.fromkeys(self.CONFIGS[config].paths, EDITS)
        text = Value("string")
        operator = {"operator": text} if self.CONFIGS[config].has_record else {}
        return Features({"id": text, "edits": edits, **operator, HASH: text})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the records of a split."""
        yield from iter_records(read_split(self.FOLDER, config, split), self.CONFIGS[config])

    @classmethod
    def render_files(cls) -> dict[str, str]:
        """Return the file that says how the rows follow from their base."""
        content = {
            "benchmark": cls.BASE_NAME,
            "version": str(cls.VERSION),
            "others": list(cls.OTHERS),
            "configs": {name: asdict(how) for name, how in cls.CONFIGS.items()},
        }
        return {EDITS_FILE: json.dumps(content, indent=1, ensure_ascii=False) + "\n"}


def iter_records(rows: Iterable[Mapping[str, Any]], how: ConfigEdits) -> Iterator[Row]:
    """Yield what is published of noisy rows."""
    for row in rows:
        texts = {name: row[f"clean_{name}"] for name in how.paths}
        edits = (
            row["edits"]
            if how.has_record
            else {
                name: derive_edits(to_text(texts[name]), to_text(get_path(row, path)))
                for name, path in how.paths.items()
            }
        )
        operator = {"operator": row["operator"]} if how.has_record else {}
        yield {"id": row["id"], "edits": edits, **operator, HASH: hash_texts(texts.values())}


def make_edits_benchmark(folder: Path, license: str | None, *, people: bool = False) -> tuple[type[Edits], list[str]]:
    """Return the benchmark of a built folder's edits, and the configs that edits cannot express, each with the reason.

    What people wrote is theirs: it is left out unless `people` says that they agreed.
    """
    card = read_card(folder)
    known = benchmarks()
    if card.name not in known:
        raise LookupError(f"{folder} is no benchmark of lapsus, so that others could not build its rows; push it whole")
    benchmark = known[card.name]
    configs: dict[str, ConfigEdits] = {}
    rows: dict[str, dict[str, int | None]] = {}
    left_out: list[str] = []
    others: list[str] = []
    names = [name for name in benchmark.ROWS if (folder / name).is_dir()]
    for config in names:
        splits = [split for split in benchmark.ROWS[config] if list((folder / config).glob(f"{split}-*.parquet"))]
        tables = {split: read_split(folder, config, split) for split in splits}
        features = next(iter(tables.values())).features
        noisy = find_noisy_columns(features, benchmark.NOISY)
        if not noisy:
            others.append(config)
            continue
        if "edits" not in features and not people:
            left_out.append(f"{config}: what people wrote needs their permission (--people-agreed)")
            continue
        paths = {name.removeprefix("clean_"): list(path) for name, path in noisy.items() if name != CLEAN_TAGS}
        how = _find_base(folder, config, tables, names, paths)
        if how is None:
            left_out.append(f"{config}: its rows are no edits of the rows of another config")
            continue
        configs[config] = how
        rows[config] = {split: len(table) for split, table in tables.items()}
    if not configs:
        raise ValueError(f"no config of {folder} can be published as edits: {format_list(left_out)}")
    facts = {
        "__doc__": f"The edits of the noisy rows of {card.name}, without their texts.",
        "__module__": __name__,
        "NAME": card.name + ENDING,
        "TITLE": f"{benchmark.TITLE}: edits",
        "LANGUAGES": benchmark.LANGUAGES,
        "LICENSE": license,
        "VERSION": benchmark.VERSION,
        "TASKS": benchmark.TASKS,
        "TAGS": (*benchmark.TAGS, "stand-off"),
        "ANNOTATIONS": benchmark.ANNOTATIONS,
        "WHERE": benchmark.WHERE,
        "ROWS": rows,
        "FOLDER": folder,
        "BASE_NAME": card.name,
        "CONFIGS": configs,
        "OTHERS": tuple(others),
    }
    return type("Edits", (Edits,), facts), left_out


def _find_base(
    folder: Path, config: str, tables: Mapping[str, datasets.Dataset], names: Iterable[str], paths: dict[str, list[str]]
) -> ConfigEdits | None:
    """Return from which config the rows of another follow by their edits, where every row does."""
    for base in names:
        if base == config or any(not list((folder / base).glob(f"{split}-*.parquet")) for split in tables):
            continue
        digests = {split: hash_rows(table) for split, table in tables.items()}
        how = ConfigEdits(base, paths, "edits" in next(iter(tables.values())).features, digests)
        clean_tables = {split: read_split(folder, base, split) for split in tables}
        if any("operator" in table.features for table in clean_tables.values()):
            continue
        try:
            replayed = {
                split: hash_rows(iter_replayed(clean_tables[split], iter_records(table, how), how, table.features))
                for split, table in tables.items()
            }
        except (ValueError, LookupError, TypeError):
            continue
        if replayed == digests:
            return how
    return None


def iter_replayed(
    clean: Iterable[Row], records: Iterable[Row], how: ConfigEdits, features: Features | None = None
) -> Iterator[Row]:
    """Yield the noisy rows of records, over the clean rows with their ids; `features` name the tags of numbers."""
    tags = getattr((features or {}).get(TAGS), "feature", None)
    names = list(getattr(tags, "names", ())) or None
    by_id = {row["id"]: row for row in clean}
    for record in records:
        if record["id"] not in by_id:
            raise ValueError(f"the source has no row {record['id']!r}, which the edits are for; get the original files")
        yield replay(by_id[record["id"]], record, how, names)


def open_edits(name: str) -> Path:
    """Return the folder of edits: one that is here, or a repo of the Hub."""
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(name, repo_type="dataset"))


def make_rebuild_benchmark(folder: Path) -> type[Benchmark]:
    """Return the benchmark that edits belong to; its noisy rows are made of the recorded edits."""
    file = folder / EDITS_FILE
    if not file.is_file():
        raise FileNotFoundError(f"{folder} has no {EDITS_FILE}; name a folder or repo that `lapsus edits` made")
    content = json.loads(file.read_text(encoding="utf-8"))
    known = benchmarks()
    if content["benchmark"] not in known:
        raise LookupError(f"{folder} is for {content['benchmark']!r}, which this version of lapsus does not know")
    benchmark = known[content["benchmark"]]
    configs = {name: ConfigEdits(**how) for name, how in content["configs"].items()}

    wanted = {*content["others"], *configs}

    class Rebuild(benchmark):  # type: ignore[valid-type, misc] # a class of the catalogue
        """The benchmark, with the noise that was published."""

        VERSION = datasets.Version(content["version"])
        ROWS: ClassVar[Mapping[str, Mapping[str, int | None]]] = {
            name: splits for name, splits in benchmark.ROWS.items() if name in wanted
        }

        def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
            if config not in configs:
                yield from super().rows(source, config, split)
                return
            how = configs[config]
            records = read_split(folder, config, split)
            yield from iter_replayed(super().rows(source, how.base, split), records, how)

        @classmethod
        def check_built(cls, config: str, split: str, rows: datasets.Dataset) -> None:
            if config in configs and hash_rows(rows) != configs[config].digests[split]:
                raise ValueError(
                    f"{config}/{split} is not what the edits were made from; get the files of {cls.NAME} again"
                )

    Rebuild.__doc__, Rebuild.__module__ = benchmark.__doc__, benchmark.__module__
    return Rebuild
