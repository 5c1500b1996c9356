"""`lapsus build`, `make`, `push` and `collect`: from rows to dataset folders, and up to the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lapsus.cli.options import executor_options, format_examples, open_executor_from_options

if TYPE_CHECKING:
    from lapsus.core.executors import Executor
    from lapsus.hub.upload import Gate

PATH = click.Path(path_type=Path)
GATED = click.option(
    "--gated",
    type=click.Choice(["auto", "manual"]),
    help="Who asks for access gets it: at once (auto), or when you say so (manual). With build and make: of --push.",
)


def check_repo_id(repo: str) -> None:
    """Raise unless the Hub accepts this name of a repo."""
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # public, but not in __all__

    validate_repo_id(repo)


@click.command(epilog=format_examples("lapsus build readin-afqmc --source READIN.zip --out readin-afqmc"))
@click.argument("name", required=False)
@click.option("--all", "all_datasets", is_flag=True, help="Build every dataset whose files are in SOURCE, to OUT/NAME.")
@click.option("--source", type=PATH, help="Folder or archive with the original files.")
@click.option("--out", type=PATH, required=True, help="Folder to write, as load_dataset reads it.")
@click.option(
    "--allow-partial", is_flag=True, help="Build what is there when rows are missing, and say so in the card."
)
@click.option("--push", metavar="ORG", help="Upload to ORG/NAME on the Hub when it is built.")
@click.option("--private", is_flag=True, help="With --push: make the repo private.")
@GATED
@click.option("--i-have-the-rights", is_flag=True, help="With --push: publish although the source states no licence.")
@click.option("--partial-too", is_flag=True, help="With --push: publish although rows are missing.")
@executor_options
def build(
    name: str | None,
    source: Path | None,
    out: Path,
    engine_name: str,
    address: str | None,
    *,
    all_datasets: bool,
    allow_partial: bool,
    push: str | None,
    private: bool,
    gated: Gate | None,
    i_have_the_rights: bool,
    partial_too: bool,
) -> None:
    """Build dataset NAME from its original files: Parquet and a card.

    With --engine ray the noise of synthetic tracks is made on all nodes.
    """
    if all_datasets == (name is not None):
        raise click.UsageError("name one dataset, or give --all")
    if all_datasets and (push or source is None):
        raise click.UsageError("--all needs --source, and pushes nothing; publish each folder with lapsus push")
    if name is None:
        with open_executor_from_options(engine_name, address) as executor:
            build_all(source, out, executor, allow_partial=allow_partial)
        return
    from lapsus.cli.list import find_benchmark
    from lapsus.hub.build import build_dataset

    benchmark = find_benchmark(name)
    if push and benchmark.LICENSE is None and not i_have_the_rights:
        raise click.UsageError(
            f"the source of {name} states no licence to publish it{describe_rights(name)}, "
            "so it cannot be published for you; "
            "build it without --push, or pass --i-have-the-rights if you do"
        )
    if push:
        check_repo_id(f"{push}/{name}")  # before the build, so that a wrong name costs no time
    with open_executor_from_options(engine_name, address) as executor:
        result = build_dataset(benchmark, out, source=source, allow_partial=allow_partial, executor=executor)
    for location, (expected, actual) in result.row_count_mismatches.items():
        click.echo(f"partial: {location} has {actual:,} of {expected:,} rows", err=True)
    click.echo(result.summary())
    if push:
        rights = {"i_have_the_rights": i_have_the_rights, "partial_too": partial_too}
        upload_built(result.path, push, private=private, gated=gated, **rights)


def build_all(source: Path | None, out: Path, executor: Executor, *, allow_partial: bool) -> None:
    """Build each dataset that the files of `source` suffice for, and say of the others what they lack."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.build import build_dataset

    n_built = 0
    for name, benchmark in benchmarks().items():
        own_source = (
            source / name if source and (source / name).is_dir() else None if benchmark.get_bundled_folder() else source
        )
        try:
            result = build_dataset(
                benchmark, out / name, source=own_source, allow_partial=allow_partial, executor=executor
            )
        except (ValueError, OSError, ImportError) as error:
            click.echo(f"{name} is not built: {' '.join(str(error).split())}", err=True)
        else:
            n_built += 1
            click.echo(result.summary())
    if not n_built:
        raise click.ClickException(f"{source} has the files of no dataset; name the folder that holds them")


