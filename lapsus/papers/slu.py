"""A small joint model of intents and slots, to select hard utterances with and to measure what noise costs.

A bidirectional LSTM reads word vectors and the letters of each word; one head names the intent from the whole
utterance, one tags each token, given its own state and the utterance's. Nothing is downloaded: it learns from the
training split alone, in minutes on two CPU cores. The extra `papers` installs torch.

>>> rows = [{"tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"}] * 8
>>> model = train(rows, epochs=30)
>>> model.predict([["play", "jazz"]])
[{'intent': 'play', 'tags': ['O', 'B-genre']}]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from lapsus.papers.training import group_by_length, limit_threads, train_best_epoch, warmup_then_decay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

PAD, UNKNOWN = 0, 1
NO_TAG = -1
INTENT_WEIGHT = 4.0  # weighted because an utterance has one intent but about ten tags


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words and letters of the training split by frequency, its tags and intents by name."""

    words: tuple[str, ...]
    letters: tuple[str, ...]
    tags: tuple[str, ...]
    intents: tuple[str, ...]

    @classmethod
    def from_examples(cls, examples: Sequence[Mapping[str, Any]]) -> Vocabulary:
        """Collect the vocabulary of `examples`."""
        words = Counter(token.lower() for row in examples for token in row["tokens"])
        letters = Counter("".join(words.elements()))
        return cls(
            words=("<pad>", "<unknown>", *sorted(words, key=lambda word: (-words[word], word))),
            letters=("<pad>", "<unknown>", *sorted(letters, key=lambda letter: (-letters[letter], letter))),
            tags=tuple(sorted({tag for row in examples for tag in row["tags"]})),
            intents=tuple(sorted({row["intent"] for row in examples})),
        )


@dataclass(frozen=True, slots=True)
class UtteranceBatch:
    """Utterances as padded tensors: words (batch, tokens), letters (batch, tokens, letters), lengths (batch)."""

    words: Tensor
    letters: Tensor
    lengths: Tensor


