"""Every public name of lapsus, used once as somebody else's typed program would; `make lint` checks its types.

`test_consumer.py` runs it, but for the upload.
"""
# pyright: strict, reportMissingTypeStubs=false

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, assert_type

from datasets import Features, Value

import lapsus
from lapsus.dataset_scripts import (
    EDITS,
    Benchmark,
    Source,
    benchmarks,
    noisy_features,
    open_source,
    parse_label,
    perturb_rows,
)
from lapsus.evaluation.tasks import make_task
from lapsus.metrics import (
    annotated_bleu,
    annotated_chrf,
    answer_f1,
    classification,
    dialect_awareness,
    entity_f1,
    human_likeness,
    micro_worst_average,
    mixed_effects,
    noise_rate,
    prediction_consistency,
    slu_accuracy,
    win_rate,
)
from lapsus.perturbations import (
    OPERATORS,
    ClosingFiller,
    Constraints,
    Edit,
    EnKeyboard,
    EnRepair,
    EnSpeech,
    EnUnmarked,
    Mixture,
    Nlpaug,
    Noise,
    NoiseStep,
    NoiseTrack,
    NoiseTransform,
    NoisySpeaker,
    OpeningFiller,
    Operator,
    Proposal,
    SemanticDelete,
    SemanticInsert,
    SemanticReplace,
    Speako,
    Synonym,
    VerbFiller,
    ZhCorrect,
    ZhHomophone,
    ZhKeyboard,
    ZhSpeech,
    apply,
    apply_tags,
    apply_to_messages,
    apply_tokens,
    mix,
    move_spans,
    open_stream,
    parse_noise,
    perturb,
    perturb_batch,
    perturb_tokens,
    random_operator,
)


