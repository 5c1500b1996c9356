"""Compare files of synthetic and human texts: their profiles, and whether a classifier can tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.messages import format_list, format_unknown_name
from lapsus.core.text import to_text
from lapsus.core.types import StrPath
from lapsus.dataset_scripts import perturb_rows
from lapsus.io.join import check_shared_ids, extract_ids
from lapsus.io.readers import SUFFIXES, decode_lines, read_rows
from lapsus.io.tables import read_table
from lapsus.perturbations import NoiseTrack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.io.readers import Row


def read_texts(path: Path, text: str | None = None) -> list[str]:
    """Return the texts of a file: its lines, or one column of its rows, without the space around them.

    Args:
        path: a file of rows, read by its ending (.jsonl, .csv, ...); any other is plain text, one per line.
        text: the column of the text; not needed where only one is a string.
    """
    return list(_read_texts_by_id(path, text).values())


def _read_texts_by_id(path: Path, text: str | None) -> dict[str, str]:
    """Return the texts by the `id` of their rows, or by their index where rows have no `id`."""
    if path.suffix.lower() not in SUFFIXES:
        with path.open("rb") as file:
            return {str(number): line.strip() for number, line in enumerate(decode_lines(file, path), 1)}
    table = read_table(path)
    rows = table.to_rows()
    ids = extract_ids(table, path).to_pylist() if "id" in table.columns else map(str, range(1, len(rows) + 1))
    return {
        key: _find_text(path, number, row, text).strip()
        for number, (key, row) in enumerate(zip(ids, rows, strict=True), 1)
    }


def _find_text(path: Path, number: int, row: Row, text: str | None) -> str:
    strings = [name for name, value in row.items() if isinstance(value, str) and name != "id"]
    text_column = text or (strings[0] if len(strings) == 1 else None)
    if text_column is None:
        raise ValueError(f"{path}, row {number}: has the texts {strings}; name one of them with --text.")
    if text_column not in strings:
        raise LookupError(f"{path}, row {number}: has no text {text_column!r}; its texts are {strings}.")
    value: str = row[text_column]
    return value


def fidelity(
    clean: StrPath, human: Sequence[StrPath], synthetic: Sequence[StrPath], text: str | None = None
) -> dict[str, Any]:
    """Return `human_likeness` of the files' texts, each file one writer of the same clean `sentences`.

    Sentences are matched by the `id` of their rows, where they have one, and those that every file has are
    compared; other files must have one line per clean line.
    """
    from lapsus.metrics.human_likeness.score import human_likeness

    clean_file, human_files, synthetic_files = Path(clean), list(map(Path, human)), list(map(Path, synthetic))
    clean_texts = _read_texts_by_id(clean_file, text)
    human_texts, synthetic_texts = (
        [_read_texts_by_id(path, text) for path in paths] for paths in (human_files, synthetic_files)
    )
    shared = [key for key in clean_texts if all(key in track for track in (*human_texts, *synthetic_texts))]
    for path, track in zip((*human_files, *synthetic_files), (*human_texts, *synthetic_texts), strict=True):
        if len(track) != len(clean_texts) and list(track) == [str(n) for n in range(1, len(track) + 1)]:
            raise ValueError(
                f"{path} has {len(track)} texts and {clean_file} has {len(clean_texts)}: give one for each."
            )
        check_shared_ids(path, track, clean_texts, clean_file)
    if not shared:
        raise ValueError(f"No sentence of {clean} is in all the other files; give files that share some.")
    rows = [
        ([track[key] for track in synthetic_texts], clean_texts[key], [track[key] for track in human_texts])
        for key in shared
    ]
    return {**human_likeness(*map(list, zip(*rows, strict=True))), "sentences": len(clean_texts)}


def iter_table_rows(result: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the comparison: a name, the synthetic side, the human side, each human."""
    sides = [result["synthetic"], result["human"], *result["humans"]]
    yield ("", "synthetic", "human", *(f"human {n}" for n in range(1, len(result["humans"]) + 1)))
    for key, name in (("micro_average", "error rate, micro"), ("worst_average", "error rate, worst")):
        yield (name, *(f"{side[key]:.3f}" for side in sides))
    for key in ("unchanged", "equal_length", "edits_per_text", "new_latin"):
        yield (key.replace("_", " "), *(f"{side[key]:.3f}" for side in sides))
    for group, name in (("kinds", "kind: "), ("span_lengths", "span of ")):
        for key in sides[0][group]:
            yield (name + key.replace("_", " "), *(f"{side[group][key]:.3f}" for side in sides))
    aucs = [result["auc"], None, *result["human_aucs"]]
    yield ("AUC against the humans", *("-" if auc is None else f"{auc:.3f}" for auc in aucs))


