"""The card of a published dataset: generated YAML and tables around its prose.

The prose is `<name>.md`: for the datasets of lapsus in hub_cards/, for those of other packages beside the module that
builds them. Without such a file the card says what the builder states of itself (hub_cards/_general.md).
"""

from __future__ import annotations

import inspect
import sys
from copy import copy
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

import lapsus.hub_cards
from lapsus.core.messages import format_list
from lapsus.hub.built_folder import NO_LICENSE, PARTIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from datasets.info import DatasetInfosDict

    from lapsus.dataset_scripts.benchmark import Benchmark
    from lapsus.hub.build import BuildResult
    from lapsus.stats.noise_rates import TrackNoiseRates


GENERAL = "_general.md"
MAX_YAML_BYTES = 50_000  # bytes of YAML; the Hub answers 413 to a few times as many
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))


def render_card(benchmark: type[Benchmark], infos: DatasetInfosDict, build: BuildResult) -> str:
    """Return the README.md of a built dataset."""
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    total = sum(split.num_examples for info in infos.values() for split in info.splits.values())
    data = DatasetCardData(
        pretty_name=benchmark.TITLE,
        language=list(benchmark.LANGUAGES),
        license=benchmark.get_license(build.sources) or NO_LICENSE,
        annotations_creators=[benchmark.ANNOTATIONS],
        multilinguality=["monolingual" if len(benchmark.LANGUAGES) == 1 else "multilingual"],
        size_categories=[next((name for limit, name in SIZES if total < limit), "1M<n<10M")],
        source_datasets=list(benchmark.SOURCE_DATASETS) or None,
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
    if len(data.to_yaml().encode()) > MAX_YAML_BYTES:
        _drop_repeated_features(infos).to_dataset_card_data(data)
    body = render_prose(
        benchmark,
        files=build.sources,
        partial=_format_partial_notice(benchmark, build),
        flags=build.flags,
        rows_table=_format_rows_table(benchmark, build),
        columns_table=_format_columns_table(infos),
        error_rates_table=_format_noise_rates_table(build),
        loading_example=_format_loading_example(benchmark, infos, build),
        sources_table=_format_sources_table(build),
    )
    papers = "".join(f"\n\nPaper: https://arxiv.org/abs/{paper}" for paper in benchmark.ARXIV)
    return f"---\n{data.to_yaml()}\n---\n\n{body.strip()}{papers}\n"


def _drop_repeated_features(infos: DatasetInfosDict) -> DatasetInfosDict:
    """Keep equal features in the YAML of the first config only; the Parquet files hold them for the others.

    Hundreds of labels in each of twenty configs are more YAML than the Hub takes.
    """
    seen_features: set[str] = set()
    reduced_infos = type(infos)()
    for config, info in infos.items():
        reduced_infos[config] = copy(info)
        if str(info.features) in seen_features:
            reduced_infos[config].features = None
        seen_features.add(str(info.features))
    return reduced_infos


def render_prose(
    benchmark: type[Benchmark],
    *,
    files: Iterable[str] = (),
    partial: str = "",
    flags: Sequence[str] = (),
    rows_table: str = "",
    columns_table: str = "",
    error_rates_table: str = "",
    loading_example: str = "",
    sources_table: str = "",
) -> str:
    """Return the card's Markdown, with the figures of a build; an error in another package's prose is one sentence.

    >>> from lapsus.dataset_scripts import benchmarks
    >>> render_prose(benchmarks()["rte"]).splitlines()[0]
    '# RTE1-3'
    """
    context = {
        "title": benchmark.TITLE,
        "name": benchmark.NAME,
        "license": benchmark.get_license(files),
        "license_link": benchmark.LICENSE_LINK,
        "partial": partial,
        "flags": flags,
        "columns": format_list(f"`{name}`" for name in _list_noisy(benchmark)),
        "clean_columns": format_list(f"`clean_{name}`" for name in _list_noisy(benchmark)),
        "package_version": version("lapsus"),
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
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*_find_card_folder(benchmark), *lapsus.hub_cards.__path__]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown, from installed packages
        trim_blocks=True,
        lstrip_blocks=True,
    )
    try:
        return environment.select_template([benchmark.PROSE or f"{benchmark.NAME}.md", GENERAL]).render(context)
    except jinja2.TemplateSyntaxError as error:
        location = f"{error.filename or error.name} line {error.lineno}"
        raise ValueError(f"{location} cannot be read as a card ({error.message}); mend the prose") from error
    except jinja2.TemplateError as error:
        raise ValueError(f"the card {benchmark.NAME}.md cannot be filled in ({error}); mend the prose") from error


def _list_noisy(benchmark: type[Benchmark]) -> list[str]:
    """Return the names of the noisy texts of an author's own rows."""
    return [path.name for path in benchmark.STORE.texts] if hasattr(benchmark, "STORE") else []


def _find_card_folder(benchmark: type[Benchmark]) -> list[Path]:
    """Return the folder of the module that defines a benchmark; nothing where the module is no file."""
    file = getattr(sys.modules.get(benchmark.__module__), "__file__", None)
    return [Path(file).parent] if file else []