class Lamp(Benchmark):
    """Commands to a lamp."""

    NAME = "lamp"
    TITLE = "Commands to a lamp"
    LANGUAGES = ("en",)
    LICENSE = "cc0-1.0"
    WHERE = "https://example.org/lamp"
    ROWS = {"clean": {"test": 2}, "typed": {"test": 2}}

    def columns(self, config: str) -> Features:
        """Return the columns of a config."""
        text = Value("string")
        return Features(
            {"id": text, "text": text} | ({"clean_text": text, "edits": EDITS} if config == "typed" else {})
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split."""
        rows = [{"id": str(number), "text": line} for number, line in enumerate(source.read_lines("lamp.txt"))]
        noisy = perturb_rows(Noise(OpeningFiller(), text="text", id="id"), rows)
        yield from (
            rows
            if config == "clean"
            else ({name: row[name] for name in ("id", "text", "clean_text", "edits")} for row in noisy)
        )


def measures() -> None:
    """Use every metric."""
    scores: list[list[float | None]] = [[1.0, 0.0], [1.0, None]]
    every: list[dict[str, Any]] = [
        micro_worst_average(scores, clean_scores=[1.0, 1.0], groups=["a", "b"], n_resamples=100),
        micro_worst_average([[1, 0], [1, 1]]),
        noise_rate(["ab"], ["ac"]),
        noise_rate([["ab", None]], ["ac"], empty_reference="skip"),
        prediction_consistency(["a"], ["a"], ["b"]),
        prediction_consistency([1], [1], [0]),
        slu_accuracy([{"intent": "on", "tags": ["O"]}], [{"intent": "on", "tags": ["O"]}], scheme="IOB2"),
        win_rate([1.0, 2.0], [0.5, 1.0], ties="half"),
        mixed_effects([1, 2, 1, 3, 2, 4], ["a", "b"] * 3, [1, 1, 2, 2, 3, 3]),
        dialect_awareness([1.0, 0.5], [0.5, 1.0]),
        annotated_bleu([["the lamp is on", "the lamp on"]], ["the lamp is on"], mode="sentence"),
        annotated_chrf([["the lamp is on", None]], ["the lamp is on"], mode="corpus", word_order=2),
        answer_f1(["on"], [["on", "on it"]], rules="squad"),
        classification(["on"], ["off"], label_map={"off": "on"}),
        entity_f1([[{"type": "lamp", "filler": "desk"}]], [[{"type": "lamp", "filler": "desk"}]]),
        human_likeness(["a lmap", "the lihgt"], ["a lamp", "the light"], ["a lanp", "the lifht"]),
    ]
    assert all(isinstance(result, dict) for result in every)


def noise(folder: Path) -> None:
    """Use every name of the perturbations."""
    own: list[Operator] = [
        ClosingFiller(),
        EnKeyboard.annotator(1, corrects=False),
        EnRepair(distractors=("Boston", "Denver")),
        EnSpeech.annotator(2, rate=0.5, accent="de"),
        EnUnmarked(by="phone"),
        Nlpaug("keyboard"),
        OpeningFiller(),
        SemanticDelete("en"),
        SemanticInsert("pt"),
        SemanticReplace("zh"),
        Speako(),
        Synonym("verb"),
        VerbFiller("before"),
        ZhCorrect(),
        ZhHomophone(rate=0.5),
        ZhKeyboard.annotator(1),
        ZhSpeech.annotator(2),
        Mixture("fillers", (OpeningFiller(), ClosingFiller())),
        random_operator(0),
        OPERATORS["zh_homophone"],
    ]
    assert len({op.name for op in own}) > len(own) // 2

    op = ClosingFiller()
    edits = assert_type(
        perturb(op, "turn it on", seed=1, key="row", constraints=Constraints(protected=((0, 4),))), tuple[Edit, ...]
    )
    noisy: str = apply("turn it on", edits)
    assert noisy == apply("turn it on", [(edit.start, edit.end, edit.text) for edit in edits])
    assert assert_type(move_spans(edits, [(0, 4)]), list[tuple[int, int]]) == [(0, 4)]
    assert perturb_batch(op, ["turn it on"], seed=1, keys=["row"]) == [edits]
    assert Proposal(edits, op).operator is op
    rng: Random = open_stream(op, 1, "row")
    assert 0 <= rng.random() < 1

    tokens, tags, changes, source = perturb_tokens(op, ["turn", "it", "on"], ["O", "O", "B-state"], key="row")
    assert apply_tokens(["turn", "it", "on"], changes) == tokens
    chat = [{"role": "user", "content": "turn it on"}]
    assert isinstance(NoisySpeaker((Noise(op),), "chat-7").say("turn it on", 0).noisy, str)
    noisy_chat = Noise(op, text="messages", turns="all")({"messages": chat})
    assert apply_to_messages(chat, noisy_chat["edits"]) == noisy_chat["messages"]
    assert apply_tags(["turn", "it", "on"], ["O", "O", "B-state"], changes) == tags
    assert source.name == "filler_eos"

    tracks: tuple[NoiseTrack, ...] = parse_noise("zh_keyboard:3")
    assert [track.suffix for track in tracks] == [".1", ".2", ".3"]
    step: NoiseStep = tracks[0].steps[0]
    assert step.operator.name == "zh_keyboard" and step.annotator == 0
    first: tuple[Noise, ...] = tracks[0].make_noises(text="text", id="id")
    assert first[0].seed == 0
    columns = Noise(op, text="text", id="id")({"id": ["a"], "text": ["turn it on"]})
    assert columns["clean_text"] == ["turn it on"]
    transform = assert_type(Noise(mix({"filler_eos": 1, "clean": 1}), text="text").transform(), NoiseTransform)
    transform.set_epoch(1)
    assert transform.epoch == 1
    assert list(transform({"text": ["turn it on"], "label": [1]})) == ["text", "label", "clean_text"]

    (folder / "clean.jsonl").write_text('{"id": "a", "text": "turn it on"}\n', encoding="utf-8")
    summary = lapsus.perturb_file(
        folder / "clean.jsonl", folder / "noisy.jsonl", "filler_eos", text="text", id="id", progress=False
    )
    assert summary.changed == 1
    shards = lapsus.perturb_corpus(
        folder / "clean.jsonl", folder / "noisy", "filler_eos", text="text", id="id", progress=False
    )
    assert shards.rows == 1


def data(folder: Path) -> None:
    """Build a dataset of one's own."""
    (folder / "lamp").mkdir()
    (folder / "lamp" / "lamp.txt").write_text("turn it on\nturn it off\n", encoding="utf-8")
    opened: Source = open_source(folder / "lamp")
    assert list(opened.read_lines("lamp.txt")) == ["turn it on", "turn it off"]
    assert parse_label({"0": "off", "1": "on"}, 1, "lamp.txt row 1") == "on"
    known: Mapping[str, type[Benchmark]] = benchmarks()
    typed = noisy_features(
        Noise(OpeningFiller(), text="text", id="id"), Features({"id": Value("string"), "text": Value("string")})
    )
    assert "clean_text" in typed
    built = lapsus.build_dataset(known["sample"], folder / "sample")
    assert built.path.is_dir()
    assert [row["id"] for row in Lamp(data_dir=folder / "lamp").rows(opened, "typed", "test")] == ["0", "1"]


def results(folder: Path) -> None:
    """Score predictions, measure tracks and write the page."""
    rows = [{"id": "a", "prediction": "on", "gold": "on"}, {"id": "b", "prediction": "on", "gold": "off"}]
    for track in ("clean", "typed.1"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"bert.{track}.jsonl").write_text(lines, encoding="utf-8")
    tracks: list[lapsus.Track] = lapsus.read_tracks(sorted(folder.glob("bert.*.jsonl")))
    tracks.append(lapsus.Track("bert", "typed.2", [{"id": "a", "score": 1}, {"id": "b", "score": 0}]))
    numbers = lapsus.measure(tracks)
    assert numbers.summary
    page: Path = lapsus.report(tracks, folder / "report", n_resamples=100).page
    assert page.exists()

    (folder / "wins.jsonl").write_text('{"prediction": 2, "reference": 1}\n', encoding="utf-8")
    won: dict[str, Any] = lapsus.score("win_rate", [folder / "wins.jsonl"])
    assert won["win_rate"] == 1

    for name, text in (
        ("clean", "a lamp\nthe light\n"),
        ("human", "a lanp\nthe lifht\n"),
        ("made", "a lmap\nthe lihgt\n"),
    ):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    likeness: dict[str, Any] = lapsus.fidelity(folder / "clean.txt", [folder / "human.txt"], [folder / "made.txt"])
    assert likeness

    asked = [{"id": "a", "text": "turn it on", "label": "on"}, {"id": "b", "text": "and off", "label": "off"}]
    answered = lapsus.run(make_task(["text"], "label"), asked, lambda rows: ["on" for _ in rows], noise=["filler_eos"])
    assert_type(answered, list[lapsus.Track])
    page = lapsus.check(
        asked, lambda rows: ["on" for _ in rows], "text", "label", noise=["fillers"], out=folder / "c"
    ).page
    version: str = lapsus.__version__
    assert version


send: Callable[[Path, str], object] = lapsus.upload  # a folder, and the repo it goes to
