"""A set like P̂aRTE: generators, the filter, sheets out and in, verdicts, and pairs that `lapsus build parte` reads."""

from __future__ import annotations

import csv
import json
import threading
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from random import Random
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from paths import TESTS

from lapsus.cli.main import main
from lapsus.collect.candidates import (
    Paraphrase,
    choose_judged,
    choose_unjudged,
    collect_candidates,
)
from lapsus.collect.generators import FileGenerator, GeneratorSettings, open_generator
from lapsus.collect.judgements import (
    AcceptanceRule,
    InvalidJudgementError,
    Judgement,
    decide_verdicts,
    measure_agreement,
    parse_judgement,
)
from lapsus.collect.pairs import build_pairs, read_ids, read_pairs, unique_sentences
from lapsus.collect.sheets import iter_sheet, merge_judgements, read_judgements, write_sheets
from lapsus.core.overlap import OverlapFilter, jaccard
from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.source import open_source
from lapsus.stats import krippendorff_alpha

HERE = TESTS
PARTE = HERE / "benchmarks_files" / "parte" / "parte.csv"


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def published():
    """The rows of the hand-written file in P̂aRTE's form, as the builder reads them."""
    return list(benchmarks()["parte"]().iter_pairs(open_source(PARTE)))


# overlap ------------------------------------------------------------------------------------------------------------
WORDS = st.lists(st.sampled_from(["ada", "won", "the", "cup", "花", "呗", "1990"]), max_size=7).map(" ".join)


@given(WORDS, WORDS)
def test_overlap_is_the_share_of_words_in_common(first, second):
    one, other = ({*text.replace("花", " 花 ").replace("呗", " 呗 ").split()} for text in (first, second))
    both = sum(word in other for word in one)
    assert jaccard(first, second) == (Fraction(both, len(one) + len(other) - both) if one or other else 1)
    assert jaccard(second, first) == jaccard(f"{first.upper()}!", f"“{second}”.")


def test_the_threshold_is_exact_and_its_errata_can_be_had():
    at = jaccard("a b c d e f g", "a b c d e f h")  # 6 of 8
    assert at == Fraction(3, 4) and OverlapFilter().accepts(at) and not OverlapFilter(0.74).accepts(at)
    assert not OverlapFilter().accepts(Fraction(4, 5))
    appendix = OverlapFilter(maximum=1, minimum=0.25)
    assert not appendix.accepts(Fraction(1, 4)) and appendix.accepts(Fraction(4, 5))
    assert OverlapFilter().accepts(Fraction(0))
    with pytest.raises(ValueError, match=r"^no overlap is over 0\.8 and at most 0\.75; give"):
        OverlapFilter(0.75, 0.8)


# candidates ---------------------------------------------------------------------------------------------------------
class Alike:
    """An encoder's place: the shorter a paraphrase, the more alike."""

    def score(self, candidates, references):
        return [-float(len(candidate)) for candidate in candidates]


TEXT = "Ada won the cup in 1990."
SAID = ("Ada won the cup in 1990", "In 1990 Ada was the winner", "in 1990 ada was the  winner.", "She triumphed.", "?!")


def test_near_and_repeated_paraphrases_are_left_out_and_counted():
    first, second = (
        FileGenerator("a", {TEXT: SAID}),
        FileGenerator("b", {TEXT: ("She triumphed", "The cup was Ada's.")}),
    )
    chosen, counts = collect_candidates([TEXT, "Nothing is known of this."], [first, second])
    assert [(each.paraphrase, each.generator, each.rank) for each in chosen] == [
        ("In 1990 Ada was the winner", "a", 1),
        ("She triumphed.", "a", 2),
        ("The cup was Ada's.", "b", 3),
    ]
    assert (counts.proposed, counts.repeated, counts.out_of_bounds, counts.accepted, counts.sentences_without) == (
        7,
        2,
        2,
        3,
        1,
    )
    ranked, _ = collect_candidates([TEXT], [first, second], encoder=Alike(), per_sentence=2)
    assert [each.paraphrase for each in ranked] == ["She triumphed.", "The cup was Ada's."]
    assert [each.item for each in ranked] == [chosen[1].item, chosen[2].item]  # an item keeps its name


