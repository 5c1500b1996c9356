"""Measure who stays the same from text to text: `python benchmarks/fidelity/sessions.py READIN_FOLDER`.

On the pairs of AFQMC, for each annotator: of the words that both questions of a row have and that went wrong in one,
the share that became the same in the other; the correlation of the error rates of both questions; and the standard
deviation, in points, of the error rates of blocks of a hundred rows.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations import apply, perturb_batch
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.readin import Tracks, places, questions

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCK = 100  # rows


class Sameness(NamedTuple):
    """What one person keeps from text to text."""

    alike: float
    correlation: float
    blocks: float
    rate: float
    unchanged: float


def became(clean: str, noisy: str) -> dict[str, str]:
    """Return what each word of a text was typed as.

    >>> became("花呗怎么还款", "华北怎么还款")["怎么"]
    '怎么'
    """
    place = places(clean, noisy)
    found, start = {}, 0
    for word in load_engine().split(clean):
        found[word] = noisy[place[start] : place[start + len(word)]]
        start += len(word)
    return found


def sameness(clean: Sequence[str], noisy: Sequence[str]) -> Sameness:
    """Measure texts of which each two are one row."""
    errors = np.array([Levenshtein.distance(*pair) for pair in zip(clean, noisy, strict=True)])
    sizes = np.array([len(text) for text in clean])
    wrong = alike = 0
    for at in range(0, len(clean), 2):
        first, second = (became(clean[n], noisy[n]) for n in (at, at + 1))
        for word in first.keys() & second.keys():
            for one, other in ((first[word], second[word]), (second[word], first[word])):
                wrong += one != word
                alike += one != word and one == other
    rates = errors / sizes
    bounds = range(0, len(clean) - 2 * BLOCK + 1, 2 * BLOCK)
    blocks = [errors[at : at + 2 * BLOCK].sum() / sizes[at : at + 2 * BLOCK].sum() for at in bounds]
    return Sameness(
        alike / wrong,
        float(np.corrcoef(rates[::2], rates[1::2])[0, 1]),
        float(100 * np.std(blocks, ddof=1)),
        float(errors.sum() / sizes.sum()),
        float((errors == 0).mean()),
    )


def made(tracks: Tracks, person: ZhKeyboard) -> list[str]:
    """Return the texts as a typist makes them, the two of a row in one sitting, as `Noise` over both columns does."""
    keys = [key.replace("-", "/") for key in tracks.keys]
    rows = [key.partition("-")[0] for key in tracks.keys]
    return list(map(apply, tracks.clean, perturb_batch(person, tracks.clean, keys=keys, sessions=rows)))


def main() -> None:
    """Print the measures of three people and of the three typists fitted to them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds afqmc_balanced")
    tracks = questions(parser.parse_args().folder / "afqmc_balanced")
    print(f"{'':10}{'alike':>8}{'correlation':>13}{'blocks':>8}{'rate':>8}{'unchanged':>11}")
    for number in (1, 2, 3):
        for who, noisy in (
            ("human", tracks.noisy[number - 1]),
            ("ours", made(tracks, ZhKeyboard.annotator(number))),
        ):
            print("{:8}{:2}{:8.3f}{:13.3f}{:8.2f}{:8.3f}{:11.3f}".format(who, number, *sameness(tracks.clean, noisy)))


if __name__ == "__main__":
    main()
