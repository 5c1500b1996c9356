"""P̂aRTE's two models on word vectors: vectors are read as they stand, sides are pooled as the paper says, both learn."""

from __future__ import annotations

from itertools import product

import pytest

torch = pytest.importorskip("torch")

from lapsus.papers import vector_pairs  # noqa: E402 - torch first
from lapsus.papers.vector_pairs import (  # noqa: E402 - likewise  # noqa: E402 - likewise
    MOST_WORDS,
    BagOfWords,
    BiLstm,
    PieceVectors,
    TextVectors,
    VectorPairNetwork,
    train,
)

WORDS = ("won", "lost", "ada", "ben", "cup", "race")
VECTORS = TextVectors(
    8, {word: torch.nn.functional.one_hot(torch.tensor(n), 8).float() for n, word in enumerate(WORDS)}
)
ROWS = [
    (f"{who} {did} the {what}", f"the {what}: {who} {other}", "entailed" if did == other else "not_entailed")
    for who, did, what, other in product(("ada", "ben"), ("won", "lost"), ("cup", "race"), ("won", "lost"))
] * 3


@pytest.mark.parametrize("kind", ["bag", "lstm"])
def test_both_learn_what_the_two_sides_have_in_common(kind):
    model = train(ROWS, VECTORS, ROWS[:16], kind=kind, epochs=12)
    assert model.predict([row[:2] for row in ROWS[:16]]) == [row[2] for row in ROWS[:16]]
    assert model.predict([]) == []
    assert set(model.predict([("", ""), ("unheard of", "🦜")])) <= {"entailed", "not_entailed"}


@pytest.mark.parametrize("kind", ["bag", "lstm"])
def test_the_seed_decides_and_the_caller_keeps_its_state(kind):
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    first, again, other = (train(ROWS[:8], VECTORS, seed=seed, kind=kind, epochs=1) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads
    weights = [list(model.network.parameters()) for model in (first, again, other)]
    assert all(map(torch.equal, weights[0], weights[1]))
    assert not all(map(torch.equal, weights[0], weights[2]))


@pytest.mark.parametrize("side", [BagOfWords(8), BiLstm(8), BiLstm(8, "mean")])
def test_a_side_does_not_depend_on_what_it_is_padded_with(side):
    texts = [VECTORS.lookup(["ada", "won"]), VECTORS.lookup(["the", "race", "ben", "lost", "cup"])]
    alone = [side(text[None], torch.tensor([len(text)]))[0] for text in texts]
    both = side(torch.nn.utils.rnn.pad_sequence(texts, batch_first=True), torch.tensor([2, 5]))
    assert torch.allclose(torch.stack(alone), both, atol=1e-6)


def test_sides_are_pooled_as_the_paper_says():
    text = VECTORS.lookup(["ada", "won", "won"])
    assert torch.allclose(BagOfWords(8)(text[None], torch.tensor([3]))[0], text.mean(0))
    most, mean = BiLstm(8), BiLstm(8, "mean")
    mean.load_state_dict(most.state_dict())
    states = most.read(text[None])[0][0]
    assert states.shape == (3, 128)  # 64 units each way
    assert torch.allclose(most(text[None], torch.tensor([3]))[0], states.amax(0))
    assert torch.allclose(mean(text[None], torch.tensor([3]))[0], states.mean(0), atol=1e-6)
    linear = [
        tuple(each.weight.shape) for each in VectorPairNetwork(most, 2).decide if isinstance(each, torch.nn.Linear)
    ]
    assert linear == [(128, 512), (128, 128), (2, 128)]  # appendix A: four times the size into the size


def test_what_comes_after_fifty_words_is_not_read():
    long = "ada " * MOST_WORDS
    first, second = vector_pairs._lookup_pair(VECTORS, (f"{long} won", f"won {long}"))
    assert torch.equal(first, VECTORS.lookup(["ada"] * 50))
    assert torch.equal(second, VECTORS.lookup(["won"] + ["ada"] * 49))


# vectors ------------------------------------------------------------------------------------------------------------
def test_a_file_of_vectors_is_read_as_it_stands(tmp_path):
    file = tmp_path / "glove.txt"
    file.write_text(
        "The 1 2\nthe 3 4\n. . 5 6\nrare 7 8\n", encoding="utf-8"
    )  # a word may hold spaces, as in GloVe 840B
    vectors = TextVectors.read(file, limit=3)
    assert vectors.lookup(["The", "THE", "rare"]).tolist() == [[1, 2], [3, 4], [0, 0]]
    file.write_text("2 3\nada 1 2 3\nben 4 5 6\n", encoding="utf-8")  # word2vec says first how many there are
    assert TextVectors.read(file).lookup(["ben"]).tolist() == [[4, 5, 6]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ada 1 2\nben 1\n", "line 2: has 1 numbers, line 1 has 2; get the file again"),
        ("ada 1 2\nben one two\n", "line 2: is no word with numbers; get the file again"),
        ("", "holds no vectors; give a text file"),
    ],
)
def test_a_broken_file_of_vectors_is_named(tmp_path, text, sentence):
    file = tmp_path / "glove.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"glove\.txt") as told:
        TextVectors.read(file)
    assert sentence in str(told.value)


def test_wordllama_is_read_out_of_its_package_without_its_code(tmp_path, monkeypatch):
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    home = tmp_path / "wordllama"
    for folder in ("tokenizers", "weights"):
        (home / folder).mkdir(parents=True)
    (home / "__init__.py").write_text("raise AssertionError('its code is not run')")
    pieces = Tokenizer(models.WordPiece({"<unk>": 0, "won": 1, "##der": 2}, unk_token="<unk>"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    pieces.save(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    save_file(
        {"embedding.weight": torch.tensor([[9.0, 9], [1, 2], [3, 6]]).half()},
        home / "weights" / "l2_supercat_256.safetensors",
    )
    monkeypatch.syspath_prepend(tmp_path)
    vectors = PieceVectors.load_wordllama()
    assert vectors.lookup(["won", "wonder", ""]).tolist() == [[1, 2], [2, 4], [0, 0]]
    assert vectors.lookup([]).shape == (0, 2) and vectors.size == 2


def test_without_wordllama_the_cure_is_said(monkeypatch):
    import lapsus.core.imports

    monkeypatch.setattr(lapsus.core.imports, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"^wordllama is not installed; pip install --no-deps wordllama==0"):
        PieceVectors.load_wordllama()