def format_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a Markdown table.

    >>> print(format_table(["a", "b"], [[1, "x|y"]]))
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _format_partial_notice(benchmark: type[Benchmark], build: BuildResult) -> str:
    """Return the card's text on splits whose number of rows is not the official one, and the reason."""
    known = {
        place for place, (_, built) in build.row_count_mismatches.items() if benchmark.AT_ADDRESS.get(place) == built
    }
    notes = [
        f"`{place}` has {built:,} of {official:,} official rows: the source's own address holds no others."
        for place, (official, built) in build.row_count_mismatches.items()
        if place in known
    ]
    places = "; ".join(
        f"`{place}` has {built:,} of {official:,}"
        for place, (official, built) in build.row_count_mismatches.items()
        if place not in known
    )
    if places:
        notes.append(f"{PARTIAL} Not all official rows were in the source: {places}.")
    return "\n>\n".join(f"> {note}" for note in notes)


def _format_rows_table(benchmark: type[Benchmark], build: BuildResult) -> str:
    official_header = [] if benchmark.OWN else ["official rows"]
    return format_table(
        ["config", "split", "rows", *official_header],
        (
            [
                f"`{config}`",
                f"`{split}`",
                f"{build.rows[config][split]:,}",
                *([f"{official:,}" if official else "–"] if official_header else []),
            ]
            for config, splits in benchmark.ROWS.items()
            for split, official in splits.items()
        ),
    )


def _format_columns_table(infos: DatasetInfosDict) -> str:
    """List each column once, with the configs that have it."""
    configs: dict[tuple[str, str], list[str]] = {}
    for config, info in infos.items():
        for name, feature in info.features.items():
            configs.setdefault((name, _describe_type(feature)), []).append(config)
    return format_table(
        ["column", "type", "configs"],
        (
            [
                f"`{name}`",
                kind,
                "all" if len(config_names) == len(infos) else ", ".join(f"`{config}`" for config in config_names),
            ]
            for (name, kind), config_names in configs.items()
        ),
    )


def _describe_type(feature: Any) -> str:
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
        return f"list of {_describe_type(feature.feature)}"
    if isinstance(feature, dict):
        return "{" + ", ".join(f"{name}: {_describe_type(value)}" for name, value in feature.items()) + "}"
    return type(feature).__name__


def _format_noise_rates_table(build: BuildResult) -> str:
    if not build.rates:
        return ""
    return format_table(
        ["track", "column", "micro average", "worst average", "corpus rate"],
        (
            [f"`{rate.location}`", f"`{rate.column}`"]
            + ["–" if value is None else f"{value:.1%}" for value in _list_noise_rates(rate)]
            for rate in build.rates
        ),
    )


def _list_noise_rates(rate: TrackNoiseRates) -> tuple[float | None, ...]:
    return rate.micro_average, rate.worst_average, rate.corpus_rate


def _format_loading_example(benchmark: type[Benchmark], infos: DatasetInfosDict, build: BuildResult) -> str:
    """Return how to load a noisy split: this version, where it is tagged (a part is not)."""
    config = list(infos)[min(1, len(infos) - 1)]
    split = list(infos[config].splits)[-1]
    arguments = [f'"<org>/{benchmark.NAME}"', f'"{config}"', f'split="{split}"']
    if PARTIAL not in _format_partial_notice(benchmark, build):
        arguments.append(f'revision="v{benchmark.VERSION}"')
    call = f"load_dataset({', '.join(arguments)})"
    return f"```python\nfrom datasets import load_dataset\n\nrows = {call}\nprint(rows[0])\n```"


def _format_sources_table(build: BuildResult) -> str:
    return format_table(
        ["source file", "sha256"], ([f"`{name}`", f"`{digest}`"] for name, digest in build.sources.items())
    )


# The licences that the Hub knows, by their identifiers (https://huggingface.co/docs/hub/repositories-licenses).


LICENSES = """
afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0
bigscience-openrail-m bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5
cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0
cdla-permissive-2.0 cdla-sharing-1.0 creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 etalab-2.0
eupl-1.1 eupl-1.2 fair-noncommercial-research-license gemma gfdl gpl gpl-2.0 gpl-3.0 grok2-community h-research
intel-research isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 lppl-1.3c mit
mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openmdw-1.0 openrail openrail++ osl-3.0 other pddl postgresql unlicense wtfpl
zlib
"""


def check_license(name: str) -> None:
    """Raise unless the Hub knows a licence by this name: it refuses a card that states another.

    >>> check_license("CC BY 4.0")
    Traceback (most recent call last):
    ...
    ValueError: the Hub knows no licence 'CC BY 4.0'; name it as the Hub does (cc-by-4.0?), or as other
    """
    known = LICENSES.split()
    if name not in known:
        near = get_close_matches("-".join(name.lower().split()), known, n=1)
        hint = f" ({near[0]}?)" if near else ""
        raise ValueError(f"the Hub knows no licence {name!r}; name it as the Hub does{hint}, or as other")
