"""A folder as the project publishes it, small enough to break on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasets import ClassLabel, Dataset, DatasetInfo, Features, List, SplitDict, SplitInfo, Value
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCardData
from viewer import CARD_SECTIONS

TEXT = Value("string")
FEATURES = Features(
    {
        "id": TEXT,
        "question": TEXT,
        "label": ClassLabel(names=["different", "same"]),
        "length": Value("int32"),
        "score": Value("float64"),
        "asked": Value("bool"),
        "tokens": List(TEXT),
        "noisy": List({"annotator": TEXT, "text": TEXT}),
    }
)


def rows(count: int, start: int = 0, question: str = "怎么还花呗？") -> list[dict[str, Any]]:
    """Return rows that have something in every column."""
    return [
        {
            "id": f"q{number:03}",
            "question": question * (1 + number % 4),
            "label": number % 2,
            "length": number % 5,
            "score": number / 7,
            "asked": number % 3 == 0,
            "tokens": ["还"] * (number % 4),
            "noisy": [{"annotator": str(track), "text": f"怎么换花呗 {number}"} for track in range(3)],
        }
        for number in range(start, start + count)
    ]


def dataset(count: int, start: int = 0, **options: str) -> Dataset:
    """Return `count` rows as a split."""
    return Dataset.from_list(rows(count, start, **options), features=FEATURES)


def configs() -> dict[str, dict[str, Dataset]]:
    """Return a clean config with two splits and a noisy one."""
    return {
        "clean": {"train": dataset(12), "test": dataset(9, 12)},
        "keyboard.1": {"test": dataset(9, 12, question="怎么换花呗？")},
    }


def write(
    folder: Path,
    content: Mapping[str, Mapping[str, Dataset]],
    *,
    default: str | None = "clean",
    sections: tuple[tuple[int, str], ...] = CARD_SECTIONS,
    prose: str = "Something true.",
    **parquet: Any,
) -> Path:
    """Write Parquet files and a card as `datasets` itself would; `parquet` are options of the writer."""
    infos, metadata = DatasetInfosDict(), MetadataConfigs()
    for config, splits in content.items():
        sizes, bytes_written = SplitDict(), 0
        for split, data in splits.items():
            file = folder / config / f"{split}-00000-of-00001.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            data.to_parquet(file, **parquet)
            bytes_written += file.stat().st_size
            sizes[split] = SplitInfo(split, num_bytes=data._estimate_nbytes(), num_examples=len(data))
        infos[config] = DatasetInfo(
            features=next(iter(splits.values())).features,
            splits=sizes,
            download_size=bytes_written,
            dataset_size=sum(split.num_bytes for split in sizes.values()),
        )
        metadata[config] = {
            "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in splits],
            **({"default": True} if config == default else {}),
        }
    card = DatasetCardData(language=["zh"], license="apache-2.0", pretty_name="Small")
    metadata.to_dataset_card_data(card)
    infos.to_dataset_card_data(card)
    body = "\n\n".join(f"{'#' * level} {title}\n\n{prose}" for level, title in sections)
    (folder / "README.md").write_text(f"---\n{card.to_yaml()}\n---\n\n# Small\n\n{body}\n", encoding="utf-8")
    return folder
