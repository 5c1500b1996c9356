"""NANO: what is trained on, in which form, by which loss, and what comes back from a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from scipy.stats import kendalltau

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from lapsus.papers.nano import (  # noqa: E402 - torch first  # noqa: E402 - torch first
    Nano,
    RatedTranslation,
    Sentence,
    construct_ratings,
    finetune,
    kendall_agreement,
    make_examples,
    make_tag_examples,
    pretrain,
    read_ratings,
    write_ratings,
)
from lapsus.papers.nano.bags import make_bag_encoder  # noqa: E402 - torch first
from lapsus.papers.nano.characters import LONGEST, make_character_encoder  # noqa: E402 - torch first
from lapsus.papers.nano.first_token import (  # noqa: E402 - torch first
    EncoderDecoderConfig,
    FirstTokenRegressor,
    TrainingConfig,
    fit,
    load_checkpoint,
    make_small_t5,
    train_byte_pieces,
)
from lapsus.perturbations.semantic.edits import find_semantic_edit  # noqa: E402 - torch first

SENTENCES = [
    Sentence(f"{text} {number}", language, region)
    for number in range(500)
    for text, language, region in (
        ("o trem", "pt", "BR"),
        ("o comboio", "pt", "PT"),
        ("火车", "zh", "CN"),
        ("a train", "en", ""),
    )
]
TINY = EncoderDecoderConfig(size=16, layers=1, heads=2)


def parts(example):
    text, label = example
    sentence, _, tag = text.removeprefix("candidate: ").partition(" language: ")
    return sentence, tag, label


@pytest.mark.parametrize(("balance", "share"), [(0, 0.0), (1, 1 / 2), (2, 2 / 3)])
def test_lambda_is_the_ratio_of_dialects_to_languages_and_tags_are_right_half_the_time(balance, share):
    made = [parts(each) for each in make_tag_examples(SENTENCES, balance=balance, seed=1)]
    regional = [tag for sentence, tag, _ in made if not sentence.startswith("a train") and not tag.endswith("-any")]
    assert abs(len(regional) / 1500 - share) < 0.04
    assert abs(sum(label for *_, label in made) / len(made) - 0.5) < 0.03
    assert all(tag.endswith("-any") for sentence, tag, _ in made if sentence.startswith("a train"))


def test_a_right_tag_is_the_sentences_own_and_a_wrong_one_any_other():
    own = {
        sentence.text: {f"{sentence.language}-any", f"{sentence.language}-{sentence.region}"} for sentence in SENTENCES
    }
    seen = Counter()
    for sentence, tag, label in map(parts, make_tag_examples(SENTENCES, seed=2)):
        assert (tag in own[sentence]) == bool(label)
        seen[tag] += not label
    assert set(seen) == {"pt-BR", "pt-PT", "zh-CN", "pt-any", "zh-any", "en-any"}


def test_tags_depend_on_the_seed_alone():
    assert (
        make_tag_examples(SENTENCES, seed=3)
        == make_tag_examples(SENTENCES, seed=3)
        != make_tag_examples(SENTENCES, seed=4)
    )


def test_a_sentence_that_comes_several_times_has_its_tag_drawn_anew():
    made = make_tag_examples(SENTENCES, copies=3, seed=1)
    assert made[: len(SENTENCES)] == make_tag_examples(SENTENCES, seed=1)
    assert [parts(each)[0] for each in made] == [each.text for each in SENTENCES] * 3
    tags = zip(*(made[start : start + len(SENTENCES)] for start in range(0, len(made), len(SENTENCES))), strict=True)
    assert sum(len(set(of_one)) > 1 for of_one in tags) > len(SENTENCES) / 2


@pytest.mark.parametrize(
    ("sentences", "options", "said"),
    [
        (SENTENCES, {"balance": -1}, "balance is -1"),
        (SENTENCES, {"positive": 2}, "positive is 2"),
        (SENTENCES, {"copies": 0}, "copies is 0"),
        (SENTENCES[:1], {"balance": 0}, "the sentences have 1 language"),
        ([each for each in SENTENCES if each.language != "pt"], {}, "the sentences have 1 dialect"),
    ],
)
def test_sentences_that_give_no_wrong_tag_are_refused(sentences, options, said):
    with pytest.raises(ValueError, match=said):
        make_tag_examples(sentences, **options)


def test_ratings_are_read_as_wmt_writes_them(tmp_path):
    file = tmp_path / "da.csv"
    file.write_text(
        "lp,src,mt,ref,raw,annotators\nen-pt,the train,o trem,o comboio,85,2\nen-zh,the train,火车,火车,0,1\n"
    )
    found = read_ratings(file)
    assert found == [
        RatedTranslation("o trem", "o comboio", "the train", "pt", 0.85),
        RatedTranslation("火车", "火车", "the train", "zh", 0.0),
    ]
    write_ratings(tmp_path / "again.csv", found)
    assert read_ratings(tmp_path / "again.csv") == found
    file.write_text("lp,src,mt,ref,score\nen-pt,the train,o trem,o comboio,-1.2\n")
    assert read_ratings(file)[0].rating == -1.2


@pytest.mark.parametrize(
    ("row", "said"),
    [("en-pt,a,b,c,101", "raw rating 101"), ("enpt,a,b,c,50", "the lp 'enpt'"), ("en-pt,a,b,c,good", "the raw 'good'")],
)
def test_a_rating_that_is_none_is_named(tmp_path, row, said):
    file = tmp_path / "da.csv"
    file.write_text(f"lp,src,mt,ref,raw\n{row}\n")
    with pytest.raises((TypeError, ValueError), match=said):
        read_ratings(file)


def test_the_three_inputs_of_the_paper():
    rated = [RatedTranslation("o trem", "o comboio", "the train", "pt", 0.5)]
    assert make_examples(rated, "within") == [("candidate: o trem reference: o comboio language: pt-any", 0.5)]
    assert make_examples(rated, "qe") == [("candidate: o trem source: the train language: pt-any", 0.5)]
    told = "candidate: o trem reference: o comboio source: the train language: pt-any"
    assert make_examples(rated, "qe-ref") == [(told, 0.5)]


def test_constructed_ratings_order_copy_free_changed_and_other():
    rows = [
        {
            "id": "1",
            "source": "",
            "base": "A loja abre antes das nove.",
            "dialect": "A tenda abre antes das nove horas.",
        },
        {"id": "2", "source": "", "base": "O gato preto dorme.", "dialect": "O gato preto está a dormir."},
    ]
    found = [each for each in construct_ratings(rows, "pt") if "abre" in each.reference]
    by_rating = {each.rating: each for each in found}
    assert sorted(by_rating) == [0.0, 0.2, 0.3, 0.9, 1.0]
    reference, free = by_rating[1.0].reference, by_rating[0.9].candidate
    assert {reference, free} == {rows[0]["base"], rows[0]["dialect"]}
    assert by_rating[0.3].candidate == find_semantic_edit(reference, "pt", key="1").text != reference
    assert by_rating[0.2].candidate == find_semantic_edit(free, "pt", key="1").text != free
    assert "gato" in by_rating[0.0].candidate
    assert not {
        each.rating for each in construct_ratings([{"id": "1", "source": "", "base": rows[0]["base"]}] * 2, "pt")
    } & {
        0.9,
        0.2,
    }


@pytest.fixture(scope="module")
def begun():
    return make_small_t5(train_byte_pieces([each.text for each in SENTENCES[:8]], 400), TINY, seed=1)


def test_a_number_is_the_first_decoded_logit_of_the_last_entry(begun):
    texts = ["o trem 1", "candidate: a train language: en-any"]
    for text, found in zip(texts, begun.predict(texts), strict=True):
        ids = begun.tokenizer(text, return_tensors="pt")["input_ids"]
        assert ids[0, -1] == begun.tokenizer.eos_token_id
        with torch.no_grad():
            logits = begun.model(input_ids=ids, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits
        assert abs(float(logits[0, 0, len(begun.tokenizer) - 1]) - found) < 1e-5


def test_texts_of_any_bytes_are_read_whole_and_never_as_the_number(begun):
    text = "o trem ☃ <number> 火车"
    tokens = begun.encode([text])[0]
    assert begun.tokenizer.decode(tokens[:-1]) == text


def test_the_loss_is_the_root_of_the_mean_square_and_the_beginning_stays(begun):
    rows = [("o trem", 1.0), ("a train", 0.0)]
    losses = []
    before = begun.predict(["o trem", "a train"])
    still = TrainingConfig(steps=1, batch_size=2, learning_rate=1e-9)
    plain = make_small_t5(begun.tokenizer, EncoderDecoderConfig(size=16, layers=1, heads=2, dropout=0.0), seed=1)
    fit(plain, rows, still, log=lambda *told: losses.append(told[1]))
    wanted = (
        sum((a - b) ** 2 for a, (_, b) in zip(plain.predict(["o trem", "a train"]), rows, strict=True)) / 2
    ) ** 0.5
    assert abs(losses[0] - wanted) < 1e-5
    fit(begun, rows, TrainingConfig(steps=5, batch_size=2, learning_rate=1e-2))
    assert begun.predict(["o trem", "a train"]) == before


def test_the_same_seed_gives_the_same_weights_and_leaves_the_callers_draws_alone(begun):
    rows = [(each.text, float(len(each.text) % 2)) for each in SENTENCES[:40]]
    torch.manual_seed(5)
    state = torch.get_rng_state()
    made = [
        fit(begun, rows, TrainingConfig(steps=6, learning_rate=1e-2), seed=seed).predict(["o trem"])
        for seed in (1, 1, 2)
    ]
    assert made[0] == made[1] != made[2]
    assert torch.equal(state, torch.get_rng_state())


def test_the_weights_that_agree_best_are_kept(begun):
    heard = []

    def dev(model):
        heard.append(model.predict(["o trem"]))
        return [0.1, 0.9, 0.5][len(heard) - 1]

    made = fit(begun, [("o trem", 1.0)] * 4, TrainingConfig(steps=3, learning_rate=1e-2, eval_every=1), dev=dev)
    assert made.predict(["o trem"]) == heard[1]


def test_dev_that_would_never_be_asked_is_refused(begun):
    with pytest.raises(ValueError, match="dev is given but never asked: set eval_every"):
        fit(begun, [("o trem", 1.0)], TrainingConfig(steps=1), dev=lambda _: 0.0)


@pytest.mark.parametrize("append_eos", [True, False])
def test_a_saved_model_reads_what_it_read_before(tmp_path, begun, append_eos):
    model = replace(begun, append_eos=append_eos)
    model.save(tmp_path / "model")
    loaded = FirstTokenRegressor.load(tmp_path / "model")
    assert loaded.encode(["o trem"]) == model.encode(["o trem"])
    assert loaded.predict(["o trem"]) == pytest.approx(model.predict(["o trem"]), abs=1e-6)


def test_both_phases_and_back_from_a_folder(tmp_path, begun):
    first = pretrain(begun, SENTENCES[:40], TrainingConfig(steps=4))
    rated = [
        RatedTranslation("o trem", "o comboio", "the train", "pt", 0.9),
        RatedTranslation("o gato", "o comboio", "the train", "pt", 0.0),
    ] * 4
    made = finetune(first, rated, TrainingConfig(steps=4, eval_every=2), input_format="qe", dev=rated)
    made.save(tmp_path / "nano")
    read = Nano.load(tmp_path / "nano")
    asked = (["o trem"], None, ["the train"], ["pt-PT"])
    assert read.input_format == "qe" and read.score(*asked) == pytest.approx(made.score(*asked), abs=1e-6)
    assert made.score(*asked) != made.score(["o trem"], None, ["the train"], ["pt-BR"])
    with pytest.raises(FileNotFoundError, match=r"has no first_token\.json"):
        FirstTokenRegressor.load(tmp_path)
    with pytest.raises(ValueError, match="input_format is 'both': choose one of within, qe, qe-ref"):
        finetune(first, rated, input_format="both")


def test_a_checkpoint_of_transformers_is_the_beginning(tmp_path, begun):
    begun.model.save_pretrained(tmp_path)
    begun.tokenizer.save_pretrained(tmp_path)
    assert load_checkpoint(str(tmp_path)).predict(["o trem"]) == pytest.approx(begun.predict(["o trem"]), abs=1e-6)


@pytest.mark.parametrize(
    ("begun", "training"),
    [
        (make_bag_encoder(buckets=2048, size=8), TrainingConfig(steps=80, learning_rate=1e-2)),
        (
            make_character_encoder(EncoderDecoderConfig(8, 1, 1), buckets=2048),
            TrainingConfig(steps=80, learning_rate=1e-2),
        ),
    ],
)
def test_small_ones_learn_the_tag_of_a_dialect(begun, training):
    made = pretrain(begun, SENTENCES[:1200], training, balance=2.0)
    held = [f"candidate: {text} 999 language: {tag}" for text in ("o trem", "o comboio") for tag in ("pt-BR", "pt-PT")]
    own, wrong, other, right = made.predict(held)
    assert own > wrong and right > other


def test_bags_compare_words_by_part():
    model = make_bag_encoder(buckets=4096, size=8)
    one, same, other = model.encode(["candidate: o trem", "candidate: O trem", "reference: o trem"])
    assert one == same and [unit - 4096 for unit in other] == one
    assert model.predict(["candidate: a b reference: c"]) != model.predict(["candidate: c reference: a b"])


TEXTS = [
    "candidate: o trem partiu reference: o comboio language: pt-any",
    "candidate: 火车 source: the train language: zh-TW",
    "candidate:  reference: o comboio language: pt-any",
    "candidate: o trem chegou às nove horas da manhã language: pt-BR",
]


def test_what_is_read_beside_a_text_does_not_change_its_number():
    model = make_character_encoder(EncoderDecoderConfig(16, 2, 2), buckets=512)
    with torch.no_grad():
        for number, weight in enumerate(model.model.parameters()):  # as after training: no bias is 0
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(number)))
    together = model.predict(TEXTS)
    assert together == pytest.approx([model.predict([text])[0] for text in TEXTS], rel=1e-5, abs=1e-5)
    assert len({round(number, 4) for number in together}) == len(TEXTS)
    assert model.predict([]) == []


def test_characters_read_parts_in_any_order_words_in_theirs_and_not_without_end():
    model = make_character_encoder(EncoderDecoderConfig(16, 2, 2), buckets=512)
    one, turned, other, long, longer = model.predict(
        [
            "candidate: a b c reference: c d",
            "reference: c d candidate: a b c",
            "candidate: b a c reference: c d",
            "candidate: " + "a " * LONGEST,
            "candidate: " + "a " * (LONGEST + 1),
        ]
    )
    assert one == pytest.approx(turned, abs=1e-6) and one != pytest.approx(other, abs=1e-6) and long == longer


def test_characters_find_what_was_copied():
    model = make_character_encoder(EncoderDecoderConfig(16, 1, 2), buckets=512)
    seen = []
    model.model.alignments[0].differ.register_forward_hook(lambda _, given, __: seen.append(given[0][..., -1]))
    model.predict(["candidate: o trem parte reference: parte o comboio"])
    with_itself = seen[0][0]
    assert with_itself.argmin() == 1 and with_itself[1] < 0.9  # o, parte have themselves; trem has nothing
    assert with_itself.max() <= 1 + 1e-5


def test_agreement_is_kendalls(begun):
    rated = [
        RatedTranslation(text, "o trem", "", "pt", number)
        for number, text in enumerate(("a", "o trem", "火车", "o", "comboio"))
    ]
    made = Nano(begun)
    wanted = kendalltau(begun.predict([text for text, _ in make_examples(rated, "within")]), range(5)).statistic
    assert kendall_agreement(made, rated) == pytest.approx(wanted)
    assert kendall_agreement(made, rated[:1] * 3) == 0.0
