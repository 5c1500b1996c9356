"""Rows of an author, a file of them, and a built folder loaded again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset

WORDS = (
    "wake",
    "me",
    "at",
    "six",
    "please",
    "play",
    "some",
    "jazz",
    "in",
    "the",
    "kitchen",
    "and",
    "order",
    "two",
    "pizzas",
)
TEXTS = [" ".join(WORDS[n % 7 : 7 + n % 11]) + f" {n}" for n in range(24)]
ROWS = [{"id": f"q{n:02}", "text": text, "label": n % 2} for n, text in enumerate(TEXTS)]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def load(folder: Path, config: str, split: str = "test") -> Dataset:
    return load_dataset(str(folder), config, split=split, cache_dir=str(Path(folder).parent / "cache"))
