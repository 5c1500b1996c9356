"""One meaning in two dialects: translations from FRMT, and minimal pairs of Indian and American English."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text
from lapsus.perturbations.semantic.edits import Language, find_semantic_edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

BUCKETS = ("lexical", "entity", "random")
SPLITS = ("exemplars", "dev", "test")
FRMT = "https://raw.githubusercontent.com/google-research/google-research/master/frmt/dataset"


PERTURBED = {"perturbed": TEXT, "perturbation": ClassLabel(names=["replace", "insert", "delete"])}


def make_contrast(base: str, language: Language, key: str) -> dict[str, str | None]:
    """Return the base sentence with one edit that changes its meaning, if a rule applies for which that is certain.

    >>> make_contrast("The shop opens before nine.", "en", "3")
    {'perturbed': 'The shop opens after nine.', 'perturbation': 'replace'}
    """
    edit = find_semantic_edit(base, language, key=key)
    return {"perturbed": edit and edit.text, "perturbation": edit and edit.kind}


class Frmt(Benchmark):
    """English sentences of Wikipedia with a human translation into two dialects of one language."""

    LANGUAGE: ClassVar[Language]
    BASE: ClassVar[str]  # the dialect of the paper's machine translation
    DIALECT: ClassVar[str]
    LICENSE = "cc-by-sa-3.0"
    LICENSE_LINK = "https://github.com/google-research/google-research/tree/master/frmt"
    TASKS = ("translation", "sentence-similarity")
    TASK_IDS = ("semantic-similarity-scoring",)
    TAGS = ("dialect", "frmt")
    VERSION = Version("1.1.1")  # pages of the citation
    WHERE = "the folder frmt/dataset of https://github.com/google-research/google-research"

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        texts = {"source": TEXT, "base": TEXT, "dialect": TEXT, **PERTURBED}
        bucket = ClassLabel(names=list(BUCKETS))
        return Features({"id": TEXT, **texts, "bucket": bucket, "identical": Value("bool")})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the sentences of a split, bucket by bucket."""
        for bucket in BUCKETS:
            names = [
                source.find_one(format_frmt_file_name(self.LANGUAGE, bucket, split, name))
                for name in (self.BASE, self.DIALECT)
            ]
            translations = [list(source.read_tsv(name, 2)) for name in names]
            if len(translations[0]) != len(translations[1]):
                raise ValueError(
                    f"{names[0]} has {len(translations[0])} lines and {names[1]} {len(translations[1])}; "
                    "get the files again"
                )
            for number, ((english, base), (second_english, dialect)) in enumerate(zip(*translations, strict=True)):
                if english != second_english:
                    raise ValueError(f"line {number + 1} of {names[0]} and {names[1]} translates different sentences")
                for name, text in zip(names, (base, dialect), strict=True):
                    if not (english.strip() and text.strip()):
                        missing = "translation" if english.strip() else "sentence to translate"
                        raise ValueError(f"{name}, line {number + 1}: has no {missing}; mend it")
                key = f"{bucket}-{number}"  # key of the noise: the same in every version of the data
                texts = {"source": english, "base": base, "dialect": dialect, **make_contrast(base, self.LANGUAGE, key)}
                yield {"id": f"{split}-{key}", **texts, "bucket": bucket, "identical": base == dialect}


def format_frmt_file_name(language: str, bucket: str, split: str, dialect: str) -> str:
    """Return the name of a file of FRMT."""
    return f"{language}_{bucket}_{split}_en_{dialect}.tsv"


def list_frmt_urls(language: str, *dialects: str) -> tuple[str, ...]:
    """Return the addresses of the files of two dialects."""
    return tuple(
        f"{FRMT}/{bucket}_bucket/{format_frmt_file_name(language, bucket, split, dialect)}"
        for bucket in BUCKETS
        for split in SPLITS
        for dialect in dialects
    )


class DialectZh(Frmt):
    """Mainland and Taiwanese Mandarin, both in simplified characters."""

    NAME = "dialect-zh"
    TITLE = "Dialect pairs: Mainland and Taiwanese Mandarin"
    LANGUAGES = ("zh", "en")
    EXTRAS = "lapsus[zh]"
    LANGUAGE, BASE, DIALECT = "zh", "zh-CN", "zh-TW_Simplified"
    URL = list_frmt_urls("zh", "zh-CN", "zh-TW_Simplified")
    ROWS = {"default": {"exemplars": 388, "dev": 2_151, "test": 2_227}}


class DialectPt(Frmt):
    """Brazilian and European Portuguese."""

    NAME = "dialect-pt"
    TITLE = "Dialect pairs: Brazilian and European Portuguese"
    LANGUAGES = ("pt", "en")
    LANGUAGE, BASE, DIALECT = "pt", "pt-BR", "pt-PT"
    URL = list_frmt_urls("pt", "pt-BR", "pt-PT")
    ROWS = {"default": {"exemplars": 341, "dev": 2_527, "test": 2_616}}


ENGLISH_FEATURES = (
    "article_omission",
    "extraneous_article",
    "focus_itself",
    "focus_only",
    "general_extender_and_all",
    "habitual_progressive",
    "invariant_tag",
    "lack_agreement",
    "left_dislocation",
    "mass_as_count",
    "non_initial_existential",
    "object_fronting",
    "preposition_omission",
    "resumptive_pronoun",
    "stative_progressive",
    "topicalised_pp",
    "wh_no_inversion",
)


