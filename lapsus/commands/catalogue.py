"""The catalogue of datasets, metrics and operators, collected from the packages' folders."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from lapsus.kernel.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.dataset_scripts.benchmark import Benchmark
    from lapsus.perturbations import NoiseTrack, Operator


def catalogue() -> dict[str, list[dict[str, str]]]:
    """Return name, summary and needs of every unit, by kind; of a numbered family, the first."""
    import lapsus.metrics
    from lapsus.dataset_scripts import benchmarks
    from lapsus.perturbations import OPERATORS

    datasets = [_unit(name, unit, build_needs(unit)) for name, unit in benchmarks().items()]
    metrics = [_unit(name, function) for name, function in sorted(lapsus.metrics.metrics().items())]
    operators = [_unit(name, OPERATORS[name]) for name in sorted(OPERATORS) if not re.search(r"\.[1-9]", name)]
    return {"datasets": datasets, "metrics": metrics, "operators": operators}


def input_methods() -> list[dict[str, str]]:
    """Return the Pinyin input methods that `zh_keyboard` supports: whether each is installed, or how to install it."""
    from lapsus.perturbations.zh.engine.installed import engines

    return [
        {"name": each.name, "summary": "installed" if each.available else f"missing; {each.install}", "needs": ""}
        for each in engines()
    ]


def task_rows() -> list[dict[str, str]]:
    """Return the tasks of `lapsus run`, each with what its dataset holds."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.running.tasks import tasks

    known = benchmarks()
    rows = []
    for name, task in tasks().items():
        dataset = _unit(task.dataset, known[task.dataset]) if task.dataset in known else None
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


def listed(kind: str = "") -> dict[str, list[dict[str, str]]]:
    """Return the units of a kind, or of all kinds."""
    makers = {"tasks": task_rows, "input-methods": input_methods}
    if kind in makers:
        return {kind: makers[kind]()}
    units = catalogue()
    return {kind: units[kind]} if kind else units | {name: make() for name, make in makers.items()}


def matching(rows: Iterable[dict[str, str]], words: Iterable[str], language: str | None) -> list[dict[str, str]]:
    """Return the units whose name or summary holds every word, and that are for a language.

    >>> matching([{"name": "zh_speech", "summary": "Dictate", "language": "zh"}], ["dict"], "zh")[0]["name"]
    'zh_speech'
    """
    asked = [word.casefold() for word in words]
    return [
        row
        for row in rows
        if all(word in f"{row['name']} {row['summary']}".casefold() for word in asked)
        and (language is None or not row.get("language") or language in row["language"].split(", "))
    ]


WIDTH = 100


def lines(rows: Sequence[dict[str, str]]) -> list[str]:
    r"""Return units as lines of at most 100 columns: the name, then what it does and what it needs, wrapped.

    >>> print(*lines([{"name": "speako", "summary": "Replace one word", "needs": "lapsus[en]"}]), sep="\n")
      speako  Replace one word [needs lapsus[en]]
    """
    width = max((len(row["name"]) for row in rows), default=0)
    found = []
    for row in rows:
        needs = f" [needs {row['needs']}]" if row["needs"] else ""
        start = f"  {row['name']:<{width}}  "
        found += wrap(
            f"{row['summary']}{needs}",
            WIDTH,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )
    return found


def _unit(name: str, unit: Any, needs: str = "") -> dict[str, str]:
    """Describe a unit by its `summary`, else by the first line of its docstring."""
    told = getattr(unit, "summary", None) or getattr(unit, "__doc__", None) or "no docstring"
    summary = next(iter(told.strip().splitlines()), "").rstrip(".")
    return {
        "name": name,
        "summary": summary,
        "needs": needs or getattr(unit, "needs", ""),
        "language": ", ".join(languages(unit)),
    }


def languages(unit: Any) -> tuple[str, ...]:
    """Return the languages that a unit is for: those it states, or that of its package; a metric is for any.

    >>> from lapsus.perturbations import OPERATORS
    >>> languages(OPERATORS["zh_homophone"]), languages(OPERATORS["semantic_delete_pt"])
    (('zh',), ('pt',))
    """
    if isinstance(stated := getattr(unit, "LANGUAGES", None), tuple):
        return stated
    if isinstance(own := getattr(unit, "language", None), str):
        return (own,)
    if parts := getattr(unit, "operators", ()):
        return languages(parts[0])
    found = re.match(r"lapsus\.perturbations\.(en|zh)\b", type(unit).__module__)
    return (found[1],) if found else ()


