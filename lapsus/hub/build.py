"""Build a Hub dataset from a benchmark's rows: Parquet files and a card.

    DIR/README.md                                    generated YAML, prose from hub_cards/
    DIR/<config>/<split>-00000-of-00001.parquet

The same sources, version and package give the same bytes.
"""

from __future__ import annotations

import re
import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.conversations import apply_to_messages, is_messages
from lapsus.core.edits import apply
from lapsus.core.executors import LOCAL, Executor
from lapsus.core.files import CACHE, stage_folder
from lapsus.core.messages import format_list
from lapsus.core.terminal import hide_datasets_bars
from lapsus.core.types import StrPath
from lapsus.dataset_scripts.source import open_source
from lapsus.hub.built_folder import select_own_files
from lapsus.hub.dataset_card import render_card
from lapsus.hub.viewer_rules import find_columns_without_statistics
from lapsus.stats.noise_rates import NoiseRateAccumulator, TrackNoiseRates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import datasets

    from lapsus.dataset_scripts.benchmark import Benchmark

MAX_SHARD_BYTES = 500 * 1000**2
BATCH_ROWS = 1000
FORBIDDEN_IN_CONFIG = re.compile(r"[:\[\]*/\\<>|?]")
SPLIT_NAME = re.compile(r"\w+(\.\w+)*")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The files and counts of a build."""

    path: Path
    rows: Mapping[str, Mapping[str, int]]  # config -> split -> number of rows
    row_count_mismatches: Mapping[str, tuple[int, int]]  # "config/split" -> (official, built), where they differ
    rates: tuple[TrackNoiseRates, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)  # file -> sha256
    foreign_files: tuple[str, ...] = ()  # files that others had put into the folder
    flags: tuple[str, ...] = ()  # what is odd in the rows

    def summary(self) -> str:
        """Return the sentence about the build for the command line.

        >>> from pathlib import Path
        >>> BuildResult(Path("/sample"), {"clean": {"test": 1200}}, {}).summary()
        'wrote 1,200 rows in 1 config to /sample'
        """
        rows = sum(sum(splits.values()) for splits in self.rows.values())
        configs = sum(any(splits.values()) for splits in self.rows.values())
        notice = f"; not of this build and left there: {format_list(self.foreign_files)}" if self.foreign_files else ""
        return f"wrote {rows:,} rows in {configs} config{'s' if configs > 1 else ''} to {self.path}{notice}"


def build_dataset(
    benchmark: type[Benchmark],
    out: StrPath,
    *,
    source: StrPath | None = None,
    allow_partial: bool = False,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    executor: Executor = LOCAL,
) -> BuildResult:
    """Build `benchmark` from the files at `source` into the folder `out`; the engine makes synthetic noise.

    Raises ValueError, and leaves `out` as it was, when the rows are not fit to be published
    or are neither the official number of rows nor what the source's address is known to give;
    `allow_partial` accepts another number of rows; the card then states both numbers.
    """
    import datasets
    from tqdm import tqdm

    out = Path(out)
    check_facts(benchmark)
    infos = datasets.info.DatasetInfosDict()
    rows: dict[str, dict[str, int]] = {}
    sources: dict[str, str] = {}
    rates: list[TrackNoiseRates] = []
    flags: dict[str, None] = {}
    unseen: defaultdict[str, set[str]] = defaultdict(set)  # columns of a config that the viewer has no statistics of
    with (
        stage_folder(
            out,
            may_replace=partial(is_build_of, benchmark),
            description=f"build of {benchmark.NAME}",
            is_own_file=lambda name: bool(select_own_files([name])),
        ) as folder,
        hide_datasets_bars(),
    ):
        cache = folder.with_name(CACHE)
        root = Path(source) if source else benchmark.get_bundled_folder()
        files = open_source(root) if root else None  # for all configs: an archive may hold many thousand files
        for config in tqdm(benchmark.ROWS, desc=f"build {benchmark.NAME}", unit="config", leave=False):
            check_config_name(config)
            builder = benchmark(config_name=config, source=files, cache_dir=str(cache), hash="publish")
            builder.executor = executor
            splits = run_builder(builder, missing_is_empty=allow_partial)
            flags |= dict.fromkeys(builder.flags)
            if builder.source:
                sources |= builder.source.hashes
            rows[config] = {split: len(splits.get(split, ())) for split in benchmark.ROWS[config]}
            for split, n_rows in rows[config].items():
                if not (n_rows or allow_partial):
                    raise ValueError(
                        f"{config}/{split} has no rows, and an empty split cannot be loaded; "
                        "check the source, or build what is there with --allow-partial"
                    )
            if not splits:
                continue
            for split, dataset in splits.items():
                check_rows(f"{config}/{split}", dataset)
                benchmark.check_built(config, split, dataset)
                rates += measure_noise(f"{config}/{split}", dataset, benchmark)
                unseen[config] |= {*find_columns_without_statistics(dataset.data.table, dataset.features)}
            infos[config] = write_config(splits, folder / config, config, max_shard_bytes)
        flags |= dict.fromkeys(_describe_unseen(unseen))
        mismatches = {
            f"{config}/{split}": (official, rows[config][split])
            for config, splits in benchmark.ROWS.items()
            for split, official in splits.items()
            if official is not None and official != rows[config][split]
        }
        unexpected = {
            place: counts for place, counts in mismatches.items() if counts[1] != benchmark.AT_ADDRESS.get(place)
        }
        if unexpected and not allow_partial:
            raise ValueError(
                f"{benchmark.NAME} does not have its official rows: "
                + "; ".join(
                    f"{place} has {actual}, expected {official}" for place, (official, actual) in unexpected.items()
                )
                + "; check the source, or build what is there with --allow-partial"
            )
        if not infos:
            raise ValueError(f"no rows of {benchmark.NAME} were found in {source}; check the source")
        foreign_files = tuple(sorted(set(_list_files(out)) - select_own_files(_list_files(out))))
        result = BuildResult(
            out.absolute(), rows, mismatches, tuple(rates), dict(sorted(sources.items())), foreign_files, tuple(flags)
        )
        for name, text in benchmark.render_files().items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "README.md").write_text(render_card(benchmark, infos, result), encoding="utf-8")
    return result


def _describe_unseen(unseen: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the sentence on configs that the viewer has no statistics of."""
    if columns := sorted(set().union(*unseen.values())):
        configs = format_list(config for config, names in unseen.items() if names)
        yield f"the Hub's viewer will show no statistics of {configs}, because of {format_list(columns)}"


