"""Operators that turn clean text into what people really type and say.

>>> apply("slow down", perturb(OPERATORS["filler_eos"], "slow down", key="row-7"))
'slow down right away'
>>> from lapsus.perturbations import ZhKeyboard
>>> apply("花呗怎么不能提额了", perturb(ZhKeyboard.annotator(1), "花呗怎么不能提额了", seed=1, key="row-4"))
'花呗责骂不能提了'
"""

from typing import TYPE_CHECKING

from lapsus.core.conversations import apply_to_messages
from lapsus.core.edits import Edit, apply
from lapsus.core.imports import make_lazy_getattr
from lapsus.perturbations.core import (
    Constraints,
    Mixture,
    Operator,
    Proposal,
    move_spans,
    open_stream,
    perturb,
    perturb_batch,
)
from lapsus.perturbations.noise import Noise
from lapsus.perturbations.speakers import NoisySpeaker
from lapsus.perturbations.specs import OPERATORS, NoiseStep, NoiseTrack, mix, parse_noise
from lapsus.perturbations.tokens import apply_tags, apply_tokens, perturb_tokens
from lapsus.perturbations.transform import NoiseTransform

if TYPE_CHECKING:
    from lapsus.perturbations.en.fillers import ClosingFiller, OpeningFiller, VerbFiller
    from lapsus.perturbations.en.nature import random_operator
    from lapsus.perturbations.en.nlpaug import Nlpaug
    from lapsus.perturbations.en.repair import EnRepair
    from lapsus.perturbations.en.speako import Speako
    from lapsus.perturbations.en.speech.dictation import EnSpeech
    from lapsus.perturbations.en.synonyms import Synonym
    from lapsus.perturbations.en.typist.keyboard import EnKeyboard
    from lapsus.perturbations.en.unmarked import EnUnmarked
    from lapsus.perturbations.semantic.edits import SemanticDelete, SemanticInsert, SemanticReplace
    from lapsus.perturbations.zh.correction.corrector import ZhCorrect
    from lapsus.perturbations.zh.homophone import ZhHomophone
    from lapsus.perturbations.zh.speech.dictation import ZhSpeech
    from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

__all__ = [
    "OPERATORS",
    "ClosingFiller",
    "Constraints",
    "Edit",
    "EnKeyboard",
    "EnRepair",
    "EnSpeech",
    "EnUnmarked",
    "Mixture",
    "Nlpaug",
    "Noise",
    "NoiseStep",
    "NoiseTrack",
    "NoiseTransform",
    "NoisySpeaker",
    "OpeningFiller",
    "Operator",
    "Proposal",
    "SemanticDelete",
    "SemanticInsert",
    "SemanticReplace",
    "Speako",
    "Synonym",
    "VerbFiller",
    "ZhCorrect",
    "ZhHomophone",
    "ZhKeyboard",
    "ZhSpeech",
    "apply",
    "apply_tags",
    "apply_to_messages",
    "apply_tokens",
    "mix",
    "move_spans",
    "open_stream",
    "parse_noise",
    "perturb",
    "perturb_batch",
    "perturb_tokens",
    "random_operator",
]

__getattr__ = make_lazy_getattr(
    __name__,
    {
        "ClosingFiller": "lapsus.perturbations.en.fillers",
        "EnKeyboard": "lapsus.perturbations.en.typist.keyboard",
        "EnRepair": "lapsus.perturbations.en.repair",
        "EnSpeech": "lapsus.perturbations.en.speech.dictation",
        "EnUnmarked": "lapsus.perturbations.en.unmarked",
        "Nlpaug": "lapsus.perturbations.en.nlpaug",
        "OpeningFiller": "lapsus.perturbations.en.fillers",
        "SemanticDelete": "lapsus.perturbations.semantic.edits",
        "SemanticInsert": "lapsus.perturbations.semantic.edits",
        "SemanticReplace": "lapsus.perturbations.semantic.edits",
        "Speako": "lapsus.perturbations.en.speako",
        "Synonym": "lapsus.perturbations.en.synonyms",
        "VerbFiller": "lapsus.perturbations.en.fillers",
        "ZhCorrect": "lapsus.perturbations.zh.correction.corrector",
        "ZhHomophone": "lapsus.perturbations.zh.homophone",
        "ZhKeyboard": "lapsus.perturbations.zh.typist.keyboard",
        "ZhSpeech": "lapsus.perturbations.zh.speech.dictation",
        "random_operator": "lapsus.perturbations.en.nature",
    },
)
