"""The card of a published dataset: generated YAML and tables around its prose.

The prose is `<name>.md`: for the datasets of lapsus in hub_cards/, for those of other packages beside the module that
builds them. Without such a file the card says what the builder states of itself (hub_cards/_general.md).
"""

from __future__ import annotations

import inspect
import sys
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

import lapsus.hub_cards
from lapsus.hub.built_folder import NO_LICENSE, PARTIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from datasets.info import DatasetInfosDict

    from lapsus.dataset_scripts.benchmark import Benchmark
    from lapsus.hub.publish import Published
    from lapsus.kernel.error_rates import TrackRates

GENERAL = "_general.md"
MOST_YAML = 50_000  # bytes of YAML; the Hub answers 413 to a few times as many
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))


def render(benchmark: type[Benchmark], infos: DatasetInfosDict, published: Published) -> str:
    """Return the README.md of a built dataset."""
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    total = sum(split.num_examples for info in infos.values() for split in info.splits.values())
    data = DatasetCardData(
        pretty_name=benchmark.TITLE,
        language=list(benchmark.LANGUAGES),
        license=benchmark.license_of(published.sources) or NO_LICENSE,
        annotations_creators=[benchmark.ANNOTATIONS],
        multilinguality=["monolingual" if len(benchmark.LANGUAGES) == 1 else "multilingual"],
        size_categories=[next((name for limit, name in SIZES if total < limit), "1M<n<10M")],
        task_categories=list(benchmark.TASKS),
        task_ids=list(benchmark.TASK_IDS),
        tags=["lapsus", "robustness", *benchmark.TAGS],
        version=str(benchmark.VERSION),
        lapsus=benchmark.NAME,  # marks a build of this dataset, which may be replaced
    )
    MetadataConfigs(
        {
            config: {
                "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in info.splits],
                **({"default": True} if config == next(iter(infos)) else {}),
            }
            for config, info in infos.items()
        }
    ).to_dataset_card_data(data)
    infos.to_dataset_card_data(data)
    if len(data.to_yaml().encode()) > MOST_YAML:
        _with_features_once(infos).to_dataset_card_data(data)
    body = prose(
        benchmark,
        files=published.sources,
        partial=_partial(benchmark, published),
        rows_table=_rows_table(benchmark, published),
        columns_table=_columns_table(infos),
        error_rates_table=_error_rates_table(published),
        loading_example=_loading_example(benchmark, infos, published),
        sources_table=_sources_table(published),
    )
    return f"---\n{data.to_yaml()}\n---\n\n{body.strip()}\n"


def _with_features_once(infos: DatasetInfosDict) -> DatasetInfosDict:
    """Keep equal features in the YAML of the first config only; the Parquet files hold them for the others.

    Hundreds of labels in each of twenty configs are more YAML than the Hub takes.
    """
    seen: set[str] = set()
    kept = type(infos)()
    for config, info in infos.items():
        kept[config] = copy(info)
        if str(info.features) in seen:
            kept[config].features = None
        seen.add(str(info.features))
    return kept


def prose(
    benchmark: type[Benchmark],
    *,
    files: Iterable[str] = (),
    partial: str = "",
    rows_table: str = "",
    columns_table: str = "",
    error_rates_table: str = "",
    loading_example: str = "",
    sources_table: str = "",
) -> str:
    """Return the card's Markdown, with the figures of a build; an error in another package's prose is one sentence.

    >>> from lapsus.dataset_scripts import benchmarks
    >>> prose(benchmarks()["rte"]).splitlines()[0]
    '# RTE1-3'
    """
    shown = {
        "title": benchmark.TITLE,
        "name": benchmark.NAME,
        "license": benchmark.license_of(files),
        "license_link": benchmark.LICENSE_LINK,
        "partial": partial,
        "rows_table": rows_table,
        "columns_table": columns_table,
        "error_rates_table": error_rates_table,
        "loading_example": loading_example,
        "sources_table": sources_table,
        "facts": benchmark,
        "docstring": inspect.cleandoc(benchmark.__doc__ or benchmark.TITLE),
        "urls": (benchmark.URL,) if isinstance(benchmark.URL, str) else benchmark.URL or (),
        "citation": benchmark.CITATION,
    }
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*_beside(benchmark), *lapsus.hub_cards.__path__]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown, from installed packages
        trim_blocks=True,
        lstrip_blocks=True,
    )
    try:
        return templates.select_template([benchmark.PROSE or f"{benchmark.NAME}.md", GENERAL]).render(shown)
    except jinja2.TemplateSyntaxError as error:
        place = f"{error.filename or error.name} line {error.lineno}"
        raise ValueError(f"{place} cannot be read as a card ({error.message}); mend the prose") from error
    except jinja2.TemplateError as error:
        raise ValueError(f"the card {benchmark.NAME}.md cannot be filled in ({error}); mend the prose") from error


