"""`lapsus train-corrector`: a corrector of typed Chinese; found by the entry point `lapsus.commands`."""

from __future__ import annotations

from pathlib import Path

import click

from lapsus.core.files import stage_folder
from lapsus.core.imports import import_optional
from lapsus.core.messages import format_examples
from lapsus.papers.corrector_schedule import DEFAULT_SCHEDULE, Schedule
from lapsus.perturbations.zh.correction.tagger import Tagger
from lapsus.perturbations.zh.correction.task_words import Corpus

PATH = click.Path(path_type=Path)


@click.command(
    "train-corrector",
    epilog=format_examples(
        "lapsus train-corrector train.jsonl --out corrector",
        "lapsus perturb --noise zh_correct --set tagger=corrector \\",
        "  --set corpus=train.jsonl --text text typed.jsonl fixed.jsonl",
    ),
)
@click.argument("texts", type=PATH, nargs=-1, required=True)
@click.option("--out", type=PATH, required=True, help="Folder for the corrector.")
@click.option("--copies", type=click.IntRange(min=1), default=DEFAULT_SCHEDULE.copies, show_default=True, metavar="N",
              help="How often each of three people types each text.")  # fmt: skip
@click.option("--epochs", type=click.IntRange(min=1), default=DEFAULT_SCHEDULE.epochs, show_default=True, metavar="N",
              help="How often each of these is read.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of the typing and of the weights.")
def train_corrector(texts: tuple[Path, ...], out: Path, copies: int, epochs: int, seed: int) -> None:
    """Train a corrector on clean Chinese TEXTS, such as those that a model is trained on.

    TEXTS are files with one text per line, or JSON lines, of which each string counts. `zh_keyboard` simulates typing
    errors and a small network learns to undo them: about 15 minutes on one core for 36,000 questions. `zh_correct`
    uses the folder, and repairs more where the texts are its corpus too.
    """
    clean = [text for path in texts for text in Corpus.read(str(path)).texts]
    import_optional("torch", "papers", needed_by="train-corrector")
    from lapsus.papers.corrector import train

    with stage_folder(out, may_replace=Tagger.is_in, description="corrector") as folder:
        tagger = train(clean, seed, schedule=Schedule(copies, epochs), log=click.echo)
        tagger.save(folder)
    settings = f"--set tagger={out} --set corpus={texts[0]}"
    click.echo(f"wrote {out}, which reads {len(tagger.units.characters):,} characters")
    click.echo(f"next: lapsus perturb --noise zh_correct {settings} --text COLUMN SOURCE TARGET")


UNITS = (train_corrector,)
