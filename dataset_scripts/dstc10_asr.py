"""DSTC10, track 2, task 2: spoken dialogues with an assistant, as a recogniser wrote them, and what answers them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, List, Value

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lapsus.dataset_scripts.source import Source

FILES = {  # of the repository, of its folder of the task, or by themselves
    kind: (f"val_{kind}.json", f"task2/data/val/{kind}.json", f"val/{kind}.json") for kind in ("logs", "labels")
}
KNOWLEDGE = ("task2/data/knowledge.json", "knowledge.json")
ROLES = {"U": "user", "S": "assistant"}
DIALOGUES: dict[str, int | None] = {"validation": None}
SNIPPETS: dict[str, int | None] = {"snippets": 12_039}


class Dstc10Asr(Benchmark):
    """Spoken dialogues with a tourist assistant: n-best lists of a recogniser, and the snippet that answers."""

    NAME = "dstc10-asr"
    TITLE = "DSTC10: spoken dialogues with knowledge snippets"
    LANGUAGES = ("en",)
    LICENSE = "apache-2.0"
    TASKS = ("text-classification", "text-generation")
    TAGS = ("noise", "speech-recognition", "dialogue", "n-best")
    WHERE = "https://github.com/alexa/alexa-with-dstc10-track2-dataset (the folder task2/data)"
    ROWS = {"speech": DIALOGUES, "knowledge": SNIPPETS}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        if config == "knowledge":
            return Features(dict.fromkeys(("id", "domain", "entity", "city", "question", "answer"), TEXT))
        return Features(
            {
                "id": TEXT,
                "dialogue": TEXT,
                "messages": List({"role": TEXT, "content": TEXT}),
                "nbest": List({"message": Value("int32"), "text": TEXT, "score": Value("float64")}),
                "seeks_knowledge": ClassLabel(names=["no", "yes"]),
                "snippet": TEXT,
                "response": TEXT,
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the snippets, or the dialogues up to each turn that has a label."""
        snippets = iter_snippets(source)
        if config == "knowledge":
            yield from snippets
            return
        known = {snippet["id"] for snippet in snippets}
        name, labels_name = (source.find_one(*FILES[kind]) for kind in ("logs", "labels"))
        logs, labels = source.read_json(name), source.read_json(labels_name)
        if len(logs) != len(labels):
            raise ValueError(
                f"{name} has {len(logs):,} dialogues, and {labels_name} {len(labels):,} labels; "
                "get the files that belong together"
            )
        dialogues: dict[str, str] = {}
        for number, (log, label) in enumerate(zip(logs, labels, strict=True)):
            where = f"{name} dialogue {number}"
            dialogue = dialogues.setdefault(json.dumps(log[0], sort_keys=True), str(number))
            yield {
                "id": str(number),
                "dialogue": dialogue,
                **parse_log(log, where),
                **parse_answer(label, known, f"{labels_name} label {number}"),
            }


def parse_log(log: list[Mapping[str, Any]], where: str) -> Row:
    """Return the turns of a dialogue as messages, and what else the recogniser took each to be.

    >>> parse_log([{"speaker": "U", "text": "high", "nbest": [{"hyp": "high", "score": -1.5}]}], "dialogue 0")
    {'messages': [{'role': 'user', 'content': 'high'}], 'nbest': [{'message': 0, 'text': 'high', 'score': -1.5}]}
    """
    messages, nbest = [], []
    for number, turn in enumerate(log):
        place = f"{where} turn {number}"
        if turn.get("speaker") not in ROLES:
            raise ValueError(f"{place} has the speaker {turn.get('speaker')!r}, which is none of U, S; get it again")
        messages.append({"role": ROLES[turn["speaker"]], "content": parse_text(turn, "text", place)})
        nbest += [
            {"message": number, "text": parse_text(each, "hyp", place, empty=True), "score": each["score"]}
            for each in turn.get("nbest", ())
        ]
    if messages[-1]["role"] != "user":
        raise ValueError(f"{where} does not end with a turn of the user; get the file again")
    return {"messages": messages, "nbest": nbest}


def parse_answer(label: Mapping[str, Any], known: set[str], where: str) -> dict[str, str]:
    """Return whether the last turn asks for a snippet, which one, and the response that a person gave.

    >>> parse_answer({"target": False}, set(), "label 0")
    {'seeks_knowledge': 'no', 'snippet': '', 'response': ''}
    """
    if not label["target"]:
        return {"seeks_knowledge": "no", "snippet": "", "response": ""}
    (knowledge,) = label["knowledge"]
    snippet = "/".join(str(knowledge[key]) for key in ("domain", "entity_id", "doc_id"))
    if snippet not in known:
        raise ValueError(f"{where} names the snippet {snippet!r}, which is not in knowledge.json; get both files again")
    return {"seeks_knowledge": "yes", "snippet": snippet, "response": parse_text(label, "response", where)}


def iter_snippets(source: Source) -> Iterator[Row]:
    """Yield the questions and answers about each place; the id is domain, entity and document."""
    name = source.find_one(*KNOWLEDGE)
    for domain, entities in source.read_json(name).items():
        for entity, facts in entities.items():
            for number, document in facts["docs"].items():
                snippet = f"{domain}/{entity}/{number}"
                where = f"{name} {snippet}"
                yield {
                    "id": snippet,
                    "domain": domain,
                    "entity": facts.get("name") or "",
                    "city": facts.get("city") or "",
                    "question": parse_text(document, "title", where),
                    "answer": parse_text(document, "body", where),
                }


UNITS = (Dstc10Asr,)
