"""Synthetic tracks over READIN's clean test rows, from its archive or from the public files of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from datasets import Features, Version

from lapsus.dataset_scripts.readin import Readin, ReadinAfqmc, ReadinCmrc2018, ReadinCspider, ReadinWmt2021
from lapsus.dataset_scripts.simulated import TRACKS, make_track_operator, noisy_features, perturb_rows
from lapsus.perturbations import Noise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.benchmark import Row
    from lapsus.dataset_scripts.source import Source

CLEAN = "clean"


def count_expected_rows(task: type[Readin]) -> dict[str, dict[str, int | None]]:
    """Return the rows of the clean config and of all tracks: every clean test row is in each."""
    return {config: {"test": task.ROWS["clean"]["test"]} for config in (CLEAN, *TRACKS)}


class Simulated(Readin):
    """The clean test rows of a task, made noisy by operators that imitate typing and dictation."""

    ANNOTATIONS = "machine-generated"
    VERSION = Version("1.6.0")  # speech tracks by zh_speech 5
    TAGS: ClassVar[tuple[str, ...]] = ("readin", "noise", "synthetic")

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return self.CLEAN if config == CLEAN else noisy_features(self.make_noise(config), self.CLEAN)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a config."""
        clean = self.iter_clean(source.filter_folders(*self.WORDS), split)
        return clean if config == CLEAN else perturb_rows(self.make_noise(config), clean, self.executor)

    def make_noise(self, track: str) -> Noise:
        """Return the noise of a track."""
        operator, seed = make_track_operator(track)
        column = self.FIELDS[0] if len(self.FIELDS) == 1 else self.FIELDS
        return Noise(operator, text=column, id="id", seed=seed)


class ReadinAfqmcSim(Simulated, ReadinAfqmc):
    """Pairs of questions to a payment service under synthetic noise."""

    NAME = "readin-afqmc-sim"
    TITLE = "READIN AFQMC, synthetic tracks"
    WHERE = "the AFQMC folder of CLUE, https://github.com/CLUEbenchmark/CLUE, or READIN's archive"
    ROWS = count_expected_rows(ReadinAfqmc)


class ReadinCmrc2018Sim(Simulated, ReadinCmrc2018):
    """Questions on Wikipedia paragraphs under synthetic noise."""

    NAME = "readin-cmrc2018-sim"
    TITLE = "READIN CMRC2018, synthetic tracks"
    LICENSE = "cc-by-sa-4.0"
    LICENSE_LINK = "https://github.com/ymcui/cmrc2018"
    WHERE = "https://github.com/ymcui/cmrc2018 (squad-style-data), or READIN's archive"
    ROWS = count_expected_rows(ReadinCmrc2018)


class ReadinCspiderSim(Simulated, ReadinCspider):
    """Questions to databases under synthetic noise; the config `schemas` holds the databases' tables."""

    NAME = "readin-cspider-sim"
    TITLE = "READIN CSpider, synthetic tracks"
    WHERE = "https://taolusi.github.io/CSpider-explorer, or READIN's archive"
    VERSION = Version("1.7.0")  # speech tracks by zh_speech 5
    ROWS = count_expected_rows(ReadinCspider) | {"schemas": ReadinCspider.ROWS["schemas"]}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return self.SCHEMA if config == "schemas" else super().columns(config)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a config."""
        return (
            self.iter_schemas(source.filter_folders(*self.WORDS))
            if config == "schemas"
            else super().rows(source, config, split)
        )


class ReadinWmt2021Sim(Simulated, ReadinWmt2021):
    """Chinese news under synthetic noise, with its English translation."""

    NAME = "readin-wmt2021-sim"
    TITLE = "READIN WMT2021, synthetic tracks"
    WHERE = "https://github.com/wmt-conference/wmt21-news-systems (folder txt), or READIN's archive"
    ROWS = count_expected_rows(ReadinWmt2021)

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        if config == CLEAN:
            return self.CLEAN
        flat_features = Features({"id": self.CLEAN["id"], "zh": self.CLEAN["id"], "en": self.CLEAN["id"]})
        added = {
            name: kind
            for name, kind in noisy_features(self.make_noise(config), flat_features).items()
            if name not in flat_features
        }
        return Features({**self.CLEAN, **added})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a config."""
        clean = self.iter_clean(source.filter_folders(*self.WORDS), split)
        if config == CLEAN:
            yield from clean
            return
        flat_rows = ({"id": row["id"], **row["translation"]} for row in clean)
        for row in perturb_rows(self.make_noise(config), flat_rows, self.executor):
            yield {"translation": {name: row.pop(name) for name in ("zh", "en")}, **row}


UNITS = (ReadinAfqmcSim, ReadinCmrc2018Sim, ReadinCspiderSim, ReadinWmt2021Sim)
