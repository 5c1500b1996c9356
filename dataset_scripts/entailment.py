"""Recognising textual entailment: the RTE1-3 challenges, and P̂aRTE, which puts their test pairs in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, Version

from lapsus.core.messages import format_list
from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from lapsus.dataset_scripts.source import Source

LABEL = ClassLabel(names=["not_entailed", "entailed"])
LABELS = (
    dict.fromkeys(("true", "yes", "1", "entailed", "entailment"), "entailed")
    | dict.fromkeys(("false", "no", "0", "not_entailed", "not-entailed", "not entailed"), "not_entailed")
    | dict.fromkeys(("not_entailment", "not-entailment"), "not_entailed")
)
TASK = ClassLabel(names=["CD", "IE", "IR", "MT", "PP", "QA", "RC", "SUM"])
TASKS = {name: name for name in TASK.names}
SPLITS = {"validation": "dev", "test": "test"}


class Rte(Benchmark):
    """Whether a short text entails a sentence: the first three PASCAL challenges."""

    NAME = "rte"
    VERSION = Version("1.0.2")  # the card cites all three challenges
    TITLE = "RTE1-3"
    LANGUAGES = ("en",)
    LICENSE = None
    TASKS = ("text-classification",)
    TASK_IDS = ("natural-language-inference",)
    URL = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/rte.zip"
    WHERE = "the NLTK data package `rte`"
    ROWS = {
        "rte1": {"validation": 567, "test": 800},
        "rte2": {"validation": 800, "test": 800},
        "rte3": {"validation": 800, "test": 800},
    }
    AT_ADDRESS = {"rte2/validation": 400}  # NLTK's rte2_dev.xml ends at id 400

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return Features({"id": TEXT, "premise": TEXT, "hypothesis": TEXT, "label": LABEL, "task": TASK})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the pairs of a split; RTE1 calls the label `value`, the others `entailment`."""
        name = source.find_one(f"{config}_{SPLITS[split]}.xml")
        for pair in source.read_xml(name).iter("pair"):
            where = f"{name} pair {pair.get('id')!r}"
            texts = [read_element(pair, tag, where) for tag in ("t", "h")]
            if pair.get("id") is None:
                raise ValueError(f"{where} lacks its id; get the file again")
            yield {
                "id": pair.get("id"),
                "premise": texts[0],
                "hypothesis": texts[1],
                "label": parse_label(LABELS, str(pair.get("value") or pair.get("entailment")).lower(), where),
                "task": parse_label(TASKS, pair.get("task"), where),
            }


def read_element(pair: Element, tag: str, where: str) -> str:
    """Return the text of a pair's only element with this tag; raise if it is missing, repeated, empty or nested."""
    elements = pair.findall(tag)
    if len(elements) != 1:
        raise ValueError(f"{where} has {len(elements)} elements <{tag}>, not one; mend the pair")
    if len(elements[0]):
        raise ValueError(
            f"{where} has <{elements[0][0].tag}> within <{tag}>, where only text is read; take the mark out"
        )
    text = (elements[0].text or "").strip()
    if not text:
        raise ValueError(f"{where} has an empty <{tag}>; get the file again")
    return text


