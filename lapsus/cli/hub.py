"""`lapsus build`, `make`, `push` and `collection`: from rows to dataset folders, and up to the Hub."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # public, but not in __all__

from lapsus import dataset_scripts
from lapsus.cli.options import PATH, add_executor_options, add_option, open_executor_from_options, split_list
from lapsus.core.executors import Executor
from lapsus.core.messages import format_examples, format_unknown_name
from lapsus.dataset_scripts.benchmark import Benchmark
from lapsus.dataset_scripts.source import AmbiguousFileError
from lapsus.hub import upload as hub_upload
from lapsus.hub.build import BuildResult, build_dataset
from lapsus.hub.built_folder import read_card
from lapsus.hub.collection import update_collection
from lapsus.hub.dataset_card import check_license
from lapsus.hub.release import plan_release, run_release
from lapsus.hub.stand_off import make_edits_benchmark, make_rebuild_benchmark, open_edits
from lapsus.hub.upload import Gate
from lapsus.hub.user_dataset import CardTexts, build_rows


@click.command(epilog=format_examples("lapsus build readin-afqmc --source READIN.zip --out readin-afqmc"))
@click.argument("name", required=False)
@click.option(
    "--edits",
    metavar="FOLDER|ORG/NAME",
    help="Edits that `lapsus edits` published: build their rows again over your own SOURCE.",
)
@click.option("--all", "all_datasets", is_flag=True, help="Build every dataset whose files are in SOURCE, to OUT/NAME.")
@click.option("--source", type=PATH, metavar="PATH", help="Folder or archive with the original files.")
@add_option("--out", "Dataset folder to write, which load_dataset reads.", required=True)
@click.option("--allow-partial", is_flag=True, help="Build the dataset even if rows are missing; the card says so.")
@add_option("--push")
@add_option("--private", "With --push: make the repo private, even if it is public now.")
@add_option("--gated")
@click.option("--i-have-the-rights", is_flag=True, help="With --push: publish although the source states no licence.")
@click.option("--push-partial", is_flag=True, help="With --push: publish although rows are missing.")
@add_executor_options
def build(
    name: str | None,
    edits: str | None,
    source: Path | None,
    out: Path,
    executor_name: str,
    ray_address: str | None,
    *,
    all_datasets: bool,
    allow_partial: bool,
    push: str | None,
    private: bool,
    gated: Gate | None,
    i_have_the_rights: bool,
    push_partial: bool,
) -> None:
    """Build dataset NAME from its original files: Parquet and a card.

    With --executor ray the noise of synthetic tracks is made on all nodes.
    """
    if all_datasets + (name is not None) + (edits is not None) != 1:
        raise click.UsageError("name one dataset, or give --all, or --edits")
    if all_datasets and (push or source is None):
        raise click.UsageError("--all needs --source, and pushes nothing; publish each folder with lapsus push")
    if edits:
        if push:
            raise click.UsageError("rows over edits are yours to use, not to push; leave --push out")
        benchmark = make_rebuild_benchmark(open_edits(edits))
        echo_result(build_dataset(benchmark, out, source=source, allow_partial=allow_partial))
        return
    if name is None:
        with open_executor_from_options(executor_name, ray_address) as executor:
            build_all(source, out, executor, allow_partial=allow_partial)
        return
    benchmark = find_benchmark(name)
    if push and benchmark.LICENSE is None and not i_have_the_rights:
        raise click.UsageError(
            f"the source of {name} states no licence to publish it{describe_rights(name)}, "
            "so it cannot be published for you; "
            "build it without --push, or pass --i-have-the-rights if you do"
        )
    if push:
        check_repo_id(f"{push}/{name}")  # before the build, so that a wrong name costs no time
    with open_executor_from_options(executor_name, ray_address) as executor:
        result = build_dataset(benchmark, out, source=source, allow_partial=allow_partial, executor=executor)
    for location, (expected, actual) in result.row_count_mismatches.items():
        click.echo(f"partial: {location} has {actual:,} of {expected:,} rows", err=True)
    echo_result(result)
    if push:
        rights = {"i_have_the_rights": i_have_the_rights, "allow_partial": push_partial}
        upload_built(result.path, push, private=private, gated=gated, **rights)


def find_benchmark(name: str) -> type[Benchmark]:
    """Return a benchmark by name; raise with similar names if there is none."""
    known = dataset_scripts.benchmarks()
    if name not in known:
        raise LookupError(format_unknown_name("dataset", name, known))
    return known[name]


def check_repo_id(repo: str) -> None:
    """Raise unless the Hub accepts this name of a repo."""
    validate_repo_id(repo)


def build_all(source: Path | None, out: Path, executor: Executor, *, allow_partial: bool) -> None:
    """Build each dataset whose files are in `source`, and print what the others lack."""
    n_built = 0
    for name, benchmark in dataset_scripts.benchmarks().items():
        error: Exception | None = None
        for root in [None] if benchmark.get_bundled_folder() else list_roots(source, name):
            try:
                result = build_dataset(
                    benchmark, out / name, source=root, allow_partial=allow_partial, executor=executor
                )
            except AmbiguousFileError as ambiguity:  # files of other datasets are called the same: try fewer folders
                error = error or ambiguity
            except (ValueError, OSError, ImportError) as reason:
                error = reason if error is None else error
                if root == source:
                    break
            else:
                n_built += 1
                error = None
                echo_result(result)
                break
        if error:
            click.echo(f"{name} is not built: {' '.join(str(error).split())}", err=True)
    if not n_built:
        raise click.ClickException(f"no dataset has its files in {source}; name the folder that holds them")


def list_roots(source: Path | None, name: str) -> list[Path]:
    """Return the folders in which the files of a dataset may be, the likeliest first.

    Its own folder alone, where there is one called as the dataset; else `source`, then the folders whose names the
    dataset's name begins with.
    """
    if source is None or not source.is_dir():
        return [source] if source else []
    if (source / name).is_dir():
        return [source / name]
    plain = re.sub(r"[^a-z0-9]", "", name)
    folders = {path: re.sub(r"[^a-z0-9]", "", path.name.lower()) for path in sorted(source.iterdir()) if path.is_dir()}
    related = [path for path, words in folders.items() if words and plain.startswith(words)]
    return [source, *sorted(related, key=lambda path: -len(folders[path]))]


@click.command(
    epilog=format_examples(
        "lapsus make mine.jsonl --text question --noise zh_keyboard:3 --out mine",
        "lapsus make mine.jsonl --text question --noise both=speako:2+filler_eos:2 \\",
        "  --out mine --license cc-by-4.0 --push ORG",
    )
)
@click.argument("rows")
@add_option(
    "--text",
    "Column to perturb: texts, messages, or tokens with --tags; repeatable. A.B: the key B in A.",
    required=True,
)
@add_option("--turns")
@add_option("--protect")
@add_option("--id", "Column of the id, on which the noise of a row depends. [default: id, or a hash of the texts]")
@add_option("--split", "The split to take. [default: all]")
@add_option("--noise", "Noise of a track, called TRACK or as its operators are; repeatable. Operators are joined by +.")
@click.option(
    "--people",
    multiple=True,
    metavar="TRACK=FILE,FILE",
    help="Files of people who wrote a track: JSON lines with `id` and `text`, one file per person. Repeatable.",
)
@click.option(
    "--human",
    multiple=True,
    metavar="TRACK=FILE",
    help="Human version of some rows of a synthetic track; adds a fidelity table to the card. Repeatable.",
)
@add_option("--tags", "Column of BIO tags, one per token.")
@add_option("--answers", "Column of SQuAD answers within --text; they are kept whole and moved.")
@add_option("--seed", "Seed of the noise.")
@add_option("--out", "Dataset folder to write.", required=True)
@click.option("--name", metavar="NAME", help="Name of the dataset. [default: the name of --out]")
@click.option("--license", metavar="LICENSE", help="Its licence, as the Hub spells it, e.g. cc-by-4.0.")
@click.option("--language", metavar="CODE", help="Its language, e.g. zh, or a column of languages. [default: detected]")
@click.option("--title", default="", metavar="TEXT", help="Title of the card. [default: the name]")
@click.option("--description", default="", metavar="TEXT", help="What the rows are, for the card.")
@click.option("--author", default="", metavar="NAME", help="Who made the rows, for the card.")
@click.option("--task", default="", metavar="TASK", help="Its task, as the Hub spells it, e.g. text-classification.")
@click.option("--citation", metavar="FILE", type=PATH, help="File with BibTeX for the card.")
@click.option(
    "--version",
    metavar="X.Y.Z",
    default="1.0.0",
    show_default=True,
    help="Version of the data, and its tag on the Hub.",
)
@add_option("--push", "Upload to ORG/NAME on the Hub when it is built; needs --license.")
@add_option("--private", "With --push: make the repo private, even if it is public now.")
@add_option("--gated")
@add_executor_options
def make(
    rows: str,
    text: tuple[str, ...],
    out: Path,
    name: str | None,
    license: str | None,
    push: str | None,
    people: tuple[str, ...],
    human: tuple[str, ...],
    citation: Path | None,
    executor_name: str,
    ray_address: str | None,
    *,
    private: bool,
    gated: Gate | None,
    **options: Any,
) -> None:
    """Build a dataset folder from your own ROWS.

    It has a clean config, one config per annotator, and for each track one with all annotators. ROWS is a file (JSON
    lines, JSON, CSV, TSV, Parquet, Arrow, CoNLL), a folder of such files or one that save_to_disk wrote, a pattern such
    as "data/*.jsonl", or a dataset of the Hub (ORG/NAME). Splits stay: they are told by the names of files, or by a
    column `split`. ANNOTATORS is the number of simulated persons or, of an operator that has none, of seeds. SEVERITY
    is the operator's rate, or the share of its edits that are kept.
    """
    name = name or out.absolute().name
    if push and not license:
        raise click.UsageError("rows without a licence cannot be published for you; name theirs with --license")
    if push:
        check_repo_id(f"{push}/{name}")
    context = click.get_current_context()
    card = CardTexts(
        citation=citation.read_text(encoding="utf-8").strip() if citation else "",
        command=format_command(context.command, context.params),
        **{key: options.pop(key) for key in ("title", "description", "author", "task")},
    )
    with open_executor_from_options(executor_name, ray_address) as executor:
        result = build_rows(
            rows,
            out,
            text=text,
            id=options.pop("id_column"),
            name=name,
            license=license,
            people=parse_track_files("--people", people),
            human=parse_track_files("--human", human),
            card=card,
            executor=executor,
            **options,
        )
    echo_result(result)
    if push:
        upload_built(result.path, push, private=private, gated=gated)


def parse_track_files(option: str, words: tuple[str, ...]) -> dict[str, list[str | Path]]:
    """Return the files of each track.

    >>> parse_track_files("--people", ("keyboard=a.jsonl,b.jsonl", "keyboard=c.jsonl"))["keyboard"][2].name
    'c.jsonl'
    """
    files: dict[str, list[str | Path]] = {}
    for word in words:
        track, _, names = word.partition("=")
        paths = [Path(name) for name in split_list(names)]
        if not (track and paths):
            raise click.UsageError(f"{option} {word} lacks a track or a file; write TRACK=FILE")
        files.setdefault(track, []).extend(paths)
    return files


SECRET = {"push", "private", "gated", "executor_name", "ray_address", "out"}  # of the run, not of the data


def format_command(command: click.Command, params: Mapping[str, Any]) -> str:
    """Return the command line that makes the same data, with the names of files and not their folders."""
    words = ["lapsus", str(command.name)]
    for parameter in command.params:
        value = params.get(parameter.name or "")
        if parameter.name in SECRET or value in (None, "", ()) or value == parameter.default:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            option = [] if isinstance(parameter, click.Argument) else [parameter.opts[0]]
            words += [*option, _strip_folders(each) if parameter.name in FILES else str(each)]
    return shlex.join(words)


FILES = {"rows", "people", "human", "citation"}


def _strip_folders(value: str | Path) -> str:
    """Return the names of the files in a word; a dataset of the Hub keeps its owner.

    >>> _strip_folders("keyboard=/home/me/a.jsonl,b/c.jsonl"), _strip_folders("org/name")
    ('keyboard=a.jsonl,c.jsonl', 'org/name')
    """
    track, sign, names = str(value).rpartition("=")
    parts = [name.rpartition("/")[2] if "." in name or name.startswith("/") else name for name in names.split(",")]
    return track + sign + ",".join(parts)


def echo_result(result: BuildResult) -> None:
    """Print what was built, and what is odd in it."""
    for flag in result.flags:
        click.echo(f"note: {flag}", err=True)
    click.echo(result.summary())


@click.command(epilog=format_examples("lapsus edits readin-afqmc-sim --license cc-by-4.0 --out edits"))
@click.argument("folder", type=PATH)
@add_option("--out", "Dataset folder to write.", required=True)
@click.option("--license", metavar="LICENSE", help="Of the edits, as the Hub spells it, e.g. cc-by-4.0.")
@click.option("--people-agreed", is_flag=True, help="Also what people wrote: they have permitted it.")
@add_option("--push", "Upload to ORG/NAME-edits on the Hub; needs --license.")
@add_option("--private", "With --push: make the repo private, even if it is public now.")
def edits(
    folder: Path, out: Path, license: str | None, push: str | None, *, people_agreed: bool, private: bool
) -> None:
    """Make a dataset of the edits of a built FOLDER, without its texts.

    Where the texts may not be passed on, the noise over them may: each row is an id, the edits, what made them and the
    SHA-256 of the clean text. `lapsus build --edits` makes the rows again over the user's own copy of the source.
    """
    if push and not license:
        raise click.UsageError("edits without a licence cannot be published; name theirs with --license")
    if license:
        check_license(license)
    benchmark, left_out = make_edits_benchmark(folder, license, people=people_agreed)
    for reason in left_out:
        click.echo(f"note: left out {reason}", err=True)
    result = build_dataset(benchmark, out)
    echo_result(result)
    if push:
        upload_built(result.path, push, private=private)


@click.command(epilog=format_examples("lapsus push readin-afqmc my-org --private"))
@click.argument("folder", type=PATH)
@click.argument("org")
@add_option("--private", "Make the repo private, even if it is public now.")
@add_option("--gated")
@click.option("--i-have-the-rights", is_flag=True, help="Publish although no licence is stated.")
@click.option("--allow-partial", is_flag=True, help="Publish although rows are missing.")
@click.option(
    "--replace-version",
    is_flag=True,
    help="Move the tag of the version if it marks other data; go back to an older one.",
)
@click.option(
    "--package", type=PATH, metavar="WHEEL", help="Of a metric: lapsus itself, where PyPI lacks this version."
)
def push(
    folder: Path,
    org: str,
    package: Path | None,
    *,
    private: bool,
    gated: Gate | None,
    i_have_the_rights: bool,
    allow_partial: bool,
    replace_version: bool,
) -> None:
    """Upload a dataset FOLDER, or a metric's, to ORG/NAME on the Hub, as one commit.

    A complete dataset is tagged with its version, for load_dataset(..., revision="v1.0.0"). A metric becomes a Space,
    for evaluate.load("ORG/NAME").
    """
    if (folder / f"{folder.absolute().name}.py").is_file():
        upload_metric(folder, org, private=private, package=package)
        return
    rights = {"i_have_the_rights": i_have_the_rights, "allow_partial": allow_partial}
    upload_built(folder, org, private=private, gated=gated, replace_version=replace_version, **rights)


def describe_rights(name: str) -> str:
    """Return what is known of the rights in a dataset without a licence, in brackets."""
    benchmark = dataset_scripts.benchmarks().get(name)
    return f" ({benchmark.RIGHTS})" if benchmark and benchmark.RIGHTS else ""


def upload_built(
    folder: Path,
    org: str,
    *,
    private: bool,
    gated: Gate | None = None,
    i_have_the_rights: bool = False,
    allow_partial: bool = False,
    replace_version: bool = False,
) -> None:
    """Upload a built folder, unless its card says what must be confirmed first."""
    card = read_card(folder)
    if card.license is None and not i_have_the_rights:
        raise click.UsageError(
            f"{folder} states no licence to publish it{describe_rights(card.name)}, so it cannot be published for you; "
            "pass --i-have-the-rights if you do"
        )
    if card.partial and not allow_partial:
        rights = " --i-have-the-rights" if i_have_the_rights else ""
        raise click.UsageError(
            f"{folder} lacks rows of {card.name}, as its card says; "
            f"to publish the partial dataset: lapsus push {folder} {org}{rights} --allow-partial"
        )
    repo = f"{org}/{card.name}"
    check_repo_id(repo)
    version = None if card.partial else card.version  # a partial dataset has no tag
    result = hub_upload.upload(
        folder, repo, private=private, gated=gated, version=version, replace_version=replace_version
    )
    click.echo(f"uploaded to {result}")


def upload_metric(folder: Path, org: str, *, private: bool, package: Path | None = None) -> None:
    """Upload a metric's folder as a Space."""
    repo = f"{org}/{folder.absolute().name}"
    check_repo_id(repo)
    click.echo(f"uploaded to {hub_upload.upload_space(folder, repo, private=private, package=package)}")


