"""The section of the page on readers: what of each drop a corrector before the model wins back."""

from __future__ import annotations

from collections.abc import Iterator

from lapsus.reporting.analysis.records import Results
from lapsus.reporting.html.sections import Section
from lapsus.reporting.html.tables import count_cell, make_table, rate_cell, text_cell


def build_split_section(key: str, results: Results) -> Iterator[Section]:
    """Yield the section, where a run had a reader."""
    splits = results.splits
    if not splits:
        return
    cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            "Drop": rate_cell(record.drop, "points"),
            "Avoidable": rate_cell(record.avoidable, "points"),
            "Left": rate_cell(record.left, "points"),
            "Clean": rate_cell(record.clean_average),
            "Noisy": rate_cell(record.noisy_average),
            "Read clean": rate_cell(record.read_clean_average),
            "Read noisy": rate_cell(record.read_noisy_average),
            "Changed by noise": count_cell(record.changed_texts),
            "Restored": count_cell(record.restored_texts),
            "Clean texts changed": count_cell(record.changed_clean_texts),
            "Examples": count_cell(record.examples),
        }
        for record in splits
    ]
    readers = "; ".join(dict.fromkeys(record.reader for record in splits))
    yield Section(
        f"{key}-splits",
        "Avoidable and left",
        f"Reader: {readers}. It corrects every text before the model, clean ones too. Left: read clean minus read"
        " noisy; at most this is information that the noise destroyed. Avoidable: the drop minus what is left. Both are"
        " paired by example. Another reader gives another split. Restored: texts that the reader turned into exactly"
        " the clean text, of those that noise changed.",
        table=make_table("Drops, avoidable and left", cells),
    )
