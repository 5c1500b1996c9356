"""Logs of inspect, as rows: one JSON document, or a zip archive (`.eval`) with a JSON file per sample.

What an archive unpacks to has limits, by the bytes that come out: the sizes that an archive states may be wrong.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.core.checks import shorten_repr
from lapsus.io.readers import parse_json, strip_error_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lapsus.io.readers import Row

LETTER_SCORES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # inspect's marks: correct, partial, incorrect, no answer
ZSTANDARD = 93  # number of Zstandard in the zip format
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD}  # that inspect writes
MAX_MEMBER_BYTES = 128 * 1024**2  # that one file of an archive unpacks to; LAPSUS_MAX_BYTES overrides both limits
MAX_BYTES = 512 * 1024**2  # that all of them unpack to
BLOCK = 1 << 20  # bytes of a read
SAMPLE_FIELDS = ("id", "epoch", "target", "metadata", "scores", "output", "error")  # that rows are made of


class InspectLog(NamedTuple):
    """The header of a log, as inspect writes it, and its samples."""

    header: Mapping[str, Any]
    samples: Sequence[Any]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The `eval` header: the task, the model, their arguments."""
        spec: Mapping[str, Any] = self.header["eval"]
        return spec


def parse_log(document: Any) -> InspectLog | None:
    """Return the log in a JSON document; None if it is no log.

    >>> parse_log([{"id": 1}]) is None
    True
    """
    if (
        isinstance(document, dict)
        and isinstance(document.get("eval"), dict)
        and isinstance(document.get("samples"), list)
    ):
        return InspectLog(document, document["samples"])
    return None


def is_inspect_log(path: Path) -> bool:
    """Tell from a file's name and first bytes whether it is a log."""
    if path.suffix.lower() == ".json":
        with path.open("rb") as file:
            return re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"', file.read(200)) is not None
    return path.suffix.lower() == ".eval"


def read_eval(path: Path) -> InspectLog:
    """Read a log that is an archive."""
    try:
        with zipfile.ZipFile(path) as log:
            archive = _Archive(path, log)
            names = {entry.filename: entry for entry in log.infolist()}
            entry = names.get("header.json") or names.get("_journal/start.json")
            unfinished = {} if "header.json" in names else {"status": "started"}
            header = None if entry is None else archive.parse_member(entry)
            if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
                raise ValueError(f"{path}: has no header with its task and model; give a log of inspect.")  # noqa: TRY004 - the file is wrong
            sample_names = [name for name in names if re.fullmatch(r"samples/.*\.json", name)]
            return InspectLog(
                header | unfinished, [_select_fields(archive.parse_member(names[name])) for name in sample_names]
            )
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError) as error:
        raise ValueError(f"{path}: is no inspect log ({strip_error_message(error)}); run it again.") from None


def _select_fields(sample: Any) -> Any:
    """Return a sample without its messages and events, which take most of the memory."""
    if not isinstance(sample, dict):
        return sample
    return {name: sample[name] for name in SAMPLE_FIELDS if name in sample}


