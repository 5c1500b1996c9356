"""READIN: four Chinese tasks, each typed and spoken by three people per example.

The archive of the authors has the folders clean, keyboard and speech; their code reads `test_clean`,
`test_noisy_keyboard_1` … `3` and `test_noisy_asr_1` … `3`, as `<name>.json` or `<name>/test.json`. Both layouts are
read here. So are the public files that the tasks come from: they give the test split of `iter_clean`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from datasets import ClassLabel, Features, List, Translation, Value, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_label, parse_text
from lapsus.dataset_scripts.source import MissingFileError
from lapsus.dataset_scripts.squad import ANSWERS, iter_squad, strip_line_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lapsus.dataset_scripts.source import Source

ANNOTATIONS = List({"annotator": Value("int8"), "text": TEXT})
ANNOTATORS = (1, 2, 3)
TRACKS = {"keyboard": ("keyboard_", ""), "speech": ("asr_", "speech_")}  # kind of noise -> words in the file names
PARTS = {"train": "train", "validation": "dev"}


def count_expected_rows(clean: Mapping[str, int], speech: int | None) -> dict[str, dict[str, int | None]]:
    """Return the rows of all configs of a task."""
    configs: dict[str, dict[str, int | None]] = {"clean": dict(clean)}
    for track, test in (("keyboard", clean["test"]), ("speech", speech)):
        for name in [*(f"{track}.{annotator}" for annotator in ANNOTATORS), track]:
            configs[name] = {"test": test}
    return configs


class Readin(Benchmark):
    """A task of READIN: what its clean rows are, and which of their fields were annotated."""

    WORDS: ClassVar[tuple[str, ...]]  # words in the paths of the task
    PUBLIC: ClassVar[tuple[str, ...]]  # the public file that the test split comes from
    FIELDS: ClassVar[tuple[str, ...]]  # the fields that were typed and spoken
    CLEAN: ClassVar[Features]
    NUMBERED: ClassVar[bool] = False  # ids are row numbers, so that no row may be absent

    LANGUAGES: ClassVar[tuple[str, ...]] = ("zh",)
    ARXIV: ClassVar[tuple[str, ...]] = ("2302.07324",)
    LICENSE: ClassVar[str | None] = None
    VERSION = Version("1.0.2")  # pages of the citation; AFQMC's error rate over both sentences
    TAGS: ClassVar[tuple[str, ...]] = ("readin", "noise", "keyboard", "speech-recognition")
    WHERE = "the Google Drive or Tsinghua Cloud folder linked from https://github.com/thunlp/READIN"

    def columns(self, config: str) -> Features:
        """Return the clean features, with the annotated fields as one or as all annotators wrote them."""
        if config == "clean":
            return self.CLEAN
        noisy = {} if "." in config else dict.fromkeys(self.FIELDS, ANNOTATIONS)
        return Features({**self.CLEAN, **noisy, **{f"clean_{name}": TEXT for name in self.FIELDS}})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a split."""
        source = source.filter_folders(*self.WORDS)
        if config == "clean":
            yield from self.iter_clean(source, split)
            return
        track, _, annotator = config.partition(".")
        annotators = (int(annotator),) if annotator else ANNOTATORS
        for clean, noisy in self.align_annotators(source, track, annotators):
            merged: Row = {}
            for name in self.FIELDS:
                merged[f"clean_{name}"] = clean[name]
                texts = [row[name] for row in noisy]
                merged[name] = texts[0] if annotator else format_annotations(texts)
            yield self.to_features(clean | merged)

    def iter_clean(self, source: Source, split: str) -> Iterator[Row]:
        """Yield clean rows; the training split of the public files differs from READIN's."""
        part = PARTS.get(split)
        if part is None:
            name = source.find_one(*CLEAN_TEST, *self.PUBLIC)
        elif source.match(*self.PUBLIC) and not source.match(*CLEAN_TEST):
            raise MissingFileError(f"{source.path} has the public files, which lack READIN's own {split} rows")
        else:
            name = source.find_one(
                f"clean/{part}*.json", f"clean/*/{part}*.json", f"{part}.json", f"{part}/{part}.json"
            )
        yield from map(self.to_features, self.read_texts(source, name))

    def read_texts(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the rows of a file; raise on an empty text, which only a speech recogniser may give."""
        for number, row in enumerate(self.iter_examples(source, name), start=1):
            for field in self.FIELDS:
                parse_text(row, field, f"{name} row {number}")
            yield row

    def align_annotators(
        self, source: Source, track: str, annotators: Sequence[int]
    ) -> Iterator[tuple[Row, list[Row]]]:
        """Yield each clean row with the texts of the annotators.

        All files have the same order of rows. Speech recognition gave nothing usable for a few rows: these are
        absent from all speech files of a task whose rows have ids.
        """
        clean_name = source.find_one(*CLEAN_TEST)
        names = [source.find_one(*list_noisy_patterns(track, annotator)) for annotator in annotators]
        read_rows = self.iter_examples if track == "speech" else self.read_texts
        files = [read_rows(source, name) for name in names]
        heads = [next(file, None) for file in files]
        for clean in self.read_texts(source, clean_name):
            is_present = [head is not None and head["id"] == clean["id"] for head in heads]
            if all(is_present):
                noisy = [head for head in heads if head is not None]
                for name, row in zip(names, noisy, strict=True):
                    self.check_same(clean, row, clean_name, name)
                yield clean, noisy
                heads = [next(file, None) for file in files]
            elif any(is_present) or self.NUMBERED or track == "keyboard":
                name = names[is_present.index(False)]
                raise ValueError(f"{name} lacks row {clean['id']!r} of {clean_name}; the files must hold the same rows")
        for name, head in zip(names, heads, strict=True):
            if head is not None:
                raise ValueError(f"{name} has row {head['id']!r}, which {clean_name} lacks or has in another place")

    def check_same(self, clean: Row, noisy: Row, clean_name: str, name: str) -> None:
        """Raise if a noisy row differs from its clean row in other than the annotated fields."""
        for column, value in clean.items():
            if column not in self.FIELDS and noisy[column] != value:
                raise ValueError(
                    f"row {clean['id']!r} of {name} has another {column} than {clean_name}; align the files"
                )

    def iter_examples(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the rows of a file with `id`, the annotated fields and the columns beside them."""
        raise NotImplementedError

    def to_features(self, row: Row) -> Row:
        """Return a row in the shape of its features."""
        return row


CLEAN_TEST = ("test_clean.json", "test_clean/test.json", "clean/test*.json", "clean/*/test*.json")


def list_noisy_patterns(track: str, annotator: int) -> list[str]:
    """Return the possible paths of one annotator's file, the least specific last."""
    stems = [f"test_noisy_{word}{annotator}" for word in TRACKS[track]]
    folder_patterns = [f"{track}/*{stem}{end}" for stem in [*stems, str(annotator)] for end in (".json", "/test.json")]
    return folder_patterns + [f"{stem}{end}" for stem in stems for end in (".json", "/test.json")]


def format_annotations(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the annotators' texts."""
    return [{"annotator": number, "text": text} for number, text in zip(ANNOTATORS, texts, strict=True)]


class ReadinAfqmc(Readin):
    """Whether two questions to a payment service ask the same."""

    NAME = "readin-afqmc"
    TITLE = "READIN AFQMC"
    TASKS = ("text-classification",)
    TASK_IDS = ("semantic-similarity-classification",)
    ROWS = count_expected_rows({"train": 18_000, "validation": 2_000, "test": 4_316}, speech=4_316)
    WORDS = ("afqmc",)
    PUBLIC = ("dev.json",)
    FIELDS = ("sentence1", "sentence2")
    JOINED = FIELDS  # as in the paper's Table 3
    NUMBERED = True
    CLEAN = Features(
        {"id": TEXT, "sentence1": TEXT, "sentence2": TEXT, "label": ClassLabel(names=["different", "paraphrase"])}
    )

    def iter_examples(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the rows of a file; the id is the row number."""
        for number, row in enumerate(source.read_objects(name, *self.FIELDS, "label")):
            where = f"{name} row {number + 1}"
            yield {
                "id": str(number),
                "sentence1": strip_line_end(row, "sentence1", where),
                "sentence2": strip_line_end(row, "sentence2", where),
                "label": parse_label({"0": "different", "1": "paraphrase"}, row["label"], where),
            }


class ReadinCmrc2018(Readin):
    """Questions on Wikipedia paragraphs, answered by a span."""

    NAME = "readin-cmrc2018"
    TITLE = "READIN CMRC2018"
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    ROWS = count_expected_rows({"train": 8_871, "validation": 1_271, "test": 3_219}, speech=3_219)
    WORDS = ("cmrc",)
    PUBLIC = ("cmrc2018_dev.json",)
    FIELDS = ("question",)
    CLEAN = Features(
        {
            "id": TEXT,
            "context": TEXT,
            "question": TEXT,
            "answers": ANSWERS,
        }
    )

    def iter_examples(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the questions of a file."""
        return iter_squad(source, name)


class ReadinCspider(Readin):
    """Questions to databases, answered by an SQL query; the config `schemas` holds the databases' tables."""

    NAME = "readin-cspider"
    TITLE = "READIN CSpider"
    TASKS = ("text-generation",)
    TAGS = (*Readin.TAGS, "text-to-sql")
    ROWS = count_expected_rows({"train": 7_500, "validation": 1_159, "test": 1_034}, speech=1_034) | {
        "schemas": {"databases": 166}
    }
    WORDS = ("spider",)
    PUBLIC = ("dev.json",)
    FIELDS = ("question",)
    NUMBERED = True
    CLEAN = Features({"id": TEXT, "question": TEXT, "query": TEXT, "db_id": TEXT})
    SCHEMA = Features(
        {
            "id": TEXT,
            "tables": List({"name": TEXT, "words": TEXT}),
            "columns": List({"table": Value("int32"), "name": TEXT, "words": TEXT, "type": TEXT}),
            "primary_keys": List(Value("int32")),
            "foreign_keys": List({"column": Value("int32"), "references": Value("int32")}),
        }
    )

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return self.SCHEMA if config == "schemas" else super().columns(config)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a split."""
        if config == "schemas":
            return self.iter_schemas(source.filter_folders(*self.WORDS))
        return super().rows(source, config, split)

    def iter_examples(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the rows of a file; the public multilingual edition nests the question and the query."""
        for number, row in enumerate(source.read_objects(name, "question", "db_id")):
            question = row["question"]
            if isinstance(question, dict):
                row["question"], row["query"] = question.get("zh"), row.get("mr", {}).get("sql")
            where = f"{name} row {number + 1}"
            if not (row["question"] and row.get("query")):
                raise ValueError(f"{where} lacks a Chinese question or a query; get the file again")
            texts = {field: strip_line_end(row, field, where) for field in ("question", "query", "db_id")}
            yield {"id": str(number)} | texts

    def iter_schemas(self, source: Source) -> Iterator[Row]:
        """Yield the tables, columns and keys of each database."""
        keys = ("table_names", "table_names_original", "column_names", "column_names_original", "column_types")
        for row in source.read_objects(source.find_one("tables.json"), "db_id", "primary_keys", "foreign_keys", *keys):
            tables = zip(row["table_names_original"], row["table_names"], strict=True)
            columns = zip(row["column_names_original"], row["column_names"], row["column_types"], strict=True)
            yield {
                "id": row["db_id"],
                "tables": [{"name": name, "words": words} for name, words in tables],
                "columns": [
                    {"table": table, "name": name, "words": words, "type": kind}
                    for (table, name), (_, words), kind in columns
                ],
                "primary_keys": row["primary_keys"],
                "foreign_keys": [
                    {"column": column, "references": referenced} for column, referenced in row["foreign_keys"]
                ],
            }


# The edition of the news test with test suites has talks between the news: these lines, counted from 0.
LINES_WITH_TALKS = 2_791
TALKS = tuple(
    range(first, end)
    for first, end in (
        (45, 128), (313, 472), (782, 922), (1702, 1733), (1866, 1968), (1993, 2063),
        (2107, 2236), (2434, 2486), (2493, 2570),
    )
)  # fmt: skip


class ReadinWmt2021(Readin):
    """Chinese news to be translated into English."""

    NAME = "readin-wmt2021"
    TITLE = "READIN WMT2021"
    LANGUAGES = ("zh", "en")
    TASKS = ("translation",)
    ROWS = count_expected_rows({"test": 1_948}, speech=None)  # how many rows speech recognition lost is not published
    NOISY = {"clean_zh": ("translation", "zh")}
    WORDS = ("wmt", "nmt")
    PUBLIC = ("newstest2021.zh-en.src.zh",)
    REFERENCE = "newstest2021.zh-en.ref.A.en"
    FIELDS = ("zh",)
    CLEAN = Features({"id": TEXT, "translation": Translation(languages=["zh", "en"])})

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        if config == "clean":
            return self.CLEAN
        translation = self.CLEAN["translation"] if "." in config else {"zh": ANNOTATIONS, "en": TEXT}
        return Features({"id": TEXT, "translation": translation, "clean_zh": TEXT})

    def iter_examples(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the sentences of a file of READIN, or of the public files."""
        if name.endswith(self.PUBLIC):
            yield from self.iter_public(source, name)
            return
        for row in source.read_objects(name, "id", "zh", "en"):
            texts = {language: strip_line_end(row, language, f"{name} id {row['id']!r}") for language in ("zh", "en")}
            yield {"id": str(row["id"])} | texts

    def iter_public(self, source: Source, name: str) -> Iterator[Row]:
        """Yield the sentence pairs of the news task."""
        reference = source.find_one(self.REFERENCE)
        pairs = [list(source.read_lines(file)) for file in (name, reference)]
        if len(pairs[0]) != len(pairs[1]):
            raise ValueError(f"{name} has {len(pairs[0])} lines and {reference} {len(pairs[1])}; they must be parallel")
        talks = TALKS if len(pairs[0]) == LINES_WITH_TALKS else ()
        news = (pair for line, pair in enumerate(zip(*pairs, strict=True)) if not any(line in talk for talk in talks))
        for number, (zh, en) in enumerate(news):
            yield {"id": str(number), "zh": zh, "en": en}

    def to_features(self, row: Row) -> Row:
        """Return a row with its two languages together."""
        return {"id": row["id"], "translation": {name: row[name] for name in ("zh", "en")}} | (
            {"clean_zh": row["clean_zh"]} if "clean_zh" in row else {}
        )


UNITS = (ReadinAfqmc, ReadinCmrc2018, ReadinCspider, ReadinWmt2021)
