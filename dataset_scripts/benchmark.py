"""The base class of benchmarks: the facts of one Hub repo as class attributes, and its rows as a generator."""

from __future__ import annotations

from array import array
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import datasets
import numpy as np
from datasets import BuilderConfig, Features, SplitGenerator

from lapsus.core.executors import LOCAL, Executor
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.dataset_scripts.human_tracks import HumanTrackChecks, join_texts, list_annotations
from lapsus.dataset_scripts.source import MissingFileError, Source, open_files, open_source
from lapsus.stats.noise_rates import find_noisy_columns

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

Row = dict[str, Any]

TEXT = datasets.Value("string")
# The edits of a noisy row, as `lapsus.perturbations.Noise` records them: each replaces [start, end) of the clean text.
# In a published row they are keyed by column, {"text": EDITS}: see `noisy_columns`.
EDITS = datasets.List(
    {"start": datasets.Value("int64"), "end": datasets.Value("int64"), "text": datasets.Value("string")}
)


class Benchmark(datasets.GeneratorBasedBuilder):  # type: ignore[misc] # datasets is untyped
    """A `datasets` builder that reads a benchmark's original files.

    A subclass states the facts below and two methods: `columns` (the features of a config) and
    `rows` (what a split holds). Use it on its own, as any builder, or through `lapsus.hub.build`:

        builder = ReadinAfqmc(config_name="keyboard.1", data_dir="READIN.zip")
        builder.download_and_prepare()
        builder.as_dataset(split="test")
    """

    NAME: ClassVar[str]  # of the repo
    TITLE: ClassVar[str]
    LANGUAGES: ClassVar[tuple[str, ...]]
    LICENSE: ClassVar[str | None]  # an identifier of the Hub; None when the source states none
    LICENSE_LINK: ClassVar[str | None] = None
    RIGHTS: ClassVar[str] = ""  # what is known of the rights where LICENSE is None, as a clause of a sentence
    TASKS: ClassVar[tuple[str, ...]] = ()  # task_categories of the Hub
    TASK_IDS: ClassVar[tuple[str, ...]] = ()
    TAGS: ClassVar[tuple[str, ...]] = ()
    ANNOTATIONS: ClassVar[str] = "expert-generated"
    URL: ClassVar[str | tuple[str, ...] | None] = None  # the official file or files, when they can be fetched
    WHERE: ClassVar[str] = ""  # else where to get it by hand, as the end of a sentence
    ARXIV: ClassVar[tuple[str, ...]] = ()  # identifiers of the papers, which the Hub shows beside the card
    SOURCE_DATASETS: ClassVar[tuple[str, ...]] = ()  # source_datasets of the Hub
    PROSE: ClassVar[str] = ""  # the file of the card's prose, where it is not <NAME>.md
    CITATION: ClassVar[str] = ""  # BibTeX, for a card that has no prose of its own
    EXTRAS: ClassVar[str] = ""  # of lapsus that a build needs, such as lapsus[zh]
    ROWS: ClassVar[Mapping[str, Mapping[str, int | None]]]  # config -> split -> official row count
    AT_ADDRESS: ClassVar[Mapping[str, int]] = {}  # "config/split" -> row count at URL, if another
    NOISY: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # clean column -> path of its noisy twin, where not X / clean_X
    OWN: ClassVar[bool] = False  # whether the rows are an author's own: counted and checked before
    JOINED: ClassVar[tuple[str, ...]] = ()  # noisy columns whose error rate is also given over all of them together

    VERSION = datasets.Version("1.0.0")

    executor: Executor = LOCAL  # what perturbs the rows of synthetic tracks

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Derive the builder's configs from the one table that names them."""
        super().__init_subclass__(**kwargs)
        if "ROWS" in cls.__dict__:
            cls.BUILDER_CONFIGS = [BuilderConfig(name=name, version=cls.VERSION) for name in cls.ROWS]
            cls.DEFAULT_CONFIG_NAME = next(iter(cls.ROWS))

    def __init__(
        self, *args: Any, data_dir: str | Path | None = None, source: Source | None = None, **kwargs: Any
    ) -> None:
        root = source.path if source else Path(data_dir) if data_dir else self.get_bundled_folder()
        self.flags: list[str] = []  # what is odd in the texts that people wrote
        self.source: Source | None = source or (open_source(root) if root else None)
        # The cache of `datasets` is keyed by module name and ignores the content of local files: so set name and hash.
        kwargs.setdefault("dataset_name", self.NAME)
        if self.source and "hash" not in kwargs:
            kwargs["hash"] = self.source.fingerprint()
        super().__init__(*args, data_dir=str(root) if root else None, **kwargs)

    @classmethod
    def get_bundled_folder(cls) -> Path | None:
        """Return the folder of the files when they ship with the package."""
        return None

    @classmethod
    def get_license(cls, files: Iterable[str]) -> str | None:  # noqa: ARG003 - for those who need it
        """Return the licence of what is built from these files, where it depends on them."""
        return cls.LICENSE

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        raise NotImplementedError

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a split, each with a unique `id`."""
        raise NotImplementedError

    @classmethod
    def check_built(cls, config: str, split: str, rows: datasets.Dataset) -> None:
        """Raise where the rows of a split are not what they must be."""

    @classmethod
    def render_files(cls) -> dict[str, str]:
        """Return the files beside the rows, other than the card."""
        return {}

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(features=self.columns(self.config.name))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        if self.source is None:
            if self.URL is None:
                raise FileNotFoundError(
                    f"{self.NAME} cannot be downloaded by a program; "
                    f"get it from {self.WHERE}, and name its folder with --source"
                )
            urls = (self.URL,) if isinstance(self.URL, str) else self.URL
            if dl_manager.is_streaming:  # hashes and ids need whole files
                dl_manager = datasets.DownloadManager(dataset_name=self.NAME)
            try:
                paths = dl_manager.download(list(urls))
            except (OSError, datasets.exceptions.DatasetsError) as error:
                raise ConnectionError(
                    f"{self.NAME} could not be downloaded ({error}); "
                    f"get it from {self.WHERE}, and name its folder with --source"
                ) from error
            self.source = open_files(
                {url.partition("://")[2]: Path(path) for url, path in zip(urls, paths, strict=True)}
            )
            self.info.features = self.columns(self.config.name)  # labels may be those of the source
        splits = self.ROWS[self.config.name]
        available = [split for split in splits if len(splits) == 1 or self._has_split(split)]
        return [SplitGenerator(name=split, gen_kwargs={"split": split}) for split in available or splits]

    def _has_split(self, split: str) -> bool:
        """Return whether the source has the files of a split; other errors are raised when its rows are built."""
        with suppress(Exception):
            try:
                with closing(self._generate_examples(split)) as examples:
                    next(examples, None)
            except MissingFileError:
                return False
        return True

    def _generate_examples(self, split: str) -> Generator[tuple[str, Row], None, None]:
        if self.source is None:
            raise RuntimeError("_split_generators opens the source; call download_and_prepare()")
        source, config = self.source, self.config.name
        id_hashes = array("q")  # `datasets` does not check for repeated ids; hashes take less memory than ids
        is_synthetic = self.OWN or "operator" in self.info.features
        columns = {} if is_synthetic else find_noisy_columns(self.info.features, self.NOISY)
        checks = HumanTrackChecks(f"{self.NAME} {config}/{split}")
        try:
            for row in self.rows(source, config, split):
                id_hashes.append(hash(row["id"]))
                if columns:
                    clean = "\n".join(to_text(row[name] or "") for name in columns)
                    checks.add(
                        row["id"], clean, join_texts(list_annotations(_follow(row, columns[name])) for name in columns)
                    )
                yield row["id"], row
            self.flags += checks.finish()
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"{[source.path, *source.opened_names][-1]} is not in the expected form ({problem}); get it again"
            ) from error
        sorted_hashes = np.sort(np.frombuffer(id_hashes, dtype=np.int64))
        repeated_hashes = set(sorted_hashes[1:][sorted_hashes[1:] == sorted_hashes[:-1]].tolist())
        if repeated_hashes:
            suspects = [row["id"] for row in self.rows(source, config, split) if hash(row["id"]) in repeated_hashes]
            duplicate_id = next((name for name in suspects if suspects.count(name) > 1), None)
            if duplicate_id is not None:
                raise ValueError(f"id {duplicate_id!r} occurs more than once in {config}/{split}; mend the source")

    def find_misfit(self) -> str:
        """Describe the first row whose value does not fit its column's feature; empty where all fit."""
        for split in self.ROWS[self.config.name] if self.source else ():
            with suppress(MissingFileError):
                for name, row in self._generate_examples(split):
                    for column, feature in self.info.features.items():
                        if not _is_encodable(row[column], feature):
                            file = [self.source.path, *self.source.opened_names][-1]  # type: ignore[union-attr]
                            return (
                                f"row {name!r} of {self.config.name}/{split} has {row[column]!r} as its {column}, "
                                f"which does not fit the column; mend {file}"
                            )
        return ""


