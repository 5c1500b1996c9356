"""Read a folder of `lapsus build` or `lapsus make`: its card, and which of its files lapsus wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CARD = "README.md"
EDITS_FILE = "edits.json"  # beside edits without texts: how rows follow from them
PARTIAL = "**Partial build.**"  # as worded in the card
NO_LICENSE = "unknown"
PARQUET = re.compile(r"[^/]+/\w[\w.]*-\d{5}-of-\d{5}\.parquet")


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The parts of a card that publishing depends on."""

    name: str
    license: str | None
    partial: bool
    version: str | None = None  # of the data; older builds state none


def read_card(folder: Path) -> CardFacts:
    """Return what the card of a built folder says."""
    import yaml
    from huggingface_hub import metadata_load

    card = folder / CARD
    try:
        data = metadata_load(card) if card.is_file() else None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{card} cannot be read ({' '.join(str(error).split())}); build the folder again") from error
    if not (data and data.get("lapsus")):
        raise ValueError(f"{folder} was not written by `lapsus build` or `lapsus make`; name a folder that was")
    license_id = data.get("license", NO_LICENSE)
    partial = PARTIAL in card.read_text(encoding="utf-8")
    version = data.get("version")
    return CardFacts(
        str(data["lapsus"]), None if license_id == NO_LICENSE else str(license_id), partial, version and str(version)
    )


def select_own_files(names: Iterable[str]) -> set[str]:
    """Return which files of a folder or repo lapsus wrote: the card and the Parquet files of configs.

    >>> sorted(select_own_files(["README.md", "LICENSE", "clean/test-00000-of-00001.parquet", "eval.yaml"]))
    ['README.md', 'clean/test-00000-of-00001.parquet']
    """
    return {name for name in names if name in {CARD, EDITS_FILE} or PARQUET.fullmatch(name)}


def find_row_count_mismatch(folder: Path) -> str:
    """Say which split of a folder has another number of rows than its card says, which nobody could load; or nothing.

    A card without such numbers is right.
    """
    from huggingface_hub import metadata_load
    from pyarrow.parquet import read_metadata

    dataset_infos = (metadata_load(folder / CARD) or {}).get("dataset_info") or []
    for info in [dataset_infos] if isinstance(dataset_infos, dict) else dataset_infos:
        config = info.get("config_name", "default")
        for split in info.get("splits", ()):
            files = (folder / config).glob(f"{split['name']}-?????-of-?????.parquet")
            n_rows = sum(read_metadata(file).num_rows for file in files)
            if n_rows != split["num_examples"]:
                return f"{config}/{split['name']} has {n_rows:,} rows, and {CARD} says {split['num_examples']:,}"
    return ""
