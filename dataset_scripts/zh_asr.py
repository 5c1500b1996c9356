"""Mandarin utterances as they were transcribed and as recognisers heard them, of four collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasets import Features, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {  # split -> its file, by itself or in the repository's folders
    "aishell1": ("aishell1.csv", "aishell1/dev.csv"),
    "magicdata": ("magicdata.csv", "magicdata/dev.csv"),
    "mandarin": ("mandarin.csv", "mandarin/dev.csv"),
    "accented": ("mandarin-accented.csv", "mandarin-accented/valid.csv"),
}
UNKNOWN = "<unk>"  # how the files write a character that the recogniser does not have
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ROWS: dict[str, int | None] = {"aishell1": 14_326, "magicdata": 11_793, "mandarin": 21_928, "accented": 41_080}


class ZhAsr(Benchmark):
    """Transcripts of read and spoken Mandarin, beside what speech recognisers made of them."""

    NAME = "zh-asr"
    TITLE = "Mandarin transcripts and what recognisers heard"
    LANGUAGES = ("zh",)
    LICENSE = None  # the repository of the pairs is MIT, the texts are of corpora with terms of their own
    RIGHTS = (
        "aishell1 is under Apache-2.0; magicdata is under CC BY-NC-ND 4.0, so not for commercial use, and nothing made "
        "of it may be shared; mandarin and accented state no terms"
    )
    VERSION = Version("1.0.1")  # the terms of each collection in the card
    TASKS = ("text-generation",)
    TAGS = ("noise", "speech-recognition", "error-correction")
    WHERE = "the folder data of https://github.com/huangzj421/ASR-Correction"
    ROWS = {"clean": ROWS, "speech": ROWS}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return Features({"id": TEXT, "text": TEXT} | ({} if config == "clean" else {"clean_text": TEXT}))

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the utterances of a collection; the id is its name and the number of the row, from 0."""
        name = source.find_one(*FILES[split])
        for number, pair in enumerate(source.read_table(name, "recognition", "transcript", delimiter=",")):
            clean = parse_text(pair, "transcript", f"{name} row {number + 1}")
            recognition = pair["recognition"].replace(UNKNOWN, REPLACEMENT)
            row = {"id": f"{split}-{number}", "text": clean}
            yield row if config == "clean" else row | {"text": recognition, "clean_text": clean}


UNITS = (ZhAsr,)
