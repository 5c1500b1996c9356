"""`lapsus perturb`: noise on a file or dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from lapsus.cli.options import (
    add_executor_options,
    add_option,
    open_executor_from_options,
    parse_assignments,
)
from lapsus.core.messages import format_examples, format_unknown_name
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.core import Operator, Thinned
from lapsus.perturbations.protection import Protection
from lapsus.perturbations.specs import NoiseTrack, list_operator_names, parse_noises, split_track_name


@click.command(
    epilog=format_examples(
        "lapsus perturb --noise zh_homophone@0.1 --text text --id id in.csv out.csv",
        "lapsus perturb --noise zh_keyboard:3 --text text --id id in.jsonl out.jsonl",
        "lapsus perturb --noise en_keyboard --text messages --turns last \\",
        "  --protect order --protect 'regex:[A-Z][0-9]+' chats.jsonl out.jsonl",
        "lapsus perturb --executor ray --noise zh_keyboard --text text --id id \\",
        "  s3://BUCKET/rows s3://BUCKET/noisy",
    )
)
@click.argument("source")
@click.argument("target")
@add_option(
    "--noise",
    "Operator to apply (lapsus list operators), or several joined by + that are applied in order; repeatable. "
    "TRACK names the target.",
    required=True,
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="[OPERATOR:]NAME=VALUE",
    help="Setting of the operator, or of the one that is named; repeatable.",
)
@add_option("--text", "Column of texts or of messages, or of tokens with --tags; repeatable.", required=True)
@add_option("--turns")
@add_option("--id", "Column of the example's id. The noise of a row depends on it, and not on the order of rows.")
@add_option("--tags", "Column of BIO tags, one per token.")
@add_option("--answers", "Column of SQuAD answers within --text; they are kept whole and moved.")
@add_option("--protect")
@add_option("--seed", "Seed of the noise; repeatable.", multiple=True, default=(0,))
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of processes; the output is the same for any number. "
    "[default: 1; with --executor ray and no --ray-address, all CPUs]",
)
@add_executor_options
@click.option("--overwrite", is_flag=True, help="Replace TARGET if it exists.")
@add_option("--split", "Split, if SOURCE is a dataset.")
@click.option("--config", metavar="NAME", help="Config, if SOURCE is a dataset.")
def perturb(
    source: str,
    target: str,
    noise: tuple[str, ...],
    settings: tuple[str, ...],
    text: tuple[str, ...],
    turns: Turns | None,
    protect: tuple[str, ...],
    id_column: str | None,
    tags: str | None,
    answers: str | None,
    seed: tuple[int, ...],
    workers: int | None,
    executor_name: str,
    ray_address: str | None,
    *,
    overwrite: bool,
    split: str | None,
    config: str | None,
) -> None:
    """Perturb SOURCE into TARGET: JSON lines, CSV or Parquet, or a dataset of the Hub.

    Every row keeps its clean text and records its edits. In a column of messages the user's turns are perturbed, by one
    person in each conversation. An interrupted run resumes. If the file is already noisy, the
    noise is composed and the clean text is kept. Each annotator, each of several seeds and each of several --noise has
    a target of its own: out.1.jsonl and out.2.jsonl, out.seed0.jsonl and out.seed1.jsonl, out.speako.jsonl and
    out.filler_eos.jsonl.

    With --executor ray, SOURCE is a file, a folder or a pattern of JSON lines or Parquet, and TARGET a folder of
    Parquet shards; both may be addresses such as s3://BUCKET/rows.
    """
    use_ray = executor_name == "ray"
    if use_ray and (split or config):
        raise click.UsageError(
            "--split and --config belong to datasets; with --executor ray name the files of one split"
        )
    if len(set(seed)) < len(seed):
        raise click.UsageError("a seed is given twice, which makes the same noise; give each seed once")
    columns = text[0] if len(text) == 1 else text
    options: dict[str, Any] = {"text": columns, "id": id_column, "tags": tags, "answers": answers, "turns": turns}
    options |= Protection.parse(protect).settings()
    jobs = {}
    for suffix, track in _name_tracks(noise, settings).items():
        for number in seed:
            name = _add_suffix(target, f"{suffix}.seed{number}" if len(seed) > 1 else suffix, folder=use_ray)
            jobs[name] = track.make_noises(seed=number, **options)
    existing = [name for name in jobs if len(jobs) > 1 and not overwrite and Path(name).exists()]
    if existing:
        raise FileExistsError(f"{existing[0]} exists; name another target, or replace it with --overwrite")
    place = target
    try:
        with open_executor_from_options(executor_name, ray_address, workers) as executor:
            for place, noises in jobs.items():
                summary = (
                    perturb_corpus(source, place, noises, executor=executor, overwrite=overwrite)
                    if use_ray
                    else perturb_file(
                        source, place, noises, split=split, config=config, workers=workers or 1, overwrite=overwrite
                    )
                )
                click.echo(str(summary))
                if summary.rows and not summary.changed:
                    names = ", ".join(noise.op.name for noise in noises)
                    cure = "take an operator for their language (lapsus list operators)"
                    click.echo(f"warning: {names} changed none of the texts; {cure}", err=True)
    except KeyboardInterrupt:
        parts = Path(f"{place.rstrip('/')}.partial")
        hint = f" to resume (finished parts are in {parts})" if parts.exists() else ""
        click.echo(f"interrupted; run the same command{hint}", err=True)
        raise SystemExit(130) from None  # as a shell reports Ctrl-C


def _name_tracks(specs: Sequence[str], settings: Iterable[str]) -> dict[str, NoiseTrack]:
    """Return each track by the suffix of its target: the name of the noise only where it tells targets apart."""
    is_named = len(specs) > 1 or bool(split_track_name(specs[0])[0])
    return {
        f".{name}{track.suffix}" if is_named else track.suffix: track
        for name, tracks in parse_configured_noises(specs, settings).items()
        for track in tracks
    }


def _add_suffix(target: str, suffix: str, *, folder: bool) -> str:
    """Return a target with a suffix, which stands before the ending of a file.

    >>> _add_suffix("out/a.b.jsonl", ".1", folder=False), _add_suffix("s3://bucket/noisy/", ".1", folder=True)
    ('out/a.b.1.jsonl', 's3://bucket/noisy.1')
    """
    if not suffix:
        return target
    if folder:
        return f"{target.rstrip('/')}{suffix}"
    path = Path(target)
    return str(path.with_name(f"{path.stem}{suffix}{path.suffix}"))


def parse_configured_noises(specs: Sequence[str], settings: Iterable[str]) -> Mapping[str, tuple[NoiseTrack, ...]]:
    """Return the tracks of each noise spec by the name of the noise, with the settings of their operators.

    A setting names its operator where there are several.

    >>> ((track,),) = parse_configured_noises(["speako+zh_homophone"], ["zh_homophone:rate=0.5"]).values()
    >>> [step.operator.name for step in track.steps], track.steps[1].operator.rate
    (['speako', 'zh_homophone'], 0.5)
    """
    names = {spec: list_operator_names(spec) for spec in specs}
    assignments: dict[str, list[str]] = {name: [] for words in names.values() for name in words}
    for word in settings:
        owner, colon, assignment = word.partition(":")
        if colon and "=" not in owner:
            if owner not in assignments:
                raise LookupError(format_unknown_name("operator with settings among those given", owner, assignments))
            assignments[owner].append(assignment)
        elif len(assignments) == 1:
            assignments[next(iter(assignments))].append(word)
        else:
            raise ValueError(f"{word!r} does not say which of several operators it sets; write OPERATOR:NAME=VALUE")
    return {
        name: tuple(
            track._replace(
                steps=tuple(
                    step._replace(operator=apply_settings(step.operator, assignments[operator]))
                    for operator, step in zip(names[spec], track.steps, strict=True)
                )
            )
            for track in tracks
        )
        for spec, (name, tracks) in zip(specs, parse_noises(specs).items(), strict=True)
    }


def apply_settings(operator: Operator, assignments: Iterable[str]) -> Operator:
    """Return the operator with changed settings; each text is parsed as the type of the setting's present value.

    >>> from lapsus.perturbations import OPERATORS
    >>> apply_settings(OPERATORS["zh_homophone"], ["rate=0.5"]).rate
    0.5
    """
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


def _parse_as_type_of(name: str, value: str, default: float | str) -> Any:
    if isinstance(default, bool):
        if value.lower() not in {"true", "false"}:
            raise ValueError(f"{name} is {value!r}; write true or false")
        return value.lower() == "true"
    try:
        return type(default)(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; write a number such as {default}") from None
