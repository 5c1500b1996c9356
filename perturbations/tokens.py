"""Edits of tokens and their BIO tags: nothing an operator does may break, lose or invent a slot.

Tokens are perturbed as the text they make when joined by spaces, so the same edits replay text and tokens:

>>> tokens, tags = ["find", "new", "york"], ["O", "B-city", "I-city"]
>>> apply_tokens(tokens, [Edit(8, 8, " like")]), apply_tags(tokens, tags, [Edit(9, 13, "yo rk")])
(['find', 'new', 'like', 'york'], ['O', 'B-city', 'I-city', 'I-city'])
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from lapsus.core import bio
from lapsus.core.edits import Edit, Span, apply
from lapsus.perturbations.core import Constraints, Operator, propose
from lapsus.perturbations.protection import find_words, merge_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class NoisyTokens(NamedTuple):
    """What `perturb_tokens` returns; `apply_tokens(clean, edits)` gives `tokens` again."""

    tokens: list[str]
    tags: list[str] | None
    edits: tuple[Edit, ...]
    operator: Operator


class Utterance(NamedTuple):
    """Tokens, the slot that each belongs to (or none), and the text they make."""

    tokens: Sequence[str]
    tags: Sequence[str] | None
    slots: list[int | None]
    starts: list[int]
    text: str

    def find_slot_spans(self, labels: Collection[str] | None = None) -> list[Span]:
        """Return the spans of the slots in the text; only those with one of `labels`, where given."""
        spans = []
        for slot, group in groupby(range(len(self.tokens)), key=self.slots.__getitem__):
            first, *_, last = [*group] * 2
            if slot is not None and (labels is None or self.tags is None or self.tags[first][2:] in labels):
                spans.append((self.starts[first], self.starts[last] + len(self.tokens[last])))
        return spans


def parse_utterance(tokens: Sequence[str], tags: Sequence[str] | None = None) -> Utterance:
    """Check tokens and BIO tags, and return them with their places in the text.

    An `I` without its `B` opens a slot, as it does for conlleval.
    """
    for i, token in enumerate(tokens):
        if not token or " " in token:
            raise ValueError(f"token {i} is {token!r}; a token is a word without spaces, so drop or split it")
    slots: list[int | None] = [None] * len(tokens)
    if tags is not None:
        if len(tags) != len(tokens):
            raise ValueError(f"{len(tokens)} tokens but {len(tags)} tags; give one tag per token")
        for i, tag in enumerate(tags):
            if tag != "O" and tag[:2] not in {"B-", "I-"}:
                raise ValueError(f"tag {i} is {tag!r}; tags are O, B-label or I-label, so convert them to BIO")
        for number, slot in enumerate(bio.extract_slots(tags)):
            slots[slot.start : slot.end] = [number] * (slot.end - slot.start)
    starts = [0, *accumulate(len(token) + 1 for token in tokens)][: len(tokens)]
    return Utterance(tokens, tags, slots, starts, " ".join(tokens))


def make_constraints(
    utterance: Utterance, protect: Collection[str] = (), protect_slots: Collection[str] = ()
) -> Constraints:
    """Return the constraints of an utterance: its slots, the words of `protect`, the slots labelled `protect_slots`."""
    slot_spans = utterance.find_slot_spans(protect_slots) if protect_slots else []
    protected = merge_spans([*find_words(utterance.text, protect), *slot_spans])
    return Constraints(tuple(utterance.find_slot_spans()), protected)


def trace_tokens(utterance: Utterance, edits: Iterable[Edit | tuple[int, int, str]]) -> list[tuple[str, list[int]]]:
    """Return the noisy tokens, each with the clean tokens that it comes from; an inserted one has none."""
    ends = [start + len(token) for start, token in zip(utterance.starts, utterance.tokens, strict=True)]
    noisy: list[tuple[str, list[int]]] = []
    next_token = 0
    for first, last, group in _group_edits(edits, utterance.starts, ends):
        noisy += ((utterance.tokens[i], [i]) for i in range(next_token, first))
        noisy += _split_region(utterance, ends, first, last, group)
        next_token = last + 1
    noisy += ((utterance.tokens[i], [i]) for i in range(next_token, len(utterance.tokens)))
    return [] if noisy == [("", [])] else noisy


def _group_edits(
    edits: Iterable[Edit | tuple[int, int, str]], starts: Sequence[int], ends: Sequence[int]
) -> list[tuple[int, int, list[Edit]]]:
    """Group edits by the runs of clean tokens they touch; `last` lies before `first` where there is no token."""
    regions: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        first = bisect_left(ends, edit[0])  # the first token that ends at or behind the edit's start
        last = bisect_right(starts, edit[1]) - 1  # the last that starts at or before its end
        if regions and first <= max(regions[-1][1], 0):
            first, last, group = regions[-1][0], max(last, regions[-1][1]), regions.pop()[2]
        else:
            group = []
        regions.append((first, last, [*group, Edit(*edit)]))
    return regions


def _split_region(
    utterance: Utterance, ends: Sequence[int], first: int, last: int, edits: Iterable[Edit]
) -> list[tuple[str, list[int]]]:
    """Split one edited run of tokens at its spaces, with the clean tokens that its characters come from."""
    left = utterance.starts[first] if first < len(utterance.tokens) else 0
    right = ends[last] if last >= 0 else 0
    source: list[int | None] = [None] * (right - left)
    for i in range(first, last + 1):
        source[utterance.starts[i] - left : ends[i] - left] = [i] * len(utterance.tokens[i])
    text, origin, cursor = "", list[int | None](), left
    for start, end, new in edits:
        text += utterance.text[cursor:start] + new
        replaced = next((i for i in source[start - left : end - left] if i is not None), None)
        origin += [*source[cursor - left : start - left], *([replaced] * len(new))]
        cursor = end
    text += utterance.text[cursor:right]
    origin += source[cursor - left : right - left]
    pieces, cursor = list[tuple[str, list[int]]](), 0
    for token in text.split(" "):
        token_origins = dict.fromkeys(i for i in origin[cursor : cursor + len(token)] if i is not None)
        pieces.append((token, list(token_origins)))
        cursor += len(token) + 1
    return pieces


def _keeps_slots(utterance: Utterance, noisy: Iterable[tuple[str, list[int]]]) -> bool:
    """Return whether every slot is still there, whole, in order, and without other tokens."""
    slots: list[int | None] = []
    for token, origins in noisy:
        token_slots = {utterance.slots[i] for i in origins}
        if not token or len(token_slots) > 1:
            return False
        slots.append(next(iter(token_slots), None))
    runs = [slot for slot, _ in groupby(slots) if slot is not None]
    return runs == sorted({slot for slot in utterance.slots if slot is not None})


def drop_slot_conflicts(utterance: Utterance, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits after which no token is empty and every slot is whole."""
    edits = tuple(edits)
    if not edits or _keeps_slots(utterance, trace_tokens(utterance, edits)):
        return edits
    accepted: list[Edit] = []
    for edit in edits:
        if _keeps_slots(utterance, trace_tokens(utterance, [*accepted, edit])):
            accepted.append(edit)
    return tuple(accepted)