def _beside(benchmark: type[Benchmark]) -> list[Path]:
    """Return the folder of the module that defines a benchmark; nothing where the module is no file."""
    file = getattr(sys.modules.get(benchmark.__module__), "__file__", None)
    return [Path(file).parent] if file else []


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a Markdown table.

    >>> print(table(["a", "b"], [[1, "x|y"]]))
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _partial(benchmark: type[Benchmark], published: Published) -> str:
    """Return the card's text on splits whose number of rows is not the official one, and the reason."""
    known = {place for place, (_, built) in published.differs.items() if benchmark.AT_ADDRESS.get(place) == built}
    notes = [
        f"`{place}` has {built:,} of {official:,} official rows: the source's own address holds no others."
        for place, (official, built) in published.differs.items()
        if place in known
    ]
    places = "; ".join(
        f"`{place}` has {built:,} of {official:,}"
        for place, (official, built) in published.differs.items()
        if place not in known
    )
    if places:
        notes.append(f"{PARTIAL} Not all official rows were in the source: {places}.")
    return "\n>\n".join(f"> {note}" for note in notes)


def _rows_table(benchmark: type[Benchmark], published: Published) -> str:
    return table(
        ["config", "split", "rows", "official rows"],
        (
            [
                f"`{config}`",
                f"`{split}`",
                f"{published.rows[config][split]:,}",
                f"{official:,}" if official else "–",
            ]
            for config, splits in benchmark.ROWS.items()
            for split, official in splits.items()
        ),
    )


def _columns_table(infos: DatasetInfosDict) -> str:
    """List each column once, with the configs that have it."""
    configs: dict[tuple[str, str], list[str]] = {}
    for config, info in infos.items():
        for name, feature in info.features.items():
            configs.setdefault((name, _kind(feature)), []).append(config)
    return table(
        ["column", "type", "configs"],
        (
            [f"`{name}`", kind, "all" if len(having) == len(infos) else ", ".join(f"`{config}`" for config in having)]
            for (name, kind), having in configs.items()
        ),
    )


def _kind(feature: Any) -> str:
    """Return a feature's type in plain words."""
    from datasets import ClassLabel, List, Translation, Value

    if isinstance(feature, Value):
        return str(feature.dtype)
    if isinstance(feature, ClassLabel):
        names = ", ".join(feature.names[:6]) + (
            f", … ({feature.num_classes} in all)" if feature.num_classes > 6 else ""
        )
        return f"class: {names}"
    if isinstance(feature, Translation):
        return f"translation: {', '.join(feature.languages)}"
    if isinstance(feature, List):
        return f"list of {_kind(feature.feature)}"
    if isinstance(feature, dict):
        return "{" + ", ".join(f"{name}: {_kind(value)}" for name, value in feature.items()) + "}"
    return type(feature).__name__


def _error_rates_table(published: Published) -> str:
    if not published.rates:
        return ""
    return table(
        ["track", "column", "micro average", "worst average", "corpus rate"],
        (
            [f"`{rate.place}`", f"`{rate.column}`"]
            + ["–" if value is None else f"{value:.1%}" for value in _rates(rate)]
            for rate in published.rates
        ),
    )


def _rates(rate: TrackRates) -> tuple[float | None, ...]:
    return rate.micro_average, rate.worst_average, rate.corpus_rate


def _loading_example(benchmark: type[Benchmark], infos: DatasetInfosDict, published: Published) -> str:
    """Return how to load a noisy split: this version, where it is tagged (a part is not)."""
    config = list(infos)[min(1, len(infos) - 1)]
    split = list(infos[config].splits)[-1]
    asked = [f'"<org>/{benchmark.NAME}"', f'"{config}"', f'split="{split}"']
    if PARTIAL not in _partial(benchmark, published):
        asked.append(f'revision="v{benchmark.VERSION}"')
    return (
        f"```python\nfrom datasets import load_dataset\n\nrows = load_dataset({', '.join(asked)})\nprint(rows[0])\n```"
    )


def _sources_table(published: Published) -> str:
    return table(
        ["source file", "sha256"], ([f"`{name}`", f"`{digest}`"] for name, digest in published.sources.items())
    )