def build_needs(benchmark: type[Benchmark]) -> str:
    """Return what a build needs: nothing, a download, or files to fetch by hand; and extras of lapsus."""
    files = "a download" if benchmark.URL else f"--source: {benchmark.WHERE}"
    return "; ".join(filter(None, ("" if benchmark.home() else files, benchmark.EXTRAS)))


def find_benchmark(name: str) -> type[Benchmark]:
    """Return a benchmark by name; raise with similar names if there is none."""
    from lapsus.dataset_scripts import benchmarks

    known = benchmarks()
    if name not in known:
        raise LookupError(unknown("dataset", name, known))
    return known[name]


def pairs(words: Iterable[str]) -> dict[str, str]:
    """Read NAME=VALUE words; raise where a name is given twice.

    >>> pairs(["rate=0.1", "where=a=b"])
    {'rate': '0.1', 'where': 'a=b'}
    """
    found: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not (name and sign):
            raise ValueError(f"{word!r} is not a setting; write NAME=VALUE")
        if name in found:
            raise ValueError(f"{name!r} is given twice, as {found[name]!r} and {value!r}; give each name once")
        found[name] = value
    return found


def configured(operator: Operator, words: Iterable[str]) -> Operator:
    """Return the operator with changed settings; each text is parsed as the type of the setting's present value.

    >>> from lapsus.perturbations import OPERATORS
    >>> configured(OPERATORS["zh_homophone"], ["rate=0.5"]).rate
    0.5
    """
    from lapsus.perturbations.thinned import Thinned

    if isinstance(operator, Thinned):
        return replace(operator, operator=configured(operator.operator, words))
    known = {field.name: getattr(operator, field.name) for field in fields(operator)}  # type: ignore[arg-type] # all are
    settings: dict[str, Any] = {}
    for name, value in pairs(words).items():
        if not isinstance(known.get(name), (bool, int, float, str)) or name in {"name", "version"}:
            raise ValueError(unknown(f"setting of {operator.name}", name, known.keys() - {"name", "version"}))
        settings[name] = _like(name, value, known[name])
    return replace(operator, **settings)  # type: ignore[type-var] # likewise


def configured_tracks(specs: Sequence[str], words: Iterable[str]) -> tuple[NoiseTrack, ...]:
    """Return the tracks of OPERATOR[:ANNOTATORS][@SEVERITY], one put on the other, with their settings.

    A setting names its operator where there are several.

    >>> (track,) = configured_tracks(["speako", "zh_homophone"], ["zh_homophone:rate=0.5"])
    >>> [step.operator.name for step in track.steps], track.steps[1].operator.rate
    (['speako', 'zh_homophone'], 0.5)
    """
    from lapsus.perturbations import tracks_of

    tracks = tracks_of("+".join(specs))
    names = [part.partition("@")[0].partition(":")[0] for spec in specs for part in spec.split("+")]
    own: dict[str, list[str]] = {name: [] for name in names}
    for word in words:
        owner, colon, setting = word.partition(":")
        if colon and "=" not in owner:
            if owner not in own:
                raise LookupError(unknown("operator with settings among those given", owner, own))
            own[owner].append(setting)
        elif len(own) == 1:
            own[next(iter(own))].append(word)
        else:
            raise ValueError(f"{word!r} does not say which of several operators it sets; write OPERATOR:NAME=VALUE")
    return tuple(
        track._replace(
            steps=tuple(
                step._replace(operator=configured(step.operator, own[name]))
                for name, step in zip(names, track.steps, strict=True)
            )
        )
        for track in tracks
    )


def _like(name: str, value: str, old: float | str) -> Any:
    if isinstance(old, bool):
        if value.lower() not in {"true", "false"}:
            raise ValueError(f"{name} is {value!r}; write true or false")
        return value.lower() == "true"
    try:
        return type(old)(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; write a number such as {old}") from None
