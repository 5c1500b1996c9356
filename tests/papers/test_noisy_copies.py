"""A training split with noisy copies, and the light network for pairs that is trained on it."""

from __future__ import annotations

import pytest
from datasets import ClassLabel, Dataset, Features, Value

from lapsus.papers.noisy_copies import add_noisy_copies
from lapsus.perturbations import ZhHomophone

ROWS = [
    {"id": "a", "sentence1": "怎么还款", "sentence2": "如何还款", "label": 1},
    {"id": "b", "sentence1": "花呗怎么提额", "sentence2": "怎么退款", "label": 0},
]
TEXT = Value("string")
FEATURES = Features({"id": TEXT, "sentence1": TEXT, "sentence2": TEXT, "label": ClassLabel(names=["no", "yes"])})
BOTH = ("sentence1", "sentence2")


def test_each_row_has_one_copy_with_its_label_and_every_side_noisy():
    split = Dataset.from_list(ROWS, features=FEATURES)
    made = add_noisy_copies(split, ZhHomophone(rate=1.0), text=BOTH)
    assert made.features == split.features
    assert made.to_list()[:2] == ROWS
    assert [row["id"] for row in made] == ["a", "b", "a-noisy", "b-noisy"]
    for row, copy in zip(ROWS, made.to_list()[2:], strict=True):
        assert copy["label"] == row["label"]
        assert all(copy[side] != row[side] and len(copy[side]) == len(row[side]) for side in BOTH)


def test_copies_depend_on_the_seed_and_the_id_and_not_on_the_order():
    split = Dataset.from_list(ROWS, features=FEATURES)
    copies = [
        {row["id"]: row for row in add_noisy_copies(rows, ZhHomophone(rate=0.5), text=BOTH, seed=seed)}
        for rows, seed in ((split, 0), (split.select([1, 0]), 0), (split, 1))
    ]
    assert copies[0] == copies[1]
    assert copies[0] != copies[2]


def test_the_light_network_learns_pairs_and_does_not_see_padding():
    pytest.importorskip("torch")
    from lapsus.papers import pair_model

    pairs = [("怎么还款", "如何还款", "same"), ("怎么还款", "怎么退款", "other"), ("怎" * 9, "么" * 7, "other")] * 12
    model = pair_model.train(pairs, epochs=15, rate=5e-3, network=pair_model.ConvolutionNetwork, batch_size=16)
    asked = [(first, second) for first, second, _ in pairs[:3]]
    assert model.predict(asked) == ["same", "other", "other"]
    assert [model.predict([one])[0] for one in asked] == model.predict(asked)
    encode = pair_model._make_encoder(model.vocabulary, model.tokenize)
    alone = model.network(*pair_model._pad_sides([tuple(map(encode, asked[0]))]))
    together = model.network(*pair_model._pad_sides([tuple(map(encode, one)) for one in asked]))
    assert alone[0].tolist() == pytest.approx(together[0].tolist(), abs=1e-4)
