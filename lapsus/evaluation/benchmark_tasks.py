"""The tasks of the benchmarks, and those of other packages.

The instruction is the same on every track; only the words of the user change. Exports to other harnesses are rendered
from this table. Other packages add tasks through the entry point `lapsus.tasks`, a module with `UNITS`.

>>> task = load_tasks()["readin-afqmc"]
>>> print(task.render_prompt({"sentence1": "花呗怎么还款", "sentence2": "怎么还花呗"}))
句子一：花呗怎么还款
句子二：怎么还花呗
这两句话的意思相同吗？只回答“相同”或“不同”。
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lapsus.core.messages import format_unknown_name
from lapsus.core.plugins import add_plugin_units
from lapsus.evaluation.answer_types import (
    ExactAnswer,
    FrameAnswer,
    LabelAnswer,
    SimilarityAnswer,
    SpanAnswer,
    SqlAnswer,
    TranslationAnswer,
)
from lapsus.evaluation.tasks import Task
from lapsus.evaluation.text_metrics.judge import SAME_MEANING
from lapsus.evaluation.tool_answer import ToolCallAnswer

PARAPHRASE = Task(
    "paraphrase",
    ("sentence1", "sentence2"),
    "句子一：{sentence1}\n句子二：{sentence2}\n这两句话的意思相同吗？只回答“相同”或“不同”。",
    LabelAnswer("label", {"different": "不同", "paraphrase": "相同"}),
    "whether two questions ask the same",
)
ENTAILMENT = Task(
    "entailment",
    ("premise", "hypothesis"),
    '{premise}\nDoes this imply that "{hypothesis}"? Answer with one word, yes or no.',
    LabelAnswer("label", {"not_entailed": "no", "entailed": "yes"}),
    "whether a text implies a sentence",
)
FRAME = Task(
    "frame",
    ("tokens",),
    "Read a request to a voice assistant. Name its intent, one of: {intents}.\n"
    "Name its slots, each with the words of the request that fill it; the slots are: {slots}.\n"
    'Answer with JSON alone, as in {{"intent": "…", "slots": {{"slot": ["words"]}}}}.\n'
    "Request: {tokens}",
    FrameAnswer(),
    "intent and slots of a request, right when all of it is right",
    clean="original",
    tracks=("filler_*", "synonym_*", "speako", "random.*", "hard"),
    hidden=("intent", "tags", "slots", "scenario", "action", "entities", "frame"),
)
INTENT = replace(
    FRAME,
    prompt="What is the intent of this request to a voice assistant? It is one of: {labels}.\n"
    "Request: {tokens}\nAnswer with the intent alone.",
    answer_type=LabelAnswer("intent"),
    summary="the intent of a request",
)
SLOTS = replace(
    FRAME,
    prompt="Read a request to a voice assistant. Name its slots, each with the words of the request that fill it; "
    "the slots are: {slots}.\n"
    'Answer with JSON alone, as in {{"slots": {{"slot": ["words"]}}}}.\nRequest: {tokens}',
    answer_type=FrameAnswer(with_intent=False),
    summary="the slots of a request",
)
PASSAGE_ZH = Task(
    "qa-zh",
    ("question",),
    "{context}\n\n根据上文回答问题。只写出原文中的答案，不要解释。\n问题：{question}",
    SpanAnswer(rules="cmrc2018"),
    "answer a question by a passage of its context",
    context=("context",),
    version="2",
)
PASSAGE_EN = replace(
    PASSAGE_ZH,
    prompt="{context}\n\nAnswer the question with words of the text above, as short as possible, "
    "without explanation.\nQuestion: {question}",
    answer_type=SpanAnswer(rules="squad"),
)
TRANSLATION = Task(
    "translation-zh-en",
    ("zh",),
    "Translate into English. Write the translation alone.\n{zh}",
    TranslationAnswer("en"),
    "Chinese news in English",
    hidden=("translation",),
)
QUERY = Task(
    "text-to-sql",
    ("question",),
    "The tables of an SQLite database:\n{schema}\n\n"
    "Write one SQL query that answers the question. Write the query alone.\n问题：{question}",
    SqlAnswer(),
    "SQL for a question, by exact set match (and execution, with --sql-databases)",
    context=("schema",),
)
MEANING = Task(
    "same-meaning",
    ("candidate",),
    SAME_MEANING,
    SimilarityAnswer(),
    "how alike a sentence means in another dialect, and with another meaning",
    clean="dialect",
    tracks=("perturbed", "other_tag"),
    context=("base", "tag"),
    hidden=("dialect", "perturbed", "perturbation", "identical", "bucket", "feature", "features"),
    version="2",
)

CALLS = Task(
    "bfcl",
    ("request",),
    "{system}\n\nYou can call these functions:\n{functions}\n\nAnswer with the calls that the request needs, as a JSON "
    'list alone, as in [{{"name": "…", "arguments": {{"…": …}}}}].\nRequest: {request}',
    ToolCallAnswer(),
    "which functions to call for a request, and with which arguments",
    dataset="bfcl",
    tracks=(),
    context=("system", "functions"),
)


def _make_variant(base: Task, name: str, **changes: Any) -> Task:
    return replace(base, name=name, **{"dataset": name, **changes})


NOISY_READIN = ("keyboard.*", "speech.*", "auto.*")

UNITS = (
    *(_make_variant(PARAPHRASE, name, tracks=NOISY_READIN) for name in ("readin-afqmc", "readin-afqmc-sim")),
    *(_make_variant(PASSAGE_ZH, name, tracks=NOISY_READIN) for name in ("readin-cmrc2018", "readin-cmrc2018-sim")),
    *(_make_variant(QUERY, name, tracks=NOISY_READIN) for name in ("readin-cspider", "readin-cspider-sim")),
    *(_make_variant(TRANSLATION, name, tracks=NOISY_READIN) for name in ("readin-wmt2021", "readin-wmt2021-sim")),
    *(
        _make_variant(
            ENTAILMENT,
            f"rte{number}",
            dataset="rte",
            clean=f"rte{number}",
            tracks=(),
            summary=f"{ENTAILMENT.summary}: {description}",
        )
        for number, description in ((1, "the first challenge"), (2, "the second challenge"), (3, "the third challenge"))
    ),
    _make_variant(ENTAILMENT, "parte", clean="original_", tracks=("default",), cluster="original_id"),
    *(_make_variant(FRAME, name) for name in ("nature-atis", "nature-snips", "nature-nlued")),
    *(
        _make_variant(INTENT, f"{name}-intent", dataset=name)
        for name in ("nature-atis", "nature-snips", "nature-nlued")
    ),
    *(_make_variant(SLOTS, f"{name}-slots", dataset=name) for name in ("nature-atis", "nature-snips", "nature-nlued")),
    _make_variant(
        FRAME,
        "slurp-asr",
        inputs=("text",),
        prompt=FRAME.prompt.replace("{tokens}", "{text}"),
        clean="clean",
        tracks=("speech",),
    ),
    _make_variant(
        INTENT,
        "slurp-asr-intent",
        dataset="slurp-asr",
        inputs=("text",),
        prompt=INTENT.prompt.replace("{tokens}", "{text}"),
        clean="clean",
        tracks=("speech",),
    ),
    _make_variant(
        FRAME,
        "zh-asr-slu",
        inputs=("text",),
        prompt="阅读一句对车载导航说的话，用JSON写出意图（{intents}之一）和语义槽，只写JSON，"
        '例如 {{"intent": "…", "slots": {{"槽": ["词语"]}}}}。\n语义槽有：{slots}。\n用户：{text}',
        clean="clean",
        tracks=("speech",),
    ),
    *(
        _make_variant(
            base,
            f"xsid-{language}{ending}",
            dataset=f"xsid-{language}",
            inputs=("text",),
            prompt=base.prompt.replace("{tokens}", "{text}"),
            clean="clean",
            tracks=("writer.*",),
            hidden=(*FRAME.hidden, "tokens", "dialect"),
        )
        for base, ending in ((FRAME, ""), (INTENT, "-intent"))
        for language in ("no", "de", "it")
    ),
    *(
        _make_variant(
            base,
            f"hinglish-top{ending}",
            dataset="hinglish-top",
            inputs=("text",),
            prompt=base.prompt.replace("{tokens}", "{text}"),
            clean="clean",
            tracks=("hinglish",),
            hidden=(*FRAME.hidden, "parse", "domain", "seen"),
        )
        for base, ending in ((FRAME, ""), (INTENT, "-intent"))
    ),
    _make_variant(PASSAGE_EN, "noiseqa"),
    _make_variant(
        PASSAGE_EN,
        "disfl-qa",
        prompt="{context}\n\nAnswer the question with words of the text above, as short as possible, without "
        "explanation. If the text does not answer it, write: unanswerable\nQuestion: {question}",
        answer_type=SpanAnswer(unanswerable="unanswerable"),
    ),
    _make_variant(PASSAGE_ZH, "odsqa", tracks=("speech",)),
    _make_variant(
        PASSAGE_EN,
        "noiseqa-search",
        dataset="noiseqa",
        prompt="Find the paragraph of an encyclopedia that answers the question, and write it out.\n{question}",
        answer_type=ExactAnswer("context", 512),
        summary="the paragraph that answers a question, among all of the data: for searches, not for chats",
        context=(),
        hidden=("answers",),
    ),
    *(
        _make_variant(MEANING, name, answer_type=SimilarityAnswer(tags))
        for name, tags in (
            ("dialect-en", ("en-US", "en-IN")),
            ("dialect-en-demszky", ("en-US", "en-IN")),
            ("dialect-pt", ("pt-BR", "pt-PT")),
            ("dialect-zh", ("zh-CN", "zh-TW")),
        )
    ),
    _make_variant(
        TRANSLATION,
        "dialect-pt-translation",
        dataset="dialect-pt",
        inputs=("source",),
        prompt="Translate into Brazilian Portuguese. Write the translation alone.\n{source}",
        answer_type=TranslationAnswer("base"),
        summary="English sentences of an encyclopedia in Brazilian Portuguese",
        clean="default",
        tracks=(),
        hidden=("dialect", "perturbed", "perturbation", "identical"),
    ),
    CALLS,
    _make_variant(PARAPHRASE, "sample-paraphrase", dataset="sample", tracks=NOISY_READIN),
    _make_variant(FRAME, "sample-commands", dataset="sample"),
    _make_variant(INTENT, "sample-intent", dataset="sample"),
    _make_variant(SLOTS, "sample-slots", dataset="sample"),
    _make_variant(
        ENTAILMENT,
        "sample-entailment",
        dataset="sample",
        clean="original_",
        tracks=("entailment",),
        cluster="original_id",
    ),
)


def load_tasks() -> dict[str, Task]:
    """Return all tasks by name, including those of other packages."""
    own = ((__name__, task) for task in UNITS)
    return dict(sorted(add_plugin_units(own, "lapsus.tasks", lambda task: task.name).items()))


def find_task(name: str) -> Task:
    """Return the task with this name; the error for an unknown one names similar ones."""
    known = load_tasks()
    if name not in known:
        raise LookupError(format_unknown_name("task", name, known))
    return known[name]