class Parte(Benchmark):
    """RTE test pairs with the premise, the hypothesis or both rewritten, and the same label.

    The file is a table with a header (CSV or TSV) or has one JSON object per line. Each column is looked up under the
    names in `COLUMNS`, whatever their case and whether they are joined by `_`, `-` or a space.
    """

    NAME = "parte"
    TITLE = "P̂aRTE"
    LANGUAGES = ("en",)
    LICENSE = None
    TASKS = ("text-classification",)
    TASK_IDS = ("natural-language-inference",)
    TAGS = ("paraphrase",)
    ANNOTATIONS = "crowdsourced"
    URL = "https://dataverse.harvard.edu/api/access/dataset/:persistentId/?persistentId=doi:10.7910/DVN/HLMI23"
    WHERE = "https://doi.org/10.7910/DVN/HLMI23"
    ROWS = {
        "default": {"test": 1126},
        "premise": {"test": 402},
        "hypothesis": {"test": 602},
        "both": {"test": 122},
    }
    COLUMNS = {
        "original_premise": ("original_premise", "premise_original", "orig_premise", "p", "premise"),
        "original_hypothesis": ("original_hypothesis", "hypothesis_original", "orig_hypothesis", "h", "hypothesis"),
        "premise": ("paraphrased_premise", "premise_paraphrase", "para_premise", "p'", "premise"),
        "hypothesis": ("paraphrased_hypothesis", "hypothesis_paraphrase", "para_hypothesis", "h'", "hypothesis"),
        "label": ("label", "gold_label", "gold", "entailment", "value"),
        "task": ("task", "source_task", "rte_task"),
        "rte": ("rte", "rte_number", "challenge", "source", "dataset"),
    }
    ID = ("id", "pair_id", "index")
    ORIGINAL_ID = ("original_id", "rte_id", "original_pair_id")

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return Features(
            {
                "id": TEXT,
                "premise": TEXT,
                "hypothesis": TEXT,
                "original_premise": TEXT,
                "original_hypothesis": TEXT,
                "label": LABEL,
                "rewritten": ClassLabel(names=["premise", "hypothesis", "both"]),
                "task": TASK,
                "rte": ClassLabel(names=["rte1", "rte2", "rte3"]),
                "original_id": TEXT,
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the pairs with the wanted side rewritten."""
        for row in self.iter_pairs(source):
            if config in {"default", row["rewritten"]}:
                yield row

    def iter_pairs(self, source: Source) -> Iterator[Row]:
        """Yield all pairs; a side that is empty or equal to its original was not rewritten."""
        name = source.find_one(
            *(f"{stem}{end}" for stem in ("*parte*", "*") for end in (".jsonl", ".csv", ".tsv", ".tab"))
        )
        tabular = name.endswith((".csv", ".tsv", ".tab"))
        originals: dict[tuple[str, str], str] = {}
        for number, raw in enumerate(source.read_table(name) if tabular else source.read_json_lines(name), start=1):
            where = f"{name} row {number}"
            values = {normalise_column(column): value for column, value in raw.items()}
            row = {column: self.look_up(values, aliases, name) for column, aliases in self.COLUMNS.items()}
            originals_of_row = row["original_premise"], row["original_hypothesis"]
            row["premise"], row["hypothesis"] = (
                row["premise"] or originals_of_row[0],
                row["hypothesis"] or originals_of_row[1],
            )
            is_rewritten = tuple(
                new != old for new, old in zip((row["premise"], row["hypothesis"]), originals_of_row, strict=True)
            )
            if not any(is_rewritten):
                raise ValueError(f"{where} rewrites neither side; name the file with the paraphrased pairs")
            originals.setdefault(originals_of_row, str(len(originals)))
            yield row | {
                "id": first_value(values, self.ID) or str(number - 1),
                "label": parse_label(LABELS, row["label"].lower(), where),
                "rewritten": "both" if all(is_rewritten) else "premise" if is_rewritten[0] else "hypothesis",
                "task": parse_label(TASKS, row["task"].upper(), where),
                "rte": f"rte{parse_label({digit: digit for digit in '123'}, row['rte'][-1:], where)}",
                "original_id": first_value(values, self.ORIGINAL_ID) or originals[originals_of_row],
            }

    def look_up(self, values: Mapping[str, Any], aliases: tuple[str, ...], name: str) -> str:
        """Return the value of the first alias that is a column, or name the columns there are."""
        for alias in aliases:
            if alias in values:
                return str(values[alias] if values[alias] is not None else "").strip()
        alternatives = format_list(aliases[1:])
        raise ValueError(
            f"{name} has no column {aliases[0]!r} (or {alternatives}); its columns are {format_list(values)}"
        )


def normalise_column(column: str) -> str:
    """Return the normalised form of a column name, used for lookup.

    >>> normalise_column(" Original Premise")
    'original_premise'
    """
    return column.strip().lower().replace(" ", "_").replace("-", "_")


def first_value(values: Mapping[str, Any], aliases: tuple[str, ...]) -> str | None:
    """Return the first alias that has a value."""
    return next((str(values[alias]) for alias in aliases if values.get(alias) not in {None, ""}), None)


UNITS = (Rte, Parte)