class DialectEn(Benchmark):
    """Sentences of American English, the same in Indian English, and with another meaning; written by the project."""

    NAME = "dialect-en"
    TITLE = "Dialect pairs: American and Indian English"
    VERSION = Version("1.0.2")  # English semantic edits of version 2
    LANGUAGES = ("en",)
    LICENSE = "apache-2.0"
    TASKS = ("sentence-similarity",)
    TASK_IDS = ("semantic-similarity-scoring",)
    TAGS = ("dialect", "minimal-pairs")
    ROWS = {"default": {"exemplars": 12, "dev": 12, "test": 48}}

    @classmethod
    def get_bundled_folder(cls) -> Path:
        """Return the folder inside the package."""
        return Path(__file__).with_name("sample_data")

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return Features(
            {
                "id": TEXT,
                "base": TEXT,
                "dialect": TEXT,
                **PERTURBED,
                "feature": ClassLabel(names=list(ENGLISH_FEATURES)),
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the pairs of a split."""
        for row in source.read_json_lines(
            source.find_one("dialect_en.jsonl"), "id", "split", "base", "dialect", "perturbed"
        ):
            if row.pop("split") == split:
                yield row


PLAIN = "None of the Above"
DEMSZKY_FEATURES = (
    "Article Omission",
    "Copula Omission",
    "Direct Object Pronoun Drop",
    "Extraneous Article",
    "Focus Itself",
    "Focus Only",
    'General Extender "and all"',
    "Habitual Progressive",
    'Invariant Tag "isn’t it, no, na"',
    "Inversion In Embedded Clause",
    "Lack Of Agreement",
    "Lack Of Inversion In Wh-questions",
    "Left Dislocation",
    "Mass Nouns As Count Nouns",
    'Non-initial Existential "is / are there"',
    "Object Fronting",
    "Preposition Omission",
    "Prepositional Phrase Fronting With Reduction",
    "Resumptive Object Pronoun",
    "Resumptive Subject Pronoun",
    "Stative Progressive",
    "Topicalized Non-argument Constituent",
)


class DialectEnDemszky(Benchmark):
    """Sentences with features of Indian English, each with the one that lacks them.

    The published list has the sentences but not which belong together. A pair is kept when it is certain: the plain
    sentence differs in at most four words, shares three of five, and every other plain sentence differs in at least
    two words more. Words count as equal when their first three letters are, which covers their inflections.
    """

    NAME = "dialect-en-demszky"
    TITLE = "Dialect pairs: Indian English features of Demszky et al."
    VERSION = Version("1.0.2")  # English semantic edits of version 2
    LANGUAGES = ("en",)
    LICENSE = None
    TASKS = ("sentence-similarity",)
    TASK_IDS = ("semantic-similarity-scoring",)
    TAGS = ("dialect", "minimal-pairs")
    WHERE = "the supplement of https://aclanthology.org/2021.naacl-main.184"
    ROWS = {"default": {"test": 115}}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        features = List(ClassLabel(names=list(DEMSZKY_FEATURES)))
        return Features({"id": TEXT, "base": TEXT, "dialect": TEXT, **PERTURBED, "features": features})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the certain pairs, known by the line of the dialect sentence."""
        name = source.find_one("*dialect*.csv", "*.csv")
        lines: dict[str, int] = {}
        features: dict[str, list[str]] = {}
        for number, row in enumerate(source.read_table(name, "Example", "Feature"), start=1):
            feature = row["Feature"].replace("'", "’")
            if feature not in (PLAIN, *DEMSZKY_FEATURES):
                raise ValueError(f"{name} row {number} has the feature {feature!r}, which is none of the paper's")
            lines.setdefault(parse_text(row, "Example", f"{name} row {number}"), number)
            features.setdefault(row["Example"], []).append(feature)
        plain = {text: count_word_stems(text) for text, labels in features.items() if labels == [PLAIN]}
        for text, labels in features.items():
            if PLAIN not in labels and (base := match_plain_sentence(count_word_stems(text), plain)):
                key = str(lines[text])
                yield {"id": key, "base": base, "dialect": text, **make_contrast(base, "en", key), "features": labels}


def count_word_stems(text: str) -> Counter[str]:
    """Return the words of a sentence by their first three letters."""
    return Counter(word[:3] for word in re.findall(r"\w+", text.lower().replace("’", "").replace("'", "")))


def match_plain_sentence(dialect: Counter[str], plain: dict[str, Counter[str]]) -> str | None:
    """Return the plain sentence that certainly belongs to a dialect one.

    >>> plain = {text: count_word_stems(text) for text in ("he has a car", "he likes tea")}
    >>> match_plain_sentence(count_word_stems("he is having a car"), plain)
    'he has a car'
    """
    ranked = sorted((sum(((dialect - bag) + (bag - dialect)).values()), text) for text, bag in plain.items())
    if not ranked:
        return None
    (nearest, text), second = ranked[0], ranked[1][0] if len(ranked) > 1 else 99
    shared = sum((dialect & plain[text]).values()) / max(sum(dialect.values()), sum(plain[text].values()))
    return text if nearest <= 4 and shared >= 0.6 and second - nearest >= 2 else None


UNITS = (DialectZh, DialectPt, DialectEn, DialectEnDemszky)
