"""The catalogue of datasets, metrics and operators, collected from the packages' folders."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from lapsus.core.messages import format_unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.dataset_scripts.benchmark import Benchmark
    from lapsus.perturbations import NoiseTrack, Operator


def build_catalogue() -> dict[str, list[dict[str, str]]]:
    """Return name, summary and needs of every unit, by kind; of a numbered family, the first."""
    import lapsus.metrics
    from lapsus.dataset_scripts import benchmarks
    from lapsus.perturbations import OPERATORS

    datasets = [_describe_unit(name, unit, describe_requirements(unit)) for name, unit in benchmarks().items()]
    metrics = [_describe_unit(name, function) for name, function in sorted(lapsus.metrics.load_metrics().items())]
    operators = [_describe_unit(name, OPERATORS[name]) for name in sorted(OPERATORS) if not re.search(r"\.[1-9]", name)]
    return {"datasets": datasets, "metrics": metrics, "operators": operators}


def describe_input_methods() -> list[dict[str, str]]:
    """Return the Pinyin input methods that `zh_keyboard` supports: whether each is installed, or how to install it."""
    from lapsus.perturbations.zh.input_method.installed import list_input_methods

    return [
        {"name": method.name, "summary": "installed" if method.available else f"missing; {method.install}", "needs": ""}
        for method in list_input_methods()
    ]


def list_tasks() -> list[dict[str, str]]:
    """Return the tasks of `lapsus run`, each with what its dataset holds."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.evaluation.tasks import load_tasks

    known = benchmarks()
    rows = []
    for name, task in load_tasks().items():
        dataset = _describe_unit(task.dataset, known[task.dataset]) if task.dataset in known else None
        about = f". {dataset['summary']}" if dataset else ""
        where = "" if name == task.dataset or not task.dataset else f" [{task.dataset}]"
        language = dataset["language"] if dataset else ""
        rows.append(
            {
                "name": name,
                "summary": f"{task.summary[:1].upper()}{task.summary[1:]}{about}{where}",
                "needs": "",
                "language": language,
            }
        )
    return rows


def select_kinds(kind: str = "") -> dict[str, list[dict[str, str]]]:
    """Return the units of a kind, or of all kinds."""
    makers = {"tasks": list_tasks, "input-methods": describe_input_methods}
    if kind in makers:
        return {kind: makers[kind]()}
    units = build_catalogue()
    return {kind: units[kind]} if kind else units | {name: make() for name, make in makers.items()}


def filter_units(rows: Iterable[dict[str, str]], words: Iterable[str], language: str | None) -> list[dict[str, str]]:
    """Return the units whose name or summary holds every word, and that are for a language.

    >>> filter_units([{"name": "zh_speech", "summary": "Dictate", "language": "zh"}], ["dict"], "zh")[0]["name"]
    'zh_speech'
    """
    terms = [word.casefold() for word in words]
    return [
        row
        for row in rows
        if all(word in f"{row['name']} {row['summary']}".casefold() for word in terms)
        and (language is None or not row.get("language") or language in row["language"].split(", "))
    ]


WIDTH = 100


def format_units(rows: Sequence[dict[str, str]]) -> list[str]:
    r"""Return units as lines of at most 100 columns: the name, then what it does and what it needs, wrapped.

    >>> print(*format_units([{"name": "speako", "summary": "Replace one word", "needs": "lapsus[en]"}]), sep="\n")
      speako  Replace one word [needs lapsus[en]]
    """
    width = max((len(row["name"]) for row in rows), default=0)
    output_lines = []
    for row in rows:
        needs = f" [needs {row['needs']}]" if row["needs"] else ""
        start = f"  {row['name']:<{width}}  "
        output_lines += wrap(
            f"{row['summary']}{needs}",
            WIDTH,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )
    return output_lines


def _describe_unit(name: str, unit: Any, needs: str = "") -> dict[str, str]:
    """Describe a unit by its `summary`, else by the first line of its docstring."""
    description = getattr(unit, "summary", None) or getattr(unit, "__doc__", None) or "no docstring"
    summary = next(iter(description.strip().splitlines()), "").rstrip(".")
    return {
        "name": name,
        "summary": summary,
        "needs": needs or getattr(unit, "needs", ""),
        "language": ", ".join(find_languages(unit)),
    }