def _tag_tokens(utterance: Utterance, noisy: Iterable[tuple[str, list[int]]]) -> list[str]:
    """Return the tags of noisy tokens: a slot's first token opens it, the others continue it, new ones are outside."""
    assert utterance.tags is not None  # noqa: S101 - the callers' contract, for the type checker
    tags: list[str] = []
    seen: set[int] = set()
    for _, origins in noisy:
        slot = utterance.slots[origins[0]] if origins else None
        if slot is None:
            tags.append("O")
            continue
        opening = utterance.tags[utterance.slots.index(slot)]
        tags.append(f"I-{opening[2:]}" if slot in seen else opening)
        seen.add(slot)
    return tags


def apply_tokens(tokens: Sequence[str], edits: Iterable[Edit | tuple[int, int, str]]) -> list[str]:
    """Replay `edits` on `tokens`.

    >>> apply_tokens(["play", "jazz"], [Edit(0, 0, "so ")])
    ['so', 'play', 'jazz']
    """
    noisy = apply(" ".join(tokens), edits)
    return noisy.split(" ") if noisy else []


def apply_tags(tokens: Sequence[str], tags: Sequence[str], edits: Iterable[Edit | tuple[int, int, str]]) -> list[str]:
    """Return the tags of the tokens that `edits` make: new tokens are `O`, replaced ones keep their tag.

    >>> apply_tags(["play", "jazz"], ["O", "B-genre"], [Edit(0, 0, "so "), Edit(5, 9, "ja zz")])
    ['O', 'O', 'B-genre', 'I-genre']
    """
    utterance = parse_utterance(tokens, tags)
    return _tag_tokens(utterance, trace_tokens(utterance, edits))


def perturb_tokens_batch(
    op: Operator,
    utterances: Sequence[Utterance],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    protect: Collection[str] = (),
    protect_slots: Collection[str] = (),
    protected: Sequence[Sequence[Span]] | None = None,
) -> list[NoisyTokens]:
    """Perturb many utterances at once, as `perturb_tokens` does one; `protected` are other spans of each text."""
    constraint_sets = [make_constraints(utterance, protect, protect_slots) for utterance in utterances]
    if protected is not None:
        constraint_sets = [
            constraints._replace(protected=merge_spans((*constraints.protected, *spans)))
            for constraints, spans in zip(constraint_sets, protected, strict=True)
        ]
    proposals = propose(
        op, [utterance.text for utterance in utterances], seed=seed, keys=keys, constraint_sets=constraint_sets
    )
    results = []
    for utterance, (proposed_edits, operator) in zip(utterances, proposals, strict=True):
        edits = drop_slot_conflicts(utterance, proposed_edits)
        noisy = trace_tokens(utterance, edits)
        tags = None if utterance.tags is None else _tag_tokens(utterance, noisy)
        results.append(NoisyTokens([token for token, _ in noisy], tags, edits, operator))
    return results


def perturb_tokens(
    op: Operator,
    tokens: Sequence[str],
    tags: Sequence[str] | None = None,
    *,
    seed: int = 0,
    key: str | None = None,
    protect: Collection[str] = (),
    protect_slots: Collection[str] = (),
) -> NoisyTokens:
    """Perturb `tokens`, and move their BIO `tags` with them.

    The words of `protect` and the slots with a label in `protect_slots` are never touched.

    >>> from lapsus.perturbations.core import Shout
    >>> noisy = perturb_tokens(Shout(), ["play", "jazz"], ["O", "B-genre"])
    >>> noisy.tokens, noisy.tags
    (['play', 'jazz!'], ['O', 'B-genre'])
    """
    utterance = parse_utterance(tokens, tags)
    keys = None if key is None else [key]
    return perturb_tokens_batch(op, [utterance], seed=seed, keys=keys, protect=protect, protect_slots=protect_slots)[0]
