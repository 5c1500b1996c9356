"""Semantic edits: what they change, what they must leave alone, and the check that judges any edit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT, SHARED_DATA

from lapsus.core.edits import apply
from lapsus.evaluation.models.endpoint_client import Endpoint, EndpointError
from lapsus.perturbations.core import perturb
from lapsus.perturbations.semantic.edits import (
    NAMES,
    OPERATORS,
    UNITS,
    _iter_places,
    explain_refusal,
    find_semantic_edit,
    load_lexicon,
    nearby_numbers,
)
from lapsus.perturbations.semantic.instruction_model import (
    EXEMPLARS,
    build_prompt,
    classify_edit,
    find_edit,
    load_exemplars,
    make_semantic_models,
)
from lapsus.perturbations.semantic.word_lists import FOLDER, read_version, read_word_lists, split_lists

FRMT = SHARED_DATA / "frmt"
SENTENCES = {
    "en": (
        "The old bridge was not open before 1990, but many people crossed it every Sunday.",
        "She never sold her brother's red car in Paris.",
        "I can't find the largest of the three museums.",
    ),
    "zh": (
        "他的父亲在 1990 年之前没有买过三辆红色的车。",
        "不过这座城市的大学是最大的，许多学生喜欢夏天。",
        "第一次世界大战结束后，她从未离开北京。",
    ),
    "pt": (
        "O pai dela não vendeu o carro vermelho antes de 1990 em Lisboa.",
        "A cidade é a maior do norte e nunca fecha em janeiro.",
        "Muitos alunos compraram três livros velhos.",
    ),
}
WORDS = {language: sorted({word for word in load_lexicon(language).replace if word}) for language in NAMES}


# word lists -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", sorted(NAMES))
def test_every_list_of_a_file_is_read_and_its_version_is_that_of_the_operators(language):
    text = (FOLDER / f"{language}.txt").read_text("utf-8")
    lists = read_word_lists(language)
    assert {name for name in lists if lists[name]} == {*re.findall(r"^\[(.+)\]$", text, re.MULTILINE)} - {"context"}
    assert not [line for lines in lists.values() for line in lines.splitlines() if re.search(r"^# |<[a-z]+>", line)]
    assert {unit.version for unit in UNITS if unit.language == language} == {read_version(language)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[replce]\na / b\n", "the list 'replce', which is unknown or there twice"),
        ("[replace]\na / b\n[replace]\nc / d\n", "the list 'replace', which is unknown or there twice"),
        ("[insert]\nis<plain> > _ not\n", "has <plain>, but its list `context` has no such pattern"),
    ],
)
def test_a_list_that_would_be_read_otherwise_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        split_lists(text, "here.txt")


def test_the_lists_that_a_tool_writes_are_as_it_writes_them():
    tool = ROOT / "tools" / "write_word_lists.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def every_edit(text, language, kind):
    return [edit for place in _iter_places(kind, text, language) for edit in place]


@st.composite
def texts(draw):
    language = draw(st.sampled_from(sorted(NAMES)))
    marks = st.sampled_from(["not", "不", "não", "12", "1990", "?", ",", "。", "吗"])
    pieces = st.one_of(st.sampled_from(WORDS[language]), marks, st.text(max_size=4))
    return language, ("" if language == "zh" else " ").join(draw(st.lists(pieces, max_size=8)))


@settings(deadline=None, max_examples=100)
@given(texts(), st.integers(0, 3), st.sampled_from(sorted(OPERATORS)))
def test_an_edit_is_pure_single_and_never_refused(case, seed, kind):
    language, text = case
    operator = OPERATORS[kind](language)
    edits = perturb(operator, text, seed=seed, key="k")
    assert edits == perturb(operator, text, seed=seed, key="k")
    assert len(edits) <= 1
    if edits:
        assert classify_edit(edits[0]) == kind
        assert explain_refusal(text, apply(text, edits), language) is None


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang, texts in SENTENCES.items() for text in texts])
def test_every_kind_of_edit_finds_its_place(language, text):
    assert {apply(text, perturb(OPERATORS["replace"](language), text, key=str(k))) for k in range(8)} - {text}
    assert find_semantic_edit(text, language).kind == "replace"


@pytest.mark.parametrize("language", sorted(NAMES))
def test_no_pair_of_the_lists_is_refused(language):
    carrier = {"en": "we saw {} there", "zh": "我们 {} 那里", "pt": "vimos {} ali"}[language]
    for rules in load_lexicon(language).replace.values():
        for rule in rules:
            for target in rule.targets:
                reason = explain_refusal(carrier.format(rule.word), carrier.format(target), language)
                assert reason is None, f"{rule.word} > {target}: {reason}"


@pytest.mark.parametrize(
    ("language", "kind", "clean", "noisy"),
    [
        ("en", "replace", "The shop opens before lunch", "The shop opens after lunch"),
        ("en", "replace", "May 5 was cold", "March 5 was cold"),
        ("en", "insert", "It was open", "It was not open"),
        ("en", "delete", "It was not open", "It was open"),
        ("en", "replace", "She didn’t come", "She did come"),
        ("zh", "replace", "她住在城市", "她住在村庄"),
        ("zh", "replace", "他买了三个苹果", "他买了两个苹果"),
        ("zh", "insert", "他是老师", "他不是老师"),
        ("zh", "insert", "这是我的书", "这不是我的书"),
        ("zh", "delete", "他不喜欢冬天", "他喜欢冬天"),
        ("pt", "replace", "A casa é maior", "A casa é menor"),
        ("pt", "replace", "Uma grande festa", "Uma pequena festa"),
        ("pt", "insert", "O João chegou tarde", "O João não chegou tarde"),
        ("pt", "delete", "Ele nunca voltou", "Ele voltou"),
    ],
)
def test_known_edits_are_among_those_proposed(language, kind, clean, noisy):
    assert noisy in {apply(clean, [edit]) for edit in every_edit(clean, language, kind)}
    assert explain_refusal(clean, noisy, language) is None


@pytest.mark.parametrize(
    ("language", "kind", "text"),
    [
        ("zh", "delete", "不过他来了"),  # 不 is part of 不过
        ("zh", "replace", "她在大学"),  # 大 is part of 大学
        ("zh", "replace", "第一次世界大战"),
        ("zh", "replace", "真人改编剧"),
        ("zh", "insert", "他还是来了"),
        ("zh", "insert", "但是很好"),
        ("en", "replace", "It is more or less that"),
        ("en", "replace", "New York"),
        ("en", "replace", "the A4 page"),
        ("en", "insert", "It is not open"),
        ("en", "delete", "not only"),
        ("pt", "replace", "pelo menos"),
        ("pt", "replace", "Pelo menos"),
        ("pt", "replace", "de novo"),
        ("pt", "insert", "que se tornou"),
        ("pt", "insert", "isto é"),
    ],
)
def test_parts_of_other_words_and_set_phrases_are_left_alone(language, kind, text):
    assert every_edit(text, language, kind) == []


@pytest.mark.parametrize(
    ("language", "clean", "noisy", "reason"),
    [
        ("en", "It is big", "It is large", "synonyms"),
        ("en", "It is big", "It is  big", "the same"),
        ("en", "I have 2 dogs", "I have two dogs", "the same"),
        ("en", "He went home", "He actually went home", "adds no meaning"),
        ("en", "He really went home", "He went home", "adds no meaning"),
        ("en", "He never came", "He did not never came", "another negation"),
        ("en", "He did not see nobody", "He did see nobody", "another negation"),
        ("en", "It is good", "It is not bad", "opposite is negated"),
        ("en", "Is it open?", "Is it not open?", "question"),
        ("en", "The shop opens at nine", "A bakery closes around ten", "changes 5 words"),
        ("zh", "他经常来", "他常常来", "synonyms"),
        ("zh", "第二 天", "第2 天", "the same"),
        ("zh", "他来了", "他其实来了", "adds no meaning"),
        ("zh", "他没有说", "他不没有说", "another negation"),
        ("zh", "他来吗？", "他不来吗？", "question"),
        ("pt", "É um carro", "É um automóvel", "synonyms"),
        ("pt", "Ele nunca veio", "Ele não nunca veio", "another negation"),
        ("pt", "Ele veio", "Ele realmente veio", "adds no meaning"),
    ],
)
def test_what_leaves_the_meaning_is_refused(language, clean, noisy, reason):
    assert reason in (explain_refusal(clean, noisy, language) or "")


def test_a_negation_in_another_clause_is_no_obstacle():
    assert explain_refusal("It was late, and nobody came.", "It was not late, and nobody came.") is None


def test_the_order_is_replace_insert_delete():
    assert find_semantic_edit("It was not ready before noon").kind == "replace"
    assert find_semantic_edit("It was ready").kind == "insert"
    assert find_semantic_edit("It is not ready").kind == "delete"
    assert find_semantic_edit("Hello there") is None


@pytest.mark.parametrize("text", ["", " ", "?!", "👍🏽", "a\u0301", "\n", "一", "Ⅷ", "٣" * 3, "9" * 5000 + "a"])
@pytest.mark.parametrize("operator", UNITS, ids=lambda unit: unit.name)
def test_odd_texts_are_left_alone(operator, text):
    assert perturb(operator, text) == ()


def test_numbers_keep_their_look():
    assert "1" not in nearby_numbers("7", "en")
    assert all(2 <= int(number) <= 12 for number in nearby_numbers("7", "en"))  # a month, an hour
    assert all(abs(int(number) - 1987) < 5 for number in nearby_numbers("1987", "en"))
    assert all(number.endswith(",000") for number in nearby_numbers("3,000", "en"))
    assert set(nearby_numbers("30", "zh", decade=True)) == {"20", "40", "50", "60", "70", "80", "90"}


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The race is over 1500 metres", True),
        ("there were 1200 votes", True),
        ("It cost $1999 then", True),
        ("He moved there in 1999", False),
        ("In 2005 records show less", False),
        ("the 1968 protests", False),
        ("about 1530.", False),
    ],
)
def test_a_number_that_counts_is_no_year(text, counts):
    number = next(word.strip("$.") for word in text.split() if word.strip("$.").isdigit())
    others = {edit.text for edit in every_edit(text, "en", "replace") if edit.text.isdigit()}
    assert others == set(nearby_numbers(number, "en", year=not counts)) - {number}
    assert (max(map(int, others)) > 2099) == counts


@pytest.mark.parametrize(
    ("kind", "clean", "noisy"),
    [
        ("insert", "read my grocery list", "don't read my grocery list"),
        ("insert", "please delete my alarm", "please don't delete my alarm"),
        ("insert", "I’m going home", "I’m not going home"),
        ("insert", "they want tea", "they don't want tea"),
        ("replace", "he talks to them", "he doesn't talk to them"),
        ("replace", "turn the lights off", "turn the lights on"),
        ("delete", "it is no longer open", "it is open"),
        ("delete", "due to lack of evidence", "due to evidence"),
        ("delete", "half of the population", "the population"),
    ],
)
def test_conversation_and_weakened_claims_are_edited(kind, clean, noisy):
    assert noisy in {apply(clean, [edit]) for edit in every_edit(clean, "en", kind)}
    assert explain_refusal(clean, noisy) is None


# As versions 2 (en), 1 (zh) and 1 (pt) made them when this was written: hardly a text of frozen_texts.txt has a place.
DRAWN_KEYS = {"en": ("1", "3"), "zh": ("1", "4"), "pt": ("1", "3")}
DRAWN = {
    ("delete", "en"): {
        "The shop is not open, and nobody knew the former owner.": (
            "The shop is open, and nobody knew the former owner.",
            "The shop is open, and nobody knew the former owner.",
        ),
        "They never met the vice president.": ("They met the vice president.", "They never met the president."),
        "Half of the houses were not insured.": ("the houses were not insured.", "Half of the houses were insured."),
        "It’s no longer sold there.": ("It’s sold there.", "It’s sold there."),
        "His less expensive car almost crashed.": (
            "His expensive car almost crashed.",
            "His less expensive car crashed.",
        ),
        "No, it was not only cold.": ("No, it was not only cold.", "No, it was not only cold."),
        "She did not say never.": ("She did not say never.", "She did not say never."),
    },
    ("delete", "zh"): {
        "他不喜欢冬天，她没有去过上海。": ("他不喜欢冬天，她去过上海。", "他喜欢冬天，她没有去过上海。"),
        "花呗无法提额。": ("花呗提额。", "花呗提额。"),
        "不过他来了。": ("不过他来了。", "不过他来了。"),
    },
    ("delete", "pt"): {
        "A loja não abre.": ("A loja abre.", "A loja abre."),
        "Não só chove.": ("Não só chove.", "Não só chove."),
    },
    ("insert", "pt"): {"O João chegou tarde.": ("O João não chegou tarde.", "O João não chegou tarde.")},
}


@pytest.mark.parametrize(
    ("kind", "language", "text", "drawn"),
    [(*which, text, drawn) for which, texts in DRAWN.items() for text, drawn in texts.items()],
)
def test_rare_edits_are_drawn_as_they_were(kind, language, text, drawn):
    assert (
        tuple(apply(text, perturb(OPERATORS[kind](language), text, key=key)) for key in DRAWN_KEYS[language]) == drawn
    )


@pytest.mark.parametrize(
    "text", ["what is on my list", "is it open", "hey google do you have tea", "when are they open"]
)
def test_a_spoken_question_is_not_denied(text):
    assert perturb(OPERATORS["insert"]("en"), text) == ()


def test_an_operator_names_the_version_of_its_lists():
    assert [OPERATORS["replace"](language).version for language in ("en", "zh", "pt")] == ["2", "1", "1"]


def test_a_number_of_any_length_is_a_number():
    assert len(nearby_numbers("9" * 5000, "en")) == 8
    assert nearby_numbers("0.5", "en")[0] == "0.1"


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(ValueError, match="no semantic edits for language 'fr': choose one of en, zh, pt"):
        find_semantic_edit("Bonjour", "fr")


def test_operators_evaluate_back():
    for unit in UNITS:
        assert eval(repr(unit), {type(unit).__name__: type(unit)}) == unit  # noqa: S307 - our own repr


@pytest.mark.data
@pytest.mark.skipif(not FRMT.exists(), reason="FRMT is not beside the checkout")
@pytest.mark.parametrize(
    ("language", "base", "rows", "least"), [("zh", "zh-CN", 2_227, 1_200), ("pt", "pt-BR", 2_616, 1_400)]
)
def test_more_rows_of_frmt_are_edited_than_in_the_paper(language, base, rows, least):
    found = [
        line.split("\t")[1]
        for bucket in ("lexical", "entity", "random")
        for line in (FRMT / f"{bucket}_bucket" / f"{language}_{bucket}_test_en_{base}.tsv")
        .read_text(encoding="utf-8")
        .split("\n")
        if "\t" in line
    ]
    assert len(found) == rows
    assert sum(find_semantic_edit(text, language) is not None for text in found) >= least


# the instruction model


class StandIn(BaseHTTPRequestHandler):
    """A chat server that answers from a table and can be made to fail."""

    def do_POST(self):
        server = self.server
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append((self.path, self.headers.get("Authorization"), request))
        status = server.failures.pop() if server.failures else 200
        text = server.answers(request["messages"][0]["content"])
        body = json.dumps({"choices": [{"message": {"content": text}}]}) if status == 200 else "out of luck"
        self.send_response(status)
        self.end_headers()
        self.wfile.write((server.raw or body).encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    httpd.asked, httpd.failures, httpd.raw = [], [], None
    httpd.answers = lambda prompt: prompt.splitlines()[-2].removeprefix("Original Sentence: ")
    httpd.url = f"http://127.0.0.1:{httpd.server_port}/v1"
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def test_a_question_is_greedy_signed_and_asked_once(server, tmp_path, monkeypatch):
    monkeypatch.setenv("LAPSUS_TEST_KEY", "sesame")
    endpoint = Endpoint(server.url, "tiny", cache=str(tmp_path), key="LAPSUS_TEST_KEY")
    server.answers = len
    server.answers = lambda prompt: prompt.upper()
    assert endpoint.complete_all(["a", "b", "a"])[:2] == ["A", "B"]
    assert Endpoint(server.url, "tiny", cache=str(tmp_path)).complete("b") == "B"  # from the cache of another run
    path, signed, request = server.asked[0]
    assert (path, signed) == ("/v1/chat/completions", "Bearer sesame")
    assert (request["model"], request["temperature"]) == ("tiny", 0)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".json"]
    asked = len(server.asked)
    Endpoint(server.url, "other", cache=str(tmp_path)).complete("b")
    assert server.asked[-1][2]["model"] == "other"  # another model is another question
    Endpoint(f"{server.url}/", "tiny", cache=str(tmp_path)).complete("b")
    assert len(server.asked) == asked + 2  # and so is another address


def test_a_run_that_broke_off_goes_on_where_it_was(server, tmp_path):
    endpoint = Endpoint(server.url, "tiny", cache=str(tmp_path), retries=0, workers=1)
    server.answers = lambda prompt: prompt
    server.failures = [500]
    with pytest.raises(EndpointError, match=r"still busy .* the answers so far are kept"):
        [endpoint.complete(text) for text in ("one", "two")]
    server.failures = []
    endpoint.complete("one")
    asked = len(server.asked)
    assert [endpoint.complete(text) for text in ("one", "two")] == ["one", "two"]
    assert len(server.asked) == asked + 1


def test_nothing_is_said_to_be_kept_without_a_cache(server):
    server.failures = [503]
    with pytest.raises(EndpointError, match=r"is still busy \(status 503\) after 1 tries; run again later$"):
        Endpoint(server.url, "tiny", retries=0).complete("x\ny\nz")


def test_a_busy_server_is_asked_again(server):
    server.failures = [503, 429]
    assert Endpoint(server.url, "tiny", pause=0.01).complete("x\ny\nz") == "y"
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "raw", "sentence"),
    [
        (401, None, r"refused the key \(status 401\); set \$OPENAI_API_KEY"),
        (404, None, r"answered with status 404 \(out of luck\); check the model's name 'tiny'"),
        (200, "<html>", "sent no chat completion but '<html>'"),
        (200, '{"choices": []}', "sent no chat completion"),
    ],
)
def test_a_bad_answer_is_one_sentence(server, status, raw, sentence):
    server.failures, server.raw = [status], raw
    with pytest.raises(EndpointError, match=sentence):
        Endpoint(server.url, "tiny", pause=0.01).complete("x\ny\nz")


def test_no_server_is_one_sentence(server):
    server.shutdown()
    server.server_close()
    with pytest.raises(EndpointError, match=r"no answer from http://127.0.0.1:.*; start the server"):
        Endpoint(server.url, "tiny", retries=0).complete("x")


def test_a_model_edits_in_the_paper_s_order_and_is_checked(server, tmp_path):
    replies = {
        ("replace", "the soup was hot"): "the soup was cold",
        ("replace", "he went home"): "he went home",  # nothing changed
        ("insert", "he went home"): '"he actually went home"',  # a filler
        ("delete", "he went home"): "he went",
        ("replace", "a big day"): "a large day",  # a synonym
        ("insert", "a big day"): "Add a word to it: a big rainy day\n\nOriginal Sentence: x",
    }

    def answers(text):
        kind = {"Delete": "delete", "Replac": "replace", "Add a ": "insert"}[text.splitlines()[-1][:6]]
        return replies[kind, text.splitlines()[-2].removeprefix("Original Sentence: ")]

    server.answers = answers
    operators = make_semantic_models(Endpoint(server.url, "tiny", cache=str(tmp_path)))
    found = [
        find_semantic_edit(text, operators=operators) for text in ("the soup was hot", "he went home", "a big day")
    ]
    assert [(edit.kind, edit.text) for edit in found] == [
        ("replace", "the soup was cold"),
        ("delete", "he went"),
        ("insert", "a big rainy day"),
    ]


def test_our_exemplars_would_pass_the_check():
    assert [exemplar.kind for exemplar in EXEMPLARS] == ["replace"] * 5 + ["insert"] * 5 + ["delete"] * 5
    for kind, original, edited in EXEMPLARS:
        assert explain_refusal(original, edited) is None, edited
        assert classify_edit(find_edit(original, edited)) == kind


def test_other_exemplars_come_from_a_file(tmp_path):
    path = tmp_path / "exemplars.jsonl"
    path.write_text('{"kind": "insert", "original": "a b", "edited": "a not b"}\n\n')
    (exemplar,) = load_exemplars(path)
    assert build_prompt("insert", "x", [exemplar]).count("Original Sentence") == 2
    path.write_text('{"kind": "shuffle", "original": "a b", "edited": "b a"}\n')
    with pytest.raises(ValueError, match=r"line 1 of .* is no exemplar; give kind"):
        load_exemplars(path)


@settings(deadline=None)
@given(st.text(alphabet="ab 不c'", max_size=12), st.text(alphabet="ab 不c'", max_size=12))
def test_the_difference_replays(old, new):
    assert apply(old, [find_edit(old, new)]) == new