def format_fidelity(result: dict[str, Any]) -> str:
    """Return the comparison as aligned text, with the features that distinguish the two sides.

    >>> from lapsus.metrics.human_likeness.score import human_likeness
    >>> clean = ["花呗怎么不能提额了", "借呗额度为什么没有了"]
    >>> print(format_fidelity(human_likeness(clean, clean, [["花呗怎么不能贴了"], [clean[1]]])).splitlines()[1])
    error rate, micro           0.000  0.111    0.111
    """
    rows = list(iter_table_rows(result))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    for side, names in result["features"].items():
        lines.append(f"what says {side}: {', '.join(names) or 'nothing'}")
    lines.append(f"compared {result['examples']} of {result.get('sentences', result['examples'])} sentences")
    return "\n".join(line.rstrip() for line in lines)


# How human the noise of a dataset is, told on those of its rows that people wrote too.


@dataclass(frozen=True, slots=True)
class TrackFidelity:
    """The result of `human_likeness` for one track."""

    track: str
    people: tuple[str, ...]  # the files, one per person
    result: Mapping[str, Any]

    @property
    def cells(self) -> list[str]:
        """The cells of the card's table: the track, then what was made beside what people made."""
        synthetic, human = self.result["synthetic"], self.result["human"]
        pairs = (("micro_average", ".1%"), ("worst_average", ".1%"), ("unchanged", ".0%"), ("edits_per_text", ".2f"))
        return [
            f"`{self.track}`",
            f"{self.result['examples']:,}",
            _format_number(self.result["auc"]),
            ", ".join(map(_format_number, self.result["human_aucs"])),
            *(f"{synthetic[name]:{form}} / {human[name]:{form}}" for name, form in pairs),
        ]


def _format_number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def measure_fidelity(
    rows: Sequence[Row],
    tracks: Mapping[str, Sequence[NoiseTrack]],
    human: Mapping[str, Sequence[Path]],
    *,
    text: str,
    id: str,
    tags: str | None,
    answers: str | None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> list[TrackFidelity]:
    """Compare the noise of tracks with what people made of the same rows.

    Args:
        rows: The clean rows, each with an `id`.
        tracks: The annotators of each track.
        human: Name of a track -> a file for each person, with the columns `id` and `text`; of the rows that all
            people of a track wrote.
        text: The column of texts or tokens.
        id: The column of the id in the files.
        tags: The column of tags, where `text` holds tokens.
        answers: The column of answers that lie in the text.
        seed: The seed of the noise.
        settings: Other fields of `Noise`, such as those that protect values.
    """
    fidelities = []
    for track, paths in human.items():
        if track not in tracks:
            raise LookupError(format_unknown_name("track", track, tracks))
        people = [_read_texts(path, text, id) for path in paths]
        known = {row["id"] for row in rows}
        for path, texts in zip(paths, people, strict=True):
            if unknown_id := next((name for name in texts if name not in known), None):
                raise ValueError(f"{path} has the id {unknown_id!r}, which is in none of the rows; leave it out")
        shared_rows = [row for row in rows if all(row["id"] in texts for texts in people)]
        if not shared_rows:
            raise ValueError(f"no row is in all of {format_list(map(str, paths))}; give files of the same rows")
        synthetic_texts = [
            [to_text(row[text]) for row in perturb_rows(noises, shared_rows)]
            for noises in (
                annotator.make_noises(seed=seed, text=text, id="id", tags=tags, answers=answers, **(settings or {}))
                for annotator in tracks[track]
            )
        ]
        fidelities.append(
            TrackFidelity(
                track, tuple(path.name for path in paths), _compare_track(synthetic_texts, shared_rows, people, text)
            )
        )
    return fidelities


def _compare_track(
    synthetic_texts: Sequence[Sequence[str]], rows: Sequence[Row], people: Sequence[Mapping[str, str]], text: str
) -> dict[str, Any]:
    from lapsus.metrics.human_likeness.score import human_likeness

    human_texts = [[texts[row["id"]] for texts in people] for row in rows]
    return human_likeness(
        [list(each) for each in zip(*synthetic_texts, strict=True)], [to_text(row[text]) for row in rows], human_texts
    )


def _read_texts(path: Path, text: str, id: str) -> dict[str, str]:
    """Return what one person wrote, by id."""
    texts: dict[str, str] = {}
    for number, row in enumerate(read_rows(path), 1):
        where = f"{path} row {number}"
        absent = [name for name in (id, text) if row.get(name) is None]
        if absent:
            raise ValueError(f"{where} has no {format_list(absent)}; its columns are {format_list(row)}")
        name = str(row[id])
        if name in texts:
            raise ValueError(f"{where} has the id {name!r} a second time; give a file for each person")
        texts[name] = to_text(row[text])
    return texts