def check_facts(benchmark: type[Benchmark]) -> None:
    """Raise unless a benchmark states the facts that its card needs."""
    absent = [fact for fact in ("NAME", "TITLE", "LANGUAGES", "LICENSE", "ROWS") if not hasattr(benchmark, fact)]
    if absent:
        raise ValueError(
            f"the benchmark {benchmark.__name__} states no {' and no '.join(absent)}; "
            "give it the class attribute (LICENSE = None where the source states none)"
        )


def _list_files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def is_build_of(benchmark: type[Benchmark], folder: Path) -> bool:
    """Tell whether the folder is an earlier build of the benchmark."""
    card = folder / "README.md"
    return card.is_file() and f"\nlapsus: {benchmark.NAME}\n" in card.read_text(encoding="utf-8")


def run_builder(builder: Benchmark, *, missing_is_empty: bool) -> dict[str, datasets.Dataset]:
    """Run a builder and return its splits that have rows; optionally, a missing source file counts as no rows."""
    import datasets

    try:
        builder.download_and_prepare(verification_mode="no_checks")
    except datasets.exceptions.DatasetGenerationError as error:
        reason = error.__cause__ or error
        if missing_is_empty and isinstance(reason, FileNotFoundError):
            return {}
        if isinstance(reason, ValueError | TypeError) and not _is_row_error(reason):
            raise ValueError(builder.find_misfit() or f"{builder.NAME}/{builder.config.name}: {reason}") from error
        raise reason from error
    return {split: builder.as_dataset(split=split) for split, info in builder.info.splits.items() if info.num_examples}


def _is_row_error(error: BaseException) -> bool:
    """Return whether an error came from reading rows, whose message names file and place, not from writing them."""
    return any(frame.name == "_generate_examples" for frame in traceback.extract_tb(error.__traceback__))