def find_languages(unit: Any) -> tuple[str, ...]:
    """Return the languages that a unit is for: those it states, or that of its package; a metric is for any.

    >>> from lapsus.perturbations import OPERATORS
    >>> find_languages(OPERATORS["zh_homophone"]), find_languages(OPERATORS["semantic_delete_pt"])
    (('zh',), ('pt',))
    """
    if isinstance(codes := getattr(unit, "LANGUAGES", None), tuple):
        return codes
    if isinstance(code := getattr(unit, "language", None), str):
        return (code,)
    if parts := getattr(unit, "operators", ()):
        return find_languages(parts[0])
    match = re.match(r"lapsus\.perturbations\.(en|zh)\b", type(unit).__module__)
    return (match[1],) if match else ()


def describe_requirements(benchmark: type[Benchmark]) -> str:
    """Return what a build needs: nothing, a download, or files to fetch by hand; and extras of lapsus."""
    files = "a download" if benchmark.URL else f"--source: {benchmark.WHERE}"
    return "; ".join(filter(None, ("" if benchmark.get_bundled_folder() else files, benchmark.EXTRAS)))


def find_benchmark(name: str) -> type[Benchmark]:
    """Return a benchmark by name; raise with similar names if there is none."""
    from lapsus.dataset_scripts import benchmarks

    known = benchmarks()
    if name not in known:
        raise LookupError(format_unknown_name("dataset", name, known))
    return known[name]


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Read NAME=VALUE words; raise where a name is given twice.

    >>> parse_assignments(["rate=0.1", "where=a=b"])
    {'rate': '0.1', 'where': 'a=b'}
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not (name and sign):
            raise ValueError(f"{assignment!r} is not a setting; write NAME=VALUE")
        if name in values:
            raise ValueError(f"{name!r} is given twice, as {values[name]!r} and {value!r}; give each name once")
        values[name] = value
    return values


def apply_settings(operator: Operator, assignments: Iterable[str]) -> Operator:
    """Return the operator with changed settings; each text is parsed as the type of the setting's present value.

    >>> from lapsus.perturbations import OPERATORS
    >>> apply_settings(OPERATORS["zh_homophone"], ["rate=0.5"]).rate
    0.5
    """
    from lapsus.perturbations.core import Thinned

    if isinstance(operator, Thinned):
        return replace(operator, operator=apply_settings(operator.operator, assignments))
    known = {field.name: getattr(operator, field.name) for field in fields(operator)}  # type: ignore[arg-type] # all are
    new_values: dict[str, Any] = {}
    for name, value in parse_assignments(assignments).items():
        if not isinstance(known.get(name), (bool, int, float, str)) or name in {"name", "version"}:
            raise ValueError(
                format_unknown_name(f"setting of {operator.name}", name, known.keys() - {"name", "version"})
            )
        new_values[name] = _parse_as_type_of(name, value, known[name])
    return replace(operator, **new_values)  # type: ignore[type-var] # likewise


def parse_configured_tracks(specs: Sequence[str], settings: Iterable[str]) -> tuple[NoiseTrack, ...]:
    """Return the tracks of OPERATOR[:ANNOTATORS][@SEVERITY], one put on the other, with their settings.

    A setting names its operator where there are several.

    >>> (track,) = parse_configured_tracks(["speako", "zh_homophone"], ["zh_homophone:rate=0.5"])
    >>> [step.operator.name for step in track.steps], track.steps[1].operator.rate
    (['speako', 'zh_homophone'], 0.5)
    """
    from lapsus.perturbations import parse_noise

    tracks = parse_noise("+".join(specs))
    names = [part.partition("@")[0].partition(":")[0] for spec in specs for part in spec.split("+")]
    settings_by_operator: dict[str, list[str]] = {name: [] for name in names}
    for word in settings:
        owner, colon, setting = word.partition(":")
        if colon and "=" not in owner:
            if owner not in settings_by_operator:
                raise LookupError(
                    format_unknown_name("operator with settings among those given", owner, settings_by_operator)
                )
            settings_by_operator[owner].append(setting)
        elif len(settings_by_operator) == 1:
            settings_by_operator[next(iter(settings_by_operator))].append(word)
        else:
            raise ValueError(f"{word!r} does not say which of several operators it sets; write OPERATOR:NAME=VALUE")
    return tuple(
        track._replace(
            steps=tuple(
                step._replace(operator=apply_settings(step.operator, settings_by_operator[name]))
                for name, step in zip(names, track.steps, strict=True)
            )
        )
        for track in tracks
    )


def _parse_as_type_of(name: str, value: str, default: float | str) -> Any:
    if isinstance(default, bool):
        if value.lower() not in {"true", "false"}:
            raise ValueError(f"{name} is {value!r}; write true or false")
        return value.lower() == "true"
    try:
        return type(default)(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; write a number such as {default}") from None