@click.command(
    epilog=format_examples("lapsus make mine.jsonl --text question --key id --track keyboard=zh_keyboard:3 --out mine")
)
@click.argument("rows", type=PATH)
@click.option("--text", required=True, metavar="COLUMN", help="Column to perturb: texts, or tokens with --slots.")
@click.option("--key", required=True, metavar="COLUMN", help="Column of the id. Noise depends on it.")
@click.option(
    "--track",
    "tracks",
    multiple=True,
    required=True,
    metavar="NAME=OPERATOR[:ANNOTATORS][@SEVERITY][+OPERATOR...]",
    help="A noisy track, of operators that are put on each other; may be given several times.",
)
@click.option(
    "--human",
    multiple=True,
    metavar="TRACK=FILE",
    help="What one person made of some of the rows, with the same columns; the card then says how human the track is.",
)
@click.option("--slots", metavar="COLUMN", help="Column of BIO tags, one per token.")
@click.option("--answers", metavar="COLUMN", help="Column of SQuAD answers that lie in the text.")
@click.option("--out", type=PATH, required=True, help="Folder to write.")
@click.option("--name", help="Name of the dataset; that of --out otherwise.")
@click.option("--license", help="Its licence, as the Hub spells it, such as cc-by-4.0.")
@click.option("--language", help="Its language, such as zh; otherwise told from the texts.")
@click.option("--version", default="1.0.0", show_default=True, help="Version of the data, and its tag on the Hub.")
@click.option("--push", metavar="ORG", help="Upload to ORG/NAME on the Hub when it is built; needs --license.")
@click.option("--private", is_flag=True, help="With --push: make the repo private.")
@GATED
@executor_options
def make(
    rows: Path,
    text: str,
    key: str,
    tracks: tuple[str, ...],
    human: tuple[str, ...],
    slots: str | None,
    answers: str | None,
    out: Path,
    name: str | None,
    license: str | None,
    language: str | None,
    version: str,
    push: str | None,
    engine_name: str,
    address: str | None,
    *,
    private: bool,
    gated: Gate | None,
) -> None:
    """Make a dataset folder of your own ROWS: clean, each annotator of each track, and all annotators together.

    ROWS is a file of JSON lines, JSON, CSV, TSV or Parquet. Where an operator has annotators, ANNOTATORS asks for
    that many of them, otherwise for so many seeds. SEVERITY is the operator's rate, or the share of its edits that
    stay.
    """
    from lapsus.cli.list import parse_assignments
    from lapsus.hub.user_dataset import build_rows as build_rows

    human_files: dict[str, list[str | Path]] = {}
    for word in human:
        track, _, file = word.partition("=")
        if not (track and file):
            raise click.UsageError(f"--human {word} names no track and file; write TRACK=FILE")
        human_files.setdefault(track, []).append(Path(file))

    name = name or out.absolute().name
    if push and not license:
        raise click.UsageError("rows without a licence cannot be published for you; name theirs with --license")
    if push:
        check_repo_id(f"{push}/{name}")
    specs = parse_assignments(tracks)
    with open_executor_from_options(engine_name, address) as executor:
        result = build_rows(
            rows,
            out,
            text=text,
            key=key,
            tracks=specs,
            slots=slots,
            answers=answers,
            name=name,
            license=license,
            language=language,
            version=version,
            human=human_files,
            executor=executor,
        )
    click.echo(result.summary())
    if push:
        upload_built(result.path, push, private=private, gated=gated)


@click.command(epilog=format_examples("lapsus push readin-afqmc my-org --private"))
@click.argument("folder", type=PATH)
@click.argument("org")
@click.option("--private", is_flag=True, help="Make the repo private, also one that is public now.")
@GATED
@click.option("--i-have-the-rights", is_flag=True, help="Publish although no licence is stated.")
@click.option("--partial-too", is_flag=True, help="Publish although rows are missing.")
@click.option("--replace-version", is_flag=True, help="Move the tag of the version when it is there with other data.")
def push(
    folder: Path,
    org: str,
    *,
    private: bool,
    gated: Gate | None,
    i_have_the_rights: bool,
    partial_too: bool,
    replace_version: bool,
) -> None:
    """Upload a FOLDER to ORG/NAME on the Hub, as one commit: of `lapsus build` or `make`, or a metric's.

    A dataset that is whole is tagged with its version, for load_dataset(..., revision="v1.0.0"). A metric becomes a
    Space, for evaluate.load("ORG/NAME").
    """
    if (folder / f"{folder.absolute().name}.py").is_file():
        upload_metric(folder, org, private=private)
        return
    rights = {"i_have_the_rights": i_have_the_rights, "partial_too": partial_too}
    upload_built(folder, org, private=private, gated=gated, replace_version=replace_version, **rights)


def describe_rights(name: str) -> str:
    """Return what is known of the rights in a dataset without a licence, in brackets."""
    from lapsus.dataset_scripts import benchmarks

    benchmark = benchmarks().get(name)
    return f" ({benchmark.RIGHTS})" if benchmark and benchmark.RIGHTS else ""


def upload_built(
    folder: Path,
    org: str,
    *,
    private: bool,
    gated: Gate | None = None,
    i_have_the_rights: bool = False,
    partial_too: bool = False,
    replace_version: bool = False,
) -> None:
    """Upload a built folder, unless its card says what must be confirmed first."""
    from lapsus.hub.built_folder import read_card
    from lapsus.hub.upload import upload

    card = read_card(folder)
    if card.license is None and not i_have_the_rights:
        raise click.UsageError(
            f"{folder} states no licence to publish it{describe_rights(card.name)}, so it cannot be published for you; "
            "pass --i-have-the-rights if you do"
        )
    if card.partial and not partial_too:
        rights = " --i-have-the-rights" if i_have_the_rights else ""
        raise click.UsageError(
            f"{folder} lacks rows of {card.name}, as its card says; "
            f"publish the part with: lapsus push {folder} {org}{rights} --partial-too"
        )
    repo = f"{org}/{card.name}"
    check_repo_id(repo)
    version = None if card.partial else card.version  # a part is no version
    result = upload(folder, repo, private=private, gated=gated, version=version, replace_version=replace_version)
    click.echo(f"uploaded to {result}")


def upload_metric(folder: Path, org: str, *, private: bool) -> None:
    """Upload a metric's folder as a Space."""
    from lapsus.hub.upload import upload_space

    repo = f"{org}/{folder.absolute().name}"
    check_repo_id(repo)
    click.echo(f"uploaded to {upload_space(folder, repo, private=private)}")


@click.command(epilog=format_examples("lapsus collect my-org"))
@click.argument("org")
@click.option("--title", default="lapsus", show_default=True, help="Name of the collection.")
def collect(org: str, title: str) -> None:
    """Put all repos of lapsus that ORG has on the Hub, datasets and Spaces, into one collection."""
    from lapsus.hub.collection import update_collection as gather

    click.echo(f"collected in {gather(org, title=title)}")