@click.command(epilog=format_examples("lapsus collection my-org"))
@click.argument("org")
@click.option("--title", default="lapsus", show_default=True, help="Name of the collection.")
def collection(org: str, title: str) -> None:
    """Add all lapsus datasets and Spaces of ORG to one Hub collection."""
    click.echo(f"collected in {update_collection(org, title=title)}")


@click.command(
    epilog=format_examples(
        "lapsus release my-org --folder built --dry-run",
        "lapsus release my-org --folder built --edits-license cc-by-4.0",
    )
)
@click.argument("org")
@click.option(
    "--folder", type=PATH, required=True, metavar="DIR", help="What lapsus build --all wrote: a dataset in each folder."
)
@click.option("--dry-run", is_flag=True, help="Say what would be published, and ask the Hub nothing.")
@click.option("--package", type=PATH, metavar="WHEEL", help="lapsus itself, where PyPI lacks this version.")
@click.option(
    "--edits-license",
    metavar="LICENSE",
    help="Of noise without its texts, where the source of the texts states no licence. [default: left out]",
)
@click.option("--only", multiple=True, metavar="PATTERN", help="Datasets and metrics to publish, e.g. 'readin-*'.")
@add_option("--private", "Make the repos private.")
def release(
    org: str,
    folder: Path,
    package: Path | None,
    edits_license: str | None,
    only: tuple[str, ...],
    *,
    dry_run: bool,
    private: bool,
) -> None:
    """Publish all datasets of a folder, the metrics and a collection in ORG.

    The package is checked first; every repo is loaded back after its upload. Finished steps are noted in the folder:
    after a failure, run the same command again.
    """
    if edits_license:
        check_license(edits_license)
    plan = plan_release(org, folder, package=package, edits_license=edits_license, only=only)
    for step in plan.steps:
        if step.kind in {"dataset", "edits", "space"}:
            check_repo_id(step.repo)
    if dry_run:
        click.echo("\n".join(plan.describe()))
        return
    for sentence in run_release(plan, private=private):
        click.echo(sentence)