class SluNetwork(nn.Module):
    """The joint network: letters by convolution, words by lookup, context by a bidirectional LSTM."""

    def __init__(
        self, vocabulary: Vocabulary, word_size: int = 100, letter_size: int = 50, state_size: int = 150
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(len(vocabulary.words), word_size, padding_idx=PAD)
        self.letters = nn.Embedding(len(vocabulary.letters), 25, padding_idx=PAD)
        self.spelling = nn.Conv1d(25, letter_size, kernel_size=3, padding=1)
        self.context = nn.LSTM(word_size + letter_size, state_size, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.4)
        self.weight = nn.Linear(2 * state_size, 1)  # attention weight of each token, for the utterance's vector
        self.intent = nn.Linear(2 * state_size, len(vocabulary.intents))
        self.tag = nn.Linear(4 * state_size, len(vocabulary.tags))

    def forward(self, batch: UtteranceBatch) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of intents (batch, intents) and of tags (batch, tokens, tags)."""
        states, utterance, _ = self.encode(batch)
        both = torch.cat([states, utterance[:, None].expand_as(states)], dim=2)
        return (
            self.intent(self.dropout(utterance)).log_softmax(1),
            self.tag(self.dropout(both)).log_softmax(2),
        )

    def encode(self, batch: UtteranceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the states of the tokens, the vector of each utterance, and where there is no token."""
        rows, tokens, width = batch.letters.shape
        letters = self.letters(batch.letters).reshape(rows * tokens, width, -1).transpose(1, 2)
        blank = batch.letters.reshape(rows * tokens, 1, width) == PAD  # padding must not change a word's vector
        spelling = torch.relu(self.spelling(letters)).masked_fill(blank, 0).amax(2).reshape(rows, tokens, -1)
        inputs = self.dropout(torch.cat([self.words(batch.words), spelling], dim=2))
        packed = pack_padded_sequence(inputs, batch.lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.context(packed)[0], batch_first=True, total_length=tokens)
        padded = torch.arange(tokens)[None, :, None] >= batch.lengths[:, None, None]
        utterance = (states * self.weight(states).masked_fill(padded, float("-inf")).softmax(1)).sum(1)
        return states, utterance, padded


class StackNetwork(SluNetwork):
    """Names an intent at each token first, and the tagger reads it.

    In the manner of Qin et al., A Stack-Propagation Framework with Token-Level Intent Detection for Spoken Language
    Understanding (EMNLP 2019), with the reader of `SluNetwork` in place of its encoder: the utterance's intent is what
    its tokens agree on.
    """

    def __init__(
        self, vocabulary: Vocabulary, word_size: int = 100, letter_size: int = 50, state_size: int = 150
    ) -> None:
        super().__init__(vocabulary, word_size, letter_size, state_size)
        intents = len(vocabulary.intents)
        self.intent = nn.Linear(4 * state_size, intents)
        self.tag = nn.Linear(4 * state_size + intents, len(vocabulary.tags))

    def forward(self, batch: UtteranceBatch) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of intents (batch, intents) and of tags (batch, tokens, tags)."""
        states, utterance, padded = self.encode(batch)
        both = self.dropout(torch.cat([states, utterance[:, None].expand_as(states)], dim=2))
        at_tokens = self.intent(both).log_softmax(2)
        intent_scores = at_tokens.masked_fill(padded, 0).sum(1) / batch.lengths[:, None]
        tags = self.tag(torch.cat([both, at_tokens.exp()], dim=2))
        return intent_scores.log_softmax(1), tags.log_softmax(2)


NETWORKS: dict[str, type[SluNetwork]] = {"joint": SluNetwork, "stack": StackNetwork}


@dataclass(frozen=True, slots=True)
class SluModel:
    """A trained model: `predict` gives frames (intent and tags), `compute_losses` the loss of known frames."""

    vocabulary: Vocabulary
    network: SluNetwork

    def predict(self, utterances: Sequence[Sequence[str]], batch_size: int = 256) -> list[dict[str, Any]]:
        """Return `{"intent", "tags"}` for each list of tokens, one tag per token."""
        tags, intents = self.vocabulary.tags, self.vocabulary.intents
        frames: list[dict[str, Any]] = []
        for intent, tag, tokens in self._run_network(utterances, batch_size):
            best = tag[: len(tokens)].argmax(1).tolist()
            frames.append({"intent": intents[int(intent.argmax())], "tags": [tags[i] for i in best]})
        return frames

    def compute_losses(self, examples: Sequence[Mapping[str, Any]], batch_size: int = 256) -> list[float]:
        """Return -log p(intent, tags | tokens) of each example; a label never seen in training costs infinity."""
        tag_ids, intent_ids = _build_index(self.vocabulary.tags), _build_index(self.vocabulary.intents)
        losses = []
        outputs = self._run_network([row["tokens"] for row in examples], batch_size)
        for row, (intent, tag, _) in zip(examples, outputs, strict=True):
            if row["intent"] in intent_ids and all(name in tag_ids for name in row["tags"]):
                tags = [tag[i, tag_ids[name]] for i, name in enumerate(row["tags"])]
                losses.append(-float(sum(tags, intent[intent_ids[row["intent"]]])))
            else:
                losses.append(float("inf"))
        return losses

    def save(self, path: str | PathLike[str]) -> None:
        """Write vocabulary and weights to one file."""
        kind = next(name for name, network in NETWORKS.items() if type(self.network) is network)
        state = {"network": kind, "vocabulary": asdict(self.vocabulary), "weights": self.network.state_dict()}
        torch.save(state, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SluModel:
        """Read what `save` wrote; only tensors and plain values are unpickled."""
        state = torch.load(path, weights_only=True)
        vocabulary = Vocabulary(**{name: tuple(values) for name, values in state["vocabulary"].items()})
        network = NETWORKS[state.get("network", "joint")](vocabulary)  # early files name none
        network.load_state_dict(state["weights"])
        return cls(vocabulary, network.eval())

    @torch.no_grad()
    def _run_network(
        self, utterances: Sequence[Sequence[str]], batch_size: int
    ) -> Iterator[tuple[Tensor, Tensor, Sequence[str]]]:
        encode = _make_encoder(self.vocabulary)
        self.network.eval()
        with limit_threads(1):
            for start in range(0, len(utterances), batch_size):
                part = utterances[start : start + batch_size]
                intents, tags = self.network(collate([encode(tokens) for tokens in part]))
                yield from zip(intents, tags, part, strict=True)


def train(
    examples: Sequence[Mapping[str, Any]],
    dev: Sequence[Mapping[str, Any]] = (),
    seed: int = 0,
    *,
    network: str = "joint",
    epochs: int = 12,
    batch_size: int = 32,
    rate: float = 2e-3,
) -> SluModel:
    """Train on rows of `tokens`, `tags` and `intent`; keep the weights of the epoch with most of `dev` right.

    The same rows and seed give the same weights: it runs on one thread and leaves the caller's random state alone.
    `network` is "joint", or "stack" whose tagger reads the intent.
    """
    if network not in NETWORKS:
        raise ValueError(f"network is {network!r}; choose one of {', '.join(NETWORKS)}")
    if not examples:
        raise ValueError("no examples to train on: give at least one row of tokens, tags and intent")
    vocabulary = Vocabulary.from_examples(examples)
    encode, tag_ids, intent_ids = (
        _make_encoder(vocabulary),
        _build_index(vocabulary.tags),
        _build_index(vocabulary.intents),
    )
    encoded = [encode(row["tokens"]) for row in examples]
    tags = [torch.tensor([tag_ids[tag] for tag in row["tags"]] or [NO_TAG]) for row in examples]
    intents = torch.tensor([intent_ids[row["intent"]] for row in examples])
    rare = torch.tensor([0.0, 0.0, *_mask_rates(vocabulary, examples)])
    rng = Random(f"slu/{seed}")
    lengths = [len(row["tokens"]) for row in examples]
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        model = SluModel(vocabulary, NETWORKS[network](vocabulary))
        optimizer = torch.optim.Adam(model.network.parameters(), lr=rate)
        steps = epochs * -(-len(lengths) // batch_size)
        schedule = warmup_then_decay(optimizer, steps, warmup=0)

        def train_epoch() -> None:
            for rows in group_by_length(lengths, batch_size, rng):
                batch = collate([encoded[i] for i in rows])
                unseen = torch.rand(batch.words.shape) < rare[batch.words]
                batch = UtteranceBatch(batch.words.masked_fill(unseen, UNKNOWN), batch.letters, batch.lengths)
                intent, tag = model.network(batch)
                gold = pad_sequence([tags[i] for i in rows], batch_first=True, padding_value=NO_TAG)
                loss = INTENT_WEIGHT * nn.functional.nll_loss(
                    intent, intents[rows], reduction="sum"
                ) + nn.functional.nll_loss(tag.flatten(0, 1), gold.flatten(), ignore_index=NO_TAG, reduction="sum")
                optimizer.zero_grad()
                (loss / len(rows)).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.network.parameters(), 5.0)
                optimizer.step()
                schedule.step()

        train_best_epoch(model.network, epochs, train_epoch, lambda: _count_correct(model, dev))
    return model


def collate(encoded: Sequence[tuple[Tensor, Tensor]]) -> UtteranceBatch:
    """Pad encoded utterances to one batch."""
    width = max(letters.shape[1] for _, letters in encoded)
    return UtteranceBatch(
        words=pad_sequence([words for words, _ in encoded], batch_first=True, padding_value=PAD),
        letters=pad_sequence(
            [nn.functional.pad(letters, (0, width - letters.shape[1])) for _, letters in encoded], batch_first=True
        ),
        lengths=torch.tensor([len(words) for words, _ in encoded]),
    )


def _make_encoder(vocabulary: Vocabulary) -> Any:
    words, letters = _build_index(vocabulary.words), _build_index(vocabulary.letters)

    def encode(tokens: Sequence[str]) -> tuple[Tensor, Tensor]:
        # an empty utterance is encoded as one unknown word, and gets no tag
        lower = [token.lower() for token in tokens] or [""]
        width = max(1, *map(len, lower))
        letter_ids = [[letters.get(c, UNKNOWN) for c in token] + [PAD] * (width - len(token)) for token in lower]
        return torch.tensor([words.get(token, UNKNOWN) for token in lower]), torch.tensor(letter_ids)

    return encode


def _build_index(names: Sequence[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


def _mask_rates(vocabulary: Vocabulary, examples: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return how often to mask each word in training: rare words more often, to learn the use of context."""
    counts = Counter(token.lower() for row in examples for token in row["tokens"])
    return [0.5 / (0.5 + counts[word]) for word in vocabulary.words[2:]]


def _count_correct(model: SluModel, rows: Sequence[Mapping[str, Any]]) -> int:
    frames = model.predict([row["tokens"] for row in rows])
    return sum(
        frame["intent"] == row["intent"] and frame["tags"] == list(row["tags"])
        for frame, row in zip(frames, rows, strict=True)
    )