# generators ---------------------------------------------------------------------------------------------------------
@contextmanager
def endpoint(answer, end="stop"):
    """An OpenAI-compatible server that answers by a function of the prompt, and counts."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(told)
            said = {"choices": [{"message": {"content": answer(told["messages"][0]["content"])}, "finish_reason": end}]}
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(word=f"http://127.0.0.1:{server.server_address[1]}/v1#m", asked=asked)
    finally:
        server.shutdown()
        server.server_close()


def test_an_endpoint_is_asked_once_for_a_sentence_and_its_lines_are_read(tmp_path):
    with endpoint(lambda prompt: f'1. "Not {prompt[-5:-1]}."\n\n2) Said otherwise.\n- Third.\n4. Fourth.') as server:
        settings = GeneratorSettings(number=3, cache=tmp_path)
        for _ in range(2):
            made = list(open_generator(server.word, settings).generate(["Ada lost.", "Ida lost."]))
            assert made == [["Not lost.", "Said otherwise.", "Third."]] * 2
        assert len(server.asked) == 2
        assert all(
            each["temperature"] == 0 and "3 different ways" in each["messages"][0]["content"] for each in server.asked
        )


def test_a_line_that_was_cut_at_the_token_limit_is_no_paraphrase(tmp_path):
    with endpoint(lambda _: "1. Ada won it.\n2. The winner was A", end="length") as server:
        settings = GeneratorSettings(number=3, cache=tmp_path)
        for _ in range(2):  # the second answer comes from the cache
            assert list(open_generator(server.word, settings).generate(["Ada won."])) == [["Ada won it."]]
        assert len(server.asked) == 1


def test_a_replay_gives_back_what_the_file_has(tmp_path):
    file = tmp_path / "said.csv"
    file.write_text("text,paraphrase\nAda won.,Won it Ada.\nAda won.,Ada was first.\n", encoding="utf-8")
    made = open_generator(f"replay:{file}", GeneratorSettings())
    assert (made.name, list(made.generate(["Ada lost.", "Ada won."]))) == (
        "replay:said",
        [[], ["Won it Ada.", "Ada was first."]],
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    pytest.importorskip("torch")
    import tiny_models

    folder = tmp_path_factory.mktemp("t5") / "tiny-t5"
    tiny_models.seq2seq(tiny_models.tokenizer(["paraphrase : ada won the cup in 1990 . she was first"]), folder)
    return folder


def test_a_checkpoint_gives_its_best_beams_likeliest_first(tiny):
    import torch

    made = open_generator(f"hf:{tiny}", GeneratorSettings(number=4))
    both = list(made.generate(["ada won the cup", "she was first"]))
    assert [len(each) for each in both] == [4, 4]
    assert list(made.generate(["she was first"])) == both[1:]  # whatever stood beside it

    asked = made.tokenizer("paraphrase: ada won the cup", return_tensors="pt")
    found = made.model.generate(
        **{name: asked[name] for name in ("input_ids", "attention_mask")},
        num_beams=4, num_return_sequences=4, do_sample=False, max_new_tokens=2 * asked["input_ids"].shape[1] + 8,
    )  # fmt: skip
    told = []
    for row in found:  # the likelihood of each beam, by the model itself
        with torch.inference_mode():
            scores = made.model(input_ids=asked["input_ids"], decoder_input_ids=row[None, :-1]).logits.log_softmax(-1)
        told.append(float(scores[0].gather(1, row[1:, None]).mean()))
    assert told == sorted(told, reverse=True)
    assert both[0] == [text.strip() for text in made.tokenizer.batch_decode(found, skip_special_tokens=True)]


def test_drawn_paraphrases_depend_on_the_seed_and_the_sentence_alone(tiny):
    import torch

    def drawn(seed, texts):
        return list(open_generator(f"hf:{tiny}", GeneratorSettings(number=3, top_k=5, seed=seed)).generate(texts))

    state = torch.get_rng_state()
    both = drawn(0, ["ada won the cup", "she was first"])
    assert torch.equal(torch.get_rng_state(), state)
    assert drawn(0, ["she was first"]) == both[1:]
    assert drawn(1, ["she was first"]) != both[1:]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("t5", "'t5' names no generator; write hf:PATH-OR-ID, http://HOST/v1#NAME or replay:FILE"),
        ("http://localhost/v1", "names no model; write http://HOST/v1#NAME"),
        ("hf:.", ". has no config.json; give the folder that save_pretrained wrote"),
    ],
)
def test_a_word_that_names_nothing_costs_one_sentence(word, sentence):
    if word.startswith("hf:"):
        pytest.importorskip("transformers")
    with pytest.raises((LookupError, ValueError, OSError)) as told:
        open_generator(word, GeneratorSettings())
    assert sentence in str(told.value)


# pairs --------------------------------------------------------------------------------------------------------------
def test_sentences_and_their_paraphrases_give_the_published_rows(tmp_path):
    rows = published()
    pairs = {
        row["original_id"]: {
            "id": row["original_id"],
            "premise": row["original_premise"],
            "hypothesis": row["original_hypothesis"],
            **{name: row[name] for name in ("label", "task", "rte")},
        }
        for row in rows
    }
    best = {row[f"original_{side}"]: row[side] for row in rows for side in ("premise", "hypothesis")}
    best = {text: said for text, said in best.items() if said != text} | {
        row[f"original_{side}"]: row[side]
        for row in rows
        for side in ("premise", "hypothesis")
        if row[side] != row[f"original_{side}"]
    }
    file = tmp_path / "parte.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in build_pairs(pairs.values(), best)), encoding="utf-8")
    again = list(benchmarks()["parte"]().iter_pairs(open_source(file)))
    columns = ("premise", "hypothesis", "original_premise", "original_hypothesis", "label", "rewritten", "task", "rte")
    told = {tuple(row[name] for name in columns) for row in again}
    assert {tuple(row[name] for name in columns) for row in rows} <= told
    assert Counter(row["rewritten"] for row in again) == {"premise": 2, "hypothesis": 2, "both": 2}
    assert len({row["id"] for row in again}) == 6


def test_a_folder_of_rte_is_read_with_its_labels_by_name(tmp_path):
    out = tmp_path / "rte"
    assert (
        run("build", "rte", "--source", HERE / "benchmarks_files" / "rte", "--out", out, "--allow-partial").exit_code
        == 0
    )
    pairs = read_pairs(out)
    assert {row["label"] for row in pairs} <= {"entailed", "not_entailed"}
    assert {row["rte"] for row in pairs} == {"rte1", "rte2", "rte3"}
    assert len({row["id"] for row in pairs}) == len(pairs)
    assert {"IE", "CD", "IR", "QA", "SUM", "MT", "PP", "RC"} >= {row["task"] for row in pairs}


# sheets and judges --------------------------------------------------------------------------------------------------
def items(*said):
    return collect_candidates([TEXT], [FileGenerator("a", {TEXT: said})], OverlapFilter(1, 0))[0]


ITEMS = items("She triumphed.", "=HYPERLINK(1), “quoted”, 花", "In 1990 Ada\nwon")


def test_every_form_of_a_sheet_comes_back(tmp_path):
    write_sheets(ITEMS, tmp_path)
    said = {each.item: (10.5 * place, bool(place % 2)) for place, each in enumerate(ITEMS, 1)}
    with (tmp_path / "sheet.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["item"] for row in table] == [row["item"] for row in iter_sheet(tmp_path / "sheet.jsonl")]
    assert not {"generator", "likeness", "rank", "overlap"} & set(table[0])  # judges are not told
    for row in table:
        row["similarity"], row["grammatical"] = said[row["item"]][0], "yes" if said[row["item"]][1] else "No"
    with (tmp_path / "ida.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    (tmp_path / "ben.jsonl").write_text(
        "".join(json.dumps({"item": item, "judge": "ben", "similarity": s, "grammatical": g}) + "\n" for item, (s, g) in said.items()),
        encoding="utf-8",
    )  # fmt: skip
    tasks = json.loads((tmp_path / "label_studio.json").read_text(encoding="utf-8"))
    for task in tasks:
        similarity, grammatical = said[task["data"]["item"]]
        result = [
            {"from_name": "similarity", "to_name": "paraphrase", "type": "number", "value": {"number": similarity}},
            {"from_name": "grammatical", "to_name": "paraphrase", "type": "choices", "value": {"choices": ["yes" if grammatical else "no"]}},
        ]  # fmt: skip
        task["annotations"] = [
            {"completed_by": 7, "was_cancelled": False, "result": result},
            {"completed_by": 8, "was_cancelled": True, "result": []},
        ]
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    found = merge_judgements([tmp_path / name for name in ("ida.csv", "ben.jsonl", "export.json")], said)
    assert Counter(each.judge for each in found) == {"ida": 3, "ben": 3, "7": 3}
    assert all((each.similarity, each.grammatical) == said[each.item] for each in found)


def test_a_blank_row_is_no_judgement_and_the_last_word_counts(tmp_path):
    file = tmp_path / "ida.jsonl"
    rows = [("a", 10, "no"), ("b", None, None), ("a", 90, "yes")]
    file.write_text(
        "".join(json.dumps({"item": i, "judge": "ida", "similarity": s, "grammatical": g}) + "\n" for i, s, g in rows)
    )
    assert read_judgements(file) == [Judgement("a", "ida", 90, True)]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            {"similarity": 130, "grammatical": "yes"},
            "has the similarity 130; write a number from 0 (another meaning) to 100",
        ),
        ({"similarity": "ninety", "grammatical": "yes"}, "has the similarity 'ninety'"),
        ({"similarity": True, "grammatical": "yes"}, "has the similarity True"),
        ({"similarity": None, "grammatical": "yes"}, "has the similarity None"),
        ({"similarity": 90, "grammatical": "maybe"}, "has 'maybe' for grammatical; write yes or no"),
        ({"similarity": 90, "grammatical": None}, "has None for grammatical"),
    ],
)
def test_what_is_no_judgement_is_named(tmp_path, row, sentence):
    file = tmp_path / "ida.jsonl"
    file.write_text(json.dumps({"item": "a", "judge": "ida", **row}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"ida\.jsonl: row 1") as told:
        read_judgements(file)
    assert sentence in str(told.value)


def test_two_files_of_one_judge_and_another_sheet_are_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text('{"item": "a", "judge": "ida", "similarity": 1, "grammatical": "no"}')
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    with pytest.raises(ValueError, match="both have the judgement of 'ida' on a"):
        merge_judgements(files, ["a"])
    with pytest.raises(ValueError, match="judges a, which the sheet does not have"):
        merge_judgements(files[:1], ["b"])
    with pytest.raises(ValueError, match="is given twice"):
        merge_judgements([files[0], tmp_path / "." / "one.jsonl"], ["a"])


def said(item, *similarities, grammar=(True, True, True)):
    return [Judgement(item, f"j{n}", s, g) for n, (s, g) in enumerate(zip(similarities, grammar, strict=False))]


@pytest.mark.parametrize(
    ("mine", "outcome"),
    [
        (said("a", 75, 75, 75), "not similar"),  # over 75, as the paper says, not from 75
        (said("a", 75, 75, 76), "accepted"),
        (said("a", 90, 90, 90, grammar=(True, False, True)), "accepted"),
        (said("a", 90, 90, 90, grammar=(False, False, True)), "ungrammatical"),
        (said("a", 90, 90), "too few judges"),
        ([], "too few judges"),
    ],
)
def test_the_rule(mine, outcome):
    assert [each.outcome for each in decide_verdicts(mine, ["a"])] == [outcome]


def test_one_judge_is_enough_where_one_is_asked_for_and_a_tie_on_grammar_is_no_majority():
    assert decide_verdicts(said("a", 80), ["a"], AcceptanceRule(min_judges=1))[0].outcome == "accepted"
    assert (
        decide_verdicts(said("a", 80, 80, grammar=(True, False)), ["a"], AcceptanceRule(min_judges=2))[0].outcome
        == "ungrammatical"
    )


def test_the_accepted_one_that_judges_find_most_alike_is_taken():
    made = [Paraphrase(name, TEXT, name, "g", 0.5, rank, 0.9 - rank / 10) for rank, name in enumerate("abcd", 1)]
    judged = [
        *said("a", 80, 80, 80),
        *said("b", 99, 99, 99, grammar=(False,) * 3),
        *said("c", 90, 90, 90),
        *said("d", 90, 90, 90),
    ]
    assert choose_judged(made, decide_verdicts(judged, "abcd")) == {TEXT: "c"}
    assert choose_unjudged(made) == choose_unjudged(made, 0.8) == {TEXT: "a"}
    assert choose_unjudged(made, 0.81) == {}


# agreement ----------------------------------------------------------------------------------------------------------
EXAMPLE_C = ("12332141 2...", "12332241 25.3", ".33323422 51.", "12332441 251.")  # four observers, twelve units


def units(observers):
    rows = [row.replace(" ", "") for row in observers]
    return [[int(row[place]) for row in rows if row[place] != "."] for place in range(len(rows[0]))]


def test_alpha_is_krippendorffs():
    # K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): example C, interval data; example B, binary
    assert krippendorff_alpha(units(EXAMPLE_C)) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha(units(("0100000010", "1110010000"))) == pytest.approx(0.095, abs=5e-4)


def by_definition(judged):
    """One minus observed over expected disagreement, pair by pair."""
    judged = [unit for unit in judged if len(unit) > 1]
    every = [value for unit in judged for value in unit]
    observed = sum(sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in judged) / len(
        every
    )
    expected = sum((a - b) ** 2 for a, b in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def test_alpha_is_that_of_its_definition():
    draw = Random("alpha")
    for _ in range(30):
        judged = [[draw.randint(0, 100) for _ in range(draw.randint(1, 4))] for _ in range(12)]
        assert krippendorff_alpha(judged) == pytest.approx(by_definition(judged))


def test_agreement_of_judges():
    found = measure_agreement(
        [*said("a", 80, 90, 100), *said("b", 10, 10, 40, grammar=(True, False, False)), *said("c", 50)]
    )
    assert (found.judges, found.judgements, found.items) == (3, 7, 2)
    assert found.mean_distance == pytest.approx((10 + 20 + 10 + 0 + 30 + 30) / 6)
    assert found.same_grammaticality == pytest.approx(4 / 6)
    assert measure_agreement(said("a", 80)).mean_distance is None


# the commands -------------------------------------------------------------------------------------------------------
def test_from_pairs_to_a_dataset(tmp_path):
    rows = published()[::2]  # one of each pair
    pairs = tmp_path / "pairs.jsonl"
    told = [{"id": row["id"], "premise": row["original_premise"], "hypothesis": row["original_hypothesis"], "label": row["label"],
             "task": row["task"], "rte": row["rte"]} for row in rows]  # fmt: skip
    pairs.write_text("".join(json.dumps(row) + "\n" for row in told), encoding="utf-8")
    words = tmp_path / "said.jsonl"
    every = [
        {"text": text, "paraphrase": f"Otherwise put, {text.split()[0]} {n} is {text.split()[-1]}"}
        for text in unique_sentences(told)
        for n in range(2)
    ]
    words.write_text("".join(json.dumps(row) + "\n" for row in every), encoding="utf-8")
    out = tmp_path / "mine"
    done = run("collect", "paraphrases", "propose", pairs, "--generator", f"replay:{words}", "--out", out)
    assert done.exit_code == 0, done.output
    assert (
        "4 sentences of 2 pairs: 8 paraphrases, 0 with an overlap out of bounds, 0 repeated; 8 to rate" in done.output
    )
    for judge in ("ida", "ben", "lu"):
        judged = [
            {"item": row["item"], "similarity": 90, "grammatical": "yes"} for row in iter_sheet(out / "sheet.csv")
        ]
        (tmp_path / f"{judge}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged), encoding="utf-8")
    files = [word for judge in ("ida", "ben", "lu") for word in ("--judgements", tmp_path / f"{judge}.jsonl")]
    done = run("collect", "paraphrases", "pair", out, *files, "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    assert "8 paraphrases: 8 accepted, 0 ungrammatical" in done.output
    assert (
        "agreement of 3 judges on 8 items (Krippendorff's alpha): similarity not defined, all ratings are equal"
        in done.output
    )
    assert "6 pairs of 2: premise 2, hypothesis 2, both 2" in done.output
    command = done.output.splitlines()[-1].removeprefix("next: lapsus ").split()
    done = run(*command)
    assert done.exit_code == 0 and "wrote 12 rows in 4 configs" in done.output, done.output  # each pair in default too
    short = run("collect", "paraphrases", "pair", out, *files[:4], "--out", tmp_path / "few")
    assert short.exit_code == 1 and "no pair is left" in short.output
    gone = tmp_path / "gone.jsonl"
    gone.write_text('{"id": "0.both"}\n')
    assert (
        "5 pairs of 2"
        in run("collect", "paraphrases", "pair", out, *files, "--out", tmp_path / "set", "--exclude", gone).output
    )
    done = run("collect", "paraphrases", "pair", out, "--without-judges", "--out", tmp_path / "un")
    assert "nobody rated" in done.output and (tmp_path / "un" / "parte-unjudged.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["propose", "nowhere.jsonl", "--generator", "replay:x.csv", "--out", "o"],
            "there is nothing at nowhere.jsonl",
        ),
        (["pair", "nowhere", "--without-judges", "--out", "o"], "nowhere has no pairs.jsonl; give the folder that"),
        (["pair", "nowhere", "--out", "o"], "give --judgements FILE, once for each judge, or --without-judges"),
        (["judge", "nowhere.csv", "--judge", "../ida"], "'../ida' is no file name; add --out FILE"),
    ],
)
def test_a_mistake_costs_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("collect", "paraphrases", *words)
    assert done.exit_code and sentence in done.output.splitlines()[-1] and "Traceback" not in done.output


def test_ids_to_exclude_are_read_and_a_row_without_one_is_named(tmp_path):
    file = tmp_path / "gone.jsonl"
    file.write_text('{"id": "0.both"}\n{"id": 7}\n')
    assert read_ids(file) == {"0.both", "7"}
    file.write_text('{"id": "0.both"}\n{"name": "1.both"}\n')
    with pytest.raises(ValueError, match=r"gone\.jsonl: row 2 lacks id \(it has name\)"):
        read_ids(file)


def test_a_list_in_a_cell_is_content_and_no_blank():
    with pytest.raises(InvalidJudgementError, match=r"has the similarity \[1\]"):
        parse_judgement({"item": "a", "judge": ["ida"], "similarity": [1], "grammatical": "yes"})


def test_a_file_of_pairs_that_lacks_something_is_named(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": 1, "premise": "a", "hypothesis": "", "label": "x"}')
    with pytest.raises(
        ValueError, match=r"p\.jsonl: row 1 lacks hypothesis \(it has id, premise, hypothesis, label\); give"
    ):
        read_pairs(file)
    file.write_text('{"id": 1, "premise": "a", "hypothesis": "b", "label": "x"}\n' * 2)
    with pytest.raises(ValueError, match="rows 1 and 2 have the id '1'; give each its own"):
        read_pairs(file)
