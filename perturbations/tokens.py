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

from lapsus.kernel import bio
from lapsus.perturbations.core import Edit, Frame, Operator, Span, apply, propose

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

    def spans(self, labels: Collection[str] | None = None) -> list[Span]:
        """Return the slots as stretches of the text; of `labels` only, where given."""
        found = []
        for slot, group in groupby(range(len(self.tokens)), key=self.slots.__getitem__):
            first, *_, last = [*group] * 2
            if slot is not None and (labels is None or self.tags is None or self.tags[first][2:] in labels):
                found.append((self.starts[first], self.starts[last] + len(self.tokens[last])))
        return found


def utterance(tokens: Sequence[str], tags: Sequence[str] | None = None) -> Utterance:
    """Check tokens and BIO tags, and see where everything stands in their text.

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
        for number, slot in enumerate(bio.slots(tags)):
            slots[slot.start : slot.end] = [number] * (slot.end - slot.start)
    starts = [0, *accumulate(len(token) + 1 for token in tokens)][: len(tokens)]
    return Utterance(tokens, tags, slots, starts, " ".join(tokens))


def frame(said: Utterance, protect: Collection[str] = (), protect_slots: Collection[str] = ()) -> Frame:
    """Return what an operator must respect: every slot, the words of `protect`, the slots labelled `protect_slots`."""
    words = {word.casefold() for word in protect}
    named = [
        (start, start + len(token))
        for start, token in zip(said.starts, said.tokens, strict=True)
        if token.casefold() in words
    ]
    whole = said.spans(protect_slots) if protect_slots else []
    return Frame(tuple(said.spans()), tuple(sorted(named + whole)))


def owners(said: Utterance, edits: Iterable[Edit | tuple[int, int, str]]) -> list[tuple[str, list[int]]]:
    """Return the noisy tokens, each with the clean tokens it comes from; an inserted one comes from none."""
    ends = [start + len(token) for start, token in zip(said.starts, said.tokens, strict=True)]
    noisy: list[tuple[str, list[int]]] = []
    done = 0
    for first, last, group in _regions(edits, said.starts, ends):
        noisy += ((said.tokens[i], [i]) for i in range(done, first))
        noisy += _cut(said, ends, first, last, group)
        done = last + 1
    noisy += ((said.tokens[i], [i]) for i in range(done, len(said.tokens)))
    return [] if noisy == [("", [])] else noisy


def _regions(
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


def _cut(
    said: Utterance, ends: Sequence[int], first: int, last: int, edits: Iterable[Edit]
) -> list[tuple[str, list[int]]]:
    """Cut one edited run of tokens at its spaces, following where each character comes from."""
    left = said.starts[first] if first < len(said.tokens) else 0
    right = ends[last] if last >= 0 else 0
    source: list[int | None] = [None] * (right - left)
    for i in range(first, last + 1):
        source[said.starts[i] - left : ends[i] - left] = [i] * len(said.tokens[i])
    text, origin, cursor = "", list[int | None](), left
    for start, end, new in edits:
        text += said.text[cursor:start] + new
        replaced = next((i for i in source[start - left : end - left] if i is not None), None)
        origin += [*source[cursor - left : start - left], *([replaced] * len(new))]
        cursor = end
    text += said.text[cursor:right]
    origin += source[cursor - left : right - left]
    cut, cursor = list[tuple[str, list[int]]](), 0
    for token in text.split(" "):
        come = dict.fromkeys(i for i in origin[cursor : cursor + len(token)] if i is not None)
        cut.append((token, list(come)))
        cursor += len(token) + 1
    return cut


def _keeps_slots(said: Utterance, noisy: Iterable[tuple[str, list[int]]]) -> bool:
    """Tell whether every slot is still there, whole, in order, and has swallowed nothing."""
    slots: list[int | None] = []
    for token, come in noisy:
        mine = {said.slots[i] for i in come}
        if not token or len(mine) > 1:
            return False
        slots.append(next(iter(mine), None))
    runs = [slot for slot, _ in groupby(slots) if slot is not None]
    return runs == sorted({slot for slot in said.slots if slot is not None})


def allowed(said: Utterance, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Keep the edits after which no token is empty and every slot is whole."""
    edits = tuple(edits)
    if not edits or _keeps_slots(said, owners(said, edits)):
        return edits
    kept: list[Edit] = []
    for edit in edits:
        if _keeps_slots(said, owners(said, [*kept, edit])):
            kept.append(edit)
    return tuple(kept)


def _tags(said: Utterance, noisy: Iterable[tuple[str, list[int]]]) -> list[str]:
    """Tag the noisy tokens: a slot's first token opens it, the others continue it, what is new is outside."""
    assert said.tags is not None  # noqa: S101 - the callers' contract, for the type checker
    tags: list[str] = []
    seen: set[int] = set()
    for _, come in noisy:
        slot = said.slots[come[0]] if come else None
        if slot is None:
            tags.append("O")
            continue
        opening = said.tags[said.slots.index(slot)]
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
    said = utterance(tokens, tags)
    return _tags(said, owners(said, edits))


def perturb_tokens_batch(
    op: Operator,
    utterances: Sequence[Utterance],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    protect: Collection[str] = (),
    protect_slots: Collection[str] = (),
) -> list[NoisyTokens]:
    """Perturb many utterances at once, as `perturb_tokens` does one."""
    frames = [frame(said, protect, protect_slots) for said in utterances]
    made = propose(op, [said.text for said in utterances], seed=seed, keys=keys, frames=frames)
    results = []
    for said, (proposed, operator) in zip(utterances, made, strict=True):
        edits = allowed(said, proposed)
        noisy = owners(said, edits)
        tags = None if said.tags is None else _tags(said, noisy)
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
    """Perturb `tokens` and keep their BIO `tags` true.

    The words of `protect` and the slots with a label in `protect_slots` are never touched.

    >>> from lapsus.perturbations.core import Shout
    >>> noisy = perturb_tokens(Shout(), ["play", "jazz"], ["O", "B-genre"])
    >>> noisy.tokens, noisy.tags
    (['play', 'jazz!'], ['O', 'B-genre'])
    """
    said = utterance(tokens, tags)
    keys = None if key is None else [key]
    return perturb_tokens_batch(op, [said], seed=seed, keys=keys, protect=protect, protect_slots=protect_slots)[0]
