"""Disfl-QA: English questions as they were written, and the same with a slip of the tongue that repairs itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from datasets import Features

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text
from lapsus.dataset_scripts.squad import ANSWERS, iter_squad

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {"train": "train.json", "validation": "dev.json", "test": "test.json"}
SQUAD = "dev-v2.0.json"  # the paragraphs and answers of all splits are those of SQuAD 2.0's development set
NO_QUESTION = re.compile(r"#VALUE!|(no )?((question|answer) ?)?(n/a)?\W*", re.IGNORECASE)  # what stands for no question
RAW = "https://raw.githubusercontent.com/google-research-datasets/Disfl-QA/main"


class DisflQa(Benchmark):
    """Questions on Wikipedia paragraphs, and the same with a distracting start that the speaker takes back."""

    NAME = "disfl-qa"
    TITLE = "Disfl-QA"
    LANGUAGES = ("en",)
    ARXIV = ("2106.04016",)
    LICENSE = "cc-by-4.0"
    LICENSE_LINK = "https://github.com/google-research-datasets/Disfl-QA#license"
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    TAGS = ("noise", "disfluency", "spoken-language")
    URL = (*(f"{RAW}/{file}" for file in FILES.values()), f"https://rajpurkar.github.io/SQuAD-explorer/dataset/{SQUAD}")
    WHERE = f"https://github.com/google-research-datasets/Disfl-QA, and {SQUAD} of SQuAD 2.0 for paragraphs and answers"
    ROWS = {
        "clean": {"train": 7_182, "validation": 1_000, "test": 3_643},
        "disfluent": {"train": 7_149, "validation": 996, "test": None},  # those that are no question are left out
    }

    def columns(self, config: str) -> Features:
        """Return the features of a config, with paragraph and answers where SQuAD's file is beside."""
        squad_columns = {"context": TEXT, "answers": ANSWERS} if self.source and _find_squad(self.source) else {}
        clean = {} if config == "clean" else {"clean_question": TEXT}
        return Features({"id": TEXT, **squad_columns, "question": TEXT, **clean})

    @classmethod
    def get_license(cls, files: Iterable[str]) -> str | None:
        """Return the licence: SQuAD's paragraphs are to be shared alike."""
        return "cc-by-sa-4.0" if any(file.endswith(SQUAD) for file in files) else cls.LICENSE

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the questions of a split; the id is SQuAD's. A repair that the files lost is not in `disfluent`."""
        name = source.find_one(FILES[split])
        squad_name = _find_squad(source)
        squad_rows = {row["id"]: row for row in iter_squad(source, squad_name, unanswerable=True)} if squad_name else {}
        content = source.read_json(name)
        if not isinstance(content, dict):
            raise ValueError(f"{name} is no object of questions by id; get the file again")  # noqa: TRY004 - the file is wrong
        for key, pair in content.items():
            where = f"{name} question {key!r}"
            if not isinstance(pair, dict):
                raise ValueError(f"{where} is {pair!r}, not an object; mend the question")  # noqa: TRY004 - likewise
            clean, disfluent = parse_text(pair, "original", where), parse_text(pair, "disfluent", where, empty=True)
            row: Row = {"id": key}
            if squad_name:
                if key not in squad_rows:
                    raise ValueError(f"{where} is not in {squad_name}; get the file that belongs to it")
                row |= {name: squad_rows[key][name] for name in ("context", "answers")}
            if config == "clean":
                yield row | {"question": clean}
            elif not NO_QUESTION.fullmatch(disfluent.strip()):
                yield row | {"question": disfluent, "clean_question": clean}


def _find_squad(source: Source) -> str | None:
    """Return the name of SQuAD's file in a source; None where it has none."""
    return source.find_one(SQUAD) if source.match(SQUAD) else None


UNITS = (DisflQa,)