def find_text_arguments(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of a log's task that are texts, such as the name of a track.

    >>> find_text_arguments({"task": "readin", "task_args": {"subset": "keyboard_1", "limit": 10}})
    {'subset': 'keyboard_1'}
    """
    arguments = spec.get("task_args")
    return {
        name: value
        for name, value in (arguments.items() if isinstance(arguments, dict) else ())
        if isinstance(value, str)
    }


def to_rows(path: Path, log: InspectLog) -> tuple[list[Row], tuple[str, ...]]:
    """Return a row per sample and epoch, and the names of the scores; raise if the run did not finish."""
    _check_finished(path, log.header)
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for number, sample in enumerate(log.samples, 1):
        try:
            scores, row = _parse_sample(sample)
        except (AttributeError, LookupError, OverflowError, RecursionError, TypeError) as error:
            raise ValueError(
                f"{path}, sample {number}: is not as inspect writes it ({shorten_repr(error)}); log again."
            ) from None
        metrics |= dict.fromkeys(scores)
        rows.append(row)
    metadata_ids = [(sample.get("metadata") or {}).get("id") for sample in log.samples]
    unique = len({(str(row["epoch"]), str(key)) for row, key in zip(rows, metadata_ids, strict=True)}) == len(rows)
    if all(isinstance(sample["id"], int) for sample in log.samples) and None not in metadata_ids and unique:
        rows = [
            row | {"id": str(key)} for row, key in zip(rows, metadata_ids, strict=True)
        ]  # ids are inspect's numbers
    rows.sort(key=lambda row: (str(row["epoch"]), row["id"]))
    return rows, tuple(metrics)


ERROR = "error"  # the column that says why a sample has no answer


def leave_out_failed(path: Path, rows: Sequence[Row]) -> tuple[list[Row], str | None]:
    """Return the rows without those of samples that failed, which say nothing of the model, and a note of these.

    >>> rows = [{"id": "a", "error": "no connection"}, {"id": "b", "error": None}]
    >>> leave_out_failed(None, rows)
    ([{'id': 'b'}], '1 of 2 samples failed with an error (no connection) and are left out; run them again')
    """
    failed = [row for row in rows if row.get(ERROR)]
    rest = [{name: value for name, value in row.items() if name != ERROR} for row in rows if not row.get(ERROR)]
    if not failed:
        return list(rest), None
    share = f"{len(failed)} of {len(rows)} samples failed with an error ({str(failed[0][ERROR])[:80]})"
    if not rest:
        raise ValueError(f"{path}: {share}; run it again.")
    return rest, f"{share} and are left out; run them again"


def merge_epochs(rows: Sequence[Row], metrics: Sequence[str]) -> list[Row]:
    """Merge the rows of an example's epochs into one: average scores, and the most common prediction.

    A score that an epoch lacks counts as 0. Where no metric was logged, `score` is the share of right answers.

    >>> same = {"id": "a", "prediction": "x", "reference": "x"}
    >>> merge_epochs([same | {"epoch": 1, "accuracy": 1.0}, same | {"epoch": 2}], ["accuracy"])[0]["accuracy"]
    0.5
    """
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        by_id.setdefault(row["id"], []).append(row)
    if len(by_id) == len(rows) or any(len({str(row["epoch"]) for row in same}) < len(same) for same in by_id.values()):
        return list(rows)
    return [_merge_rows(same, metrics) for same in by_id.values()]


def _merge_rows(epochs: Sequence[Row], metrics: Sequence[str]) -> Row:
    prediction = Counter(json.dumps(row["prediction"], default=str) for row in epochs).most_common(1)[0][0]
    merged_row = next(row for row in epochs if json.dumps(row["prediction"], default=str) == prediction) | {
        "epoch": len(epochs)
    }
    if not all(row.get("unparsed") for row in epochs):
        merged_row.pop("unparsed", None)
    for metric in metrics:
        merged_row[metric] = sum(row.get(metric) or 0.0 for row in epochs) / len(epochs)
    if not metrics:
        is_correct = [row["prediction"] is not None and row["prediction"] == row["reference"] for row in epochs]
        merged_row["score"] = sum(is_correct) / len(epochs)
    return merged_row


def _check_finished(path: Path, header: Mapping[str, Any]) -> None:
    status = header.get("status", "success")
    if status == "success":
        return
    error = header.get("error")
    reason = str(error.get("message") or "").partition("\n")[0] if isinstance(error, dict) else ""
    raise ValueError(f"{path}: the run ended with status {status!r}{f' ({reason})' if reason else ''}; run it again.")


def _parse_sample(sample: Mapping[str, Any]) -> tuple[dict[str, float], Row]:
    """Return the scores and the row of one sample."""
    if sample["id"] is None:
        raise KeyError("id")
    scores = sample.get("scores") or {}
    numbers = {name: value for scorer, score in scores.items() for name, value in _iter_scores(scorer, score["value"])}
    answers = [score["answer"] for score in scores.values() if score.get("answer") is not None]
    prediction = answers[0] if answers else _find_completion(sample.get("output") or {})
    target = sample.get("target")
    row = {
        "id": str(sample["id"]),
        "epoch": sample.get("epoch", 1),
        "prediction": prediction,
        "reference": target[0] if isinstance(target, list) and len(target) == 1 else target,
    }
    unparsed: Row = {"unparsed": True} if prediction is None else {}
    if (error := sample.get("error")) is not None:
        message = error.get("message") if isinstance(error, dict) else error
        unparsed[ERROR] = str(message or "no message").partition("\n")[0]
    return numbers, {**(sample.get("metadata") or {}), **row, **unparsed, **numbers}


def _iter_scores(scorer: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of one score of inspect: a mark, a number, or a dict of either."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _iter_scores(f"{scorer}.{name}", part)
    elif isinstance(value, int | float):
        yield scorer, float(value)
    elif isinstance(value, str) and value in LETTER_SCORES:
        yield scorer, LETTER_SCORES[value]


def _find_completion(output: Mapping[str, Any]) -> str | None:
    """Return the text that the model gave in answer, as inspect logs it."""
    if output.get("completion"):
        return str(output["completion"])
    for choice in output.get("choices") or []:
        content = choice["message"]["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return None


class _Archive:
    """An open archive, and how many bytes have come out of it."""

    def __init__(self, path: Path, log: zipfile.ZipFile) -> None:
        self.path, self.log, self.n_bytes = path, log, 0

    def parse_member(self, entry: zipfile.ZipInfo) -> Any:
        """Parse one JSON file."""
        place = f"{self.path}, {entry.filename}"
        if entry.compress_type not in METHODS:
            raise ValueError(f"{place}: is packed by another method than inspect's; run it again.")
        limit = int(os.environ.get("LAPSUS_MAX_BYTES", "0"))
        content = bytearray()
        with self._open(entry) as stream:
            while block := stream.read(BLOCK):
                content += block
                self.n_bytes += len(block)
                if len(content) > (limit or MAX_MEMBER_BYTES) or self.n_bytes > (limit or MAX_BYTES):
                    raise ValueError(
                        f"{place}: unpacks to more than {limit or MAX_MEMBER_BYTES:,} bytes, or the log to more than "
                        f"{limit or MAX_BYTES:,}; set LAPSUS_MAX_BYTES to a higher number if you trust it."
                    )
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{place}: is not UTF-8; run it again.") from None
        del content
        return parse_json(text, place, hint="run it again")

    def _open(self, entry: zipfile.ZipInfo) -> Any:
        """Open a member; zipfile reads Zstandard, which inspect writes, only from Python 3.14 on."""
        if entry.compress_type != ZSTANDARD:
            return self.log.open(entry)
        import pyarrow as pa

        with self.path.open("rb") as file:
            file.seek(entry.header_offset)
            name_length, extra_length = struct.unpack("<26xHH", file.read(30))
            start = file.tell() + name_length + extra_length
            if start + entry.compress_size > file.seek(0, os.SEEK_END):
                raise zipfile.BadZipFile(f"{entry.filename} is cut short")
            file.seek(start)
            return pa.CompressedInputStream(pa.BufferReader(file.read(entry.compress_size)), "zstd")