def _follow(row: Row, path: Iterable[str]) -> Any:
    """Return the value at a path of a row."""
    value: Any = row
    for key in path:
        value = value[key]
    return value


def _is_encodable(value: Any, feature: Any) -> bool:
    """Return whether a value fits a feature."""
    try:
        datasets.Dataset.from_dict({"value": [value]}, features=Features({"value": feature}))
    except Exception:  # noqa: BLE001 - what cannot be encoded says so in many ways
        return False
    return True


def parse_text(row: Mapping[str, Any], field: str, where: str, *, empty: bool = False) -> str:
    """Return a text of a source's row as it stands; raise where it is none, or blank and not allowed to be.

    >>> parse_text({"question": " "}, "question", "dev.json row 3")
    Traceback (most recent call last):
    ...
    ValueError: dev.json row 3 has an empty question; mend the row
    """
    text = row.get(field)
    if not isinstance(text, str):
        raise ValueError(f"{where} has {text!r} as its {field}, which is no text; mend the row")  # noqa: TRY004 - the file is wrong
    if not (empty or text.strip()):
        raise ValueError(f"{where} has an empty {field}; mend the row")
    return text


def parse_label(names: Mapping[str, str], value: Any, where: str) -> str:
    """Return the name of a label as written in the source; raise with the known labels for any other.

    >>> parse_label({"0": "different", "1": "paraphrase"}, "1", "dev.json row 3")
    'paraphrase'
    """
    if str(value) not in names:
        raise ValueError(f"{where} has the label {value!r}, which is none of {format_list(names)}; mend the source")
    return names[str(value)]