def write_config(
    splits: Mapping[str, datasets.Dataset], folder: Path, config: str, max_shard_bytes: int
) -> datasets.DatasetInfo:
    """Write the Parquet files of one config and return what the card says of it."""
    import datasets

    folder.mkdir(parents=True)
    infos = datasets.SplitDict()
    download_size = 0
    for split, rows in splits.items():
        size = rows._estimate_nbytes()  # noqa: SLF001 - what push_to_hub itself counts
        shards = max(1, ceil(size / max_shard_bytes))
        for index in range(shards):
            file = folder / f"{split}-{index:05}-of-{shards:05}.parquet"
            rows.shard(shards, index, contiguous=True).to_parquet(str(file))
            download_size += file.stat().st_size
        infos[split] = datasets.SplitInfo(split, num_bytes=size, num_examples=len(rows))
    return datasets.DatasetInfo(
        config_name=config,
        features=next(iter(splits.values())).features,
        splits=infos,
        download_size=download_size,
        dataset_size=sum(info.num_bytes for info in infos.values()),
    )


def check_config_name(name: str) -> None:
    """Refuse a name that the client or the viewer rejects.

    >>> check_config_name("a/b")
    Traceback (most recent call last):
    ...
    ValueError: the config name 'a/b' has '/', which the Hub rejects; rename it
    """
    if bad := FORBIDDEN_IN_CONFIG.search(name):
        raise ValueError(f"the config name {name!r} has {bad[0]!r}, which the Hub rejects; rename it")
    if name in {"", "data"}:
        raise ValueError(f"the config name {name!r} is reserved by the Hub; rename it")


def check_rows(place: str, rows: datasets.Dataset) -> None:
    """Raise on rows that break the Hub, its viewer or a join by id."""
    import pyarrow.compute as pc

    split = place.split("/")[1]
    if not SPLIT_NAME.fullmatch(split) or split == "all":
        raise ValueError(f"the split name {split!r} of {place} is rejected by the Hub; use letters, digits and dots")
    table = rows.data.table
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count == len(rows):
            raise ValueError(f"column {name!r} of {place} is null in every row; leave it out")
    ids = table.column("id")
    if ids.null_count:
        raise ValueError(f"{place} has {ids.null_count} rows without an id; give each row one")
    if pc.count_distinct(ids).as_py() < len(rows):
        counts = pc.value_counts(ids.combine_chunks())
        duplicate_id = next(entry["values"].as_py() for entry in counts if entry["counts"].as_py() > 1)
        raise ValueError(f"id {duplicate_id!r} occurs more than once in {place}; ids must be unique")


def measure_noise(place: str, rows: datasets.Dataset, benchmark: type[Benchmark]) -> Iterator[TrackNoiseRates]:
    """Yield the error rates of noisy columns, and refuse a row whose edits do not replay to its text."""
    rates = NoiseRateAccumulator(place, rows.features, benchmark.NOISY, benchmark.JOINED)
    if not rates.columns:
        if "edits" in rows.features and "clean_sha256" not in rows.features:
            raise ValueError(f"{place} has edits but no clean_ column that they apply to; add one")
        return
    columns = rates.source_columns | ({"id", "edits"} & set(rows.features))
    for batch in rows.select_columns(sorted(columns)).iter(BATCH_ROWS):
        texts = rates.update(batch)
        if "edits" in batch:
            check_edits(place, batch, texts)
    yield from rates.finish()


def check_edits(place: str, batch: Mapping[str, list[Any]], texts: Mapping[str, tuple[list[str], list[str]]]) -> None:
    """Refuse a row whose edits do not give its noisy text back from its clean one."""
    for clean_name, (clean, noisy) in texts.items():
        name = clean_name.removeprefix("clean_")
        for row, edits in enumerate(batch["edits"]):
            column_edits = edits[name] if isinstance(edits, dict) else edits
            if is_messages(batch[clean_name][row]):
                replays = apply_to_messages(batch[clean_name][row], column_edits) == batch[name][row]
            else:
                replays = apply(clean[row], column_edits) == noisy[row]
            if not replays:
                raise ValueError(
                    f"the edits of row {batch['id'][row]!r} in {place} do not give {name!r} back from {clean_name!r}; "
                    "rebuild it with the operator that made it"
                )
