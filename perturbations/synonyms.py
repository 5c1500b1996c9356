"""Synonyms in context: another word of the same part of speech stands in for one of the utterance's (NATURE, 3.2).

Where the candidates come from is a setting: WordNet, or any fill-mask model (`lapsus.perturbations.masked`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    pass

PARTS = {"verb": "VB", "adjective": "JJ", "adverb": "RB", "noun": "NN"}
WORDNET = {"VB": "v", "JJ": "a", "RB": "r", "NN": "n"}
NEARLY = {"&": 1e-2, "@": 1e-4}  # an adjective's neighbours, the word for the kind of thing: worth less
