"""`lapsus build`, `lapsus make` and `lapsus push`: from rows to dataset folders, and up to the Hub."""

from __future__ import annotations

from pathlib import Path

import click

from lapsus.commands.help_texts import example

PATH = click.Path(path_type=Path)


def check_repo_id(repo: str) -> None:
    """Raise unless the Hub accepts this name of a repo."""
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # public, but not in __all__

    validate_repo_id(repo)


@click.command(epilog=example("lapsus build readin-afqmc --source READIN.zip --out readin-afqmc"))
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Build every dataset whose files are in SOURCE, to OUT/NAME.")
@click.option("--source", type=PATH, help="Folder or archive with the original files.")
@click.option("--out", type=PATH, required=True, help="Folder to write, as load_dataset reads it.")
@click.option(
    "--allow-partial", is_flag=True, help="Build what is there when rows are missing, and say so in the card."
)
@click.option("--push", metavar="ORG", help="Upload to ORG/NAME on the Hub when it is built.")
@click.option("--private", is_flag=True, help="With --push: make the repo private.")
@click.option("--i-have-the-rights", is_flag=True, help="With --push: publish although the source states no licence.")
@click.option("--partial-too", is_flag=True, help="With --push: publish although rows are missing.")
def build(
    name: str | None,
    source: Path | None,
    out: Path,
    *,
    everything: bool,
    allow_partial: bool,
    push: str | None,
    private: bool,
    i_have_the_rights: bool,
    partial_too: bool,
) -> None:
    """Build dataset NAME from its original files: Parquet and a card."""
    if everything == (name is not None):
        raise click.UsageError("name one dataset, or give --all")
    if everything and (push or source is None):
        raise click.UsageError("--all needs --source, and pushes nothing; publish each folder with lapsus push")
    if name is None:
        build_all(source, out, allow_partial=allow_partial)
        return
    from lapsus.commands.catalogue import find_benchmark
    from lapsus.hub.publish import publish

    benchmark = find_benchmark(name)
    if push and benchmark.LICENSE is None and not i_have_the_rights:
        raise click.UsageError(
            f"the source of {name} states no licence to publish it, so it cannot be published for you; "
            "build it without --push, or pass --i-have-the-rights if you do"
        )
    if push:
        check_repo_id(f"{push}/{name}")  # before the build, so that a wrong name costs no time
    built = publish(benchmark, out, source=source, allow_partial=allow_partial)
    for place, (official, found) in built.differs.items():
        click.echo(f"partial: {place} has {found:,} of {official:,} rows", err=True)
    click.echo(built.sentence())
    if push:
        send(built.path, push, private=private, i_have_the_rights=i_have_the_rights, partial_too=partial_too)


def build_all(source: Path | None, out: Path, *, allow_partial: bool) -> None:
    """Build each dataset that the files of `source` suffice for, and say of the others what they lack."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.publish import publish

    built = 0
    for name, benchmark in benchmarks().items():
        own = source / name if source and (source / name).is_dir() else source
        try:
            done = publish(benchmark, out / name, source=own, allow_partial=allow_partial)
        except (ValueError, OSError, ImportError) as error:
            click.echo(f"{name} is not built: {' '.join(str(error).split())}", err=True)
        else:
            built += 1
            click.echo(done.sentence())
    if not built:
        raise click.ClickException(f"{source} has the files of no dataset; name the folder that holds them")


@click.command(
    epilog=example("lapsus make mine.jsonl --text question --key id --track keyboard=zh_keyboard:3 --out mine")
)
@click.argument("rows", type=PATH)
@click.option("--text", required=True, metavar="COLUMN", help="Column to perturb: texts, or tokens with --slots.")
@click.option("--key", required=True, metavar="COLUMN", help="Column of the id. Noise depends on it.")
@click.option(
    "--track",
    "tracks",
    multiple=True,
    required=True,
    metavar="NAME=OPERATOR[:ANNOTATORS][@SEVERITY]",
    help="A noisy track; may be given several times.",
)
@click.option("--slots", metavar="COLUMN", help="Column of BIO tags, one per token.")
@click.option("--answers", metavar="COLUMN", help="Column of SQuAD answers that lie in the text.")
@click.option("--out", type=PATH, required=True, help="Folder to write.")
@click.option("--name", help="Name of the dataset; that of --out otherwise.")
@click.option("--license", help="Its licence, as the Hub spells it, such as cc-by-4.0.")
@click.option("--language", help="Its language, such as zh; otherwise told from the texts.")
@click.option("--push", metavar="ORG", help="Upload to ORG/NAME on the Hub when it is built; needs --license.")
@click.option("--private", is_flag=True, help="With --push: make the repo private.")
def make(
    rows: Path,
    text: str,
    key: str,
    tracks: tuple[str, ...],
    slots: str | None,
    answers: str | None,
    out: Path,
    name: str | None,
    license: str | None,
    language: str | None,
    push: str | None,
    *,
    private: bool,
) -> None:
    """Make a dataset folder of your own ROWS: clean, each annotator of each track, and all annotators together.

    ROWS is a file of JSON lines, JSON, CSV, TSV or Parquet. Where an operator has annotators, ANNOTATORS asks for
    that many of them, otherwise for so many seeds.
    """
    from lapsus.commands.catalogue import pairs
    from lapsus.hub.own_rows import make as build_rows

    name = name or out.absolute().name
    if push and not license:
        raise click.UsageError("rows without a licence cannot be published for you; name theirs with --license")
    if push:
        check_repo_id(f"{push}/{name}")
    if len(pairs(tracks)) < len(tracks):
        raise click.UsageError("two tracks have one name; give each its own")
    built = build_rows(
        rows,
        out,
        text=text,
        key=key,
        tracks=pairs(tracks),
        slots=slots,
        answers=answers,
        name=name,
        license=license,
        language=language,
    )
    click.echo(built.sentence())
    if push:
        send(built.path, push, private=private)


@click.command(epilog=example("lapsus push readin-afqmc my-org --private"))
@click.argument("folder", type=PATH)
@click.argument("org")
@click.option("--private", is_flag=True, help="Make the repo private, also one that is public now.")
@click.option("--i-have-the-rights", is_flag=True, help="Publish although no licence is stated.")
@click.option("--partial-too", is_flag=True, help="Publish although rows are missing.")
def push(folder: Path, org: str, *, private: bool, i_have_the_rights: bool, partial_too: bool) -> None:
    """Upload a FOLDER that `lapsus build` or `lapsus make` wrote to ORG/NAME on the Hub, as one commit."""
    send(folder, org, private=private, i_have_the_rights=i_have_the_rights, partial_too=partial_too)


def send(folder: Path, org: str, *, private: bool, i_have_the_rights: bool = False, partial_too: bool = False) -> None:
    """Upload a built folder, unless its card says what must be confirmed first."""
    from lapsus.hub.built_folder import read_card
    from lapsus.hub.upload import upload

    card = read_card(folder)
    if card.license is None and not i_have_the_rights:
        raise click.UsageError(
            f"{folder} states no licence to publish it, so it cannot be published for you; "
            "pass --i-have-the-rights if you do"
        )
    if card.partial and not partial_too:
        raise click.UsageError(
            f"{folder} lacks rows of {card.name}, as its card says; "
            f"publish the part with: lapsus push {folder} {org} --partial-too"
        )
    check_repo_id(f"{org}/{card.name}")
    click.echo(f"uploaded to {upload(folder, f'{org}/{card.name}', private=private)}")
