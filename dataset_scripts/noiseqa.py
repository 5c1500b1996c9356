"""NoiseQA: English questions on Wikipedia paragraphs, typed in a hurry and spoken."""

from __future__ import annotations

from datasets import Version

from lapsus.dataset_scripts.squad import QuestionBenchmark


class NoiseQa(QuestionBenchmark):
    """The English questions of XQuAD, retyped without corrections, and read aloud to a speech recogniser."""

    NAME = "noiseqa"
    TITLE = "NoiseQA"
    LANGUAGES = ("en",)
    ARXIV = ("2102.08345",)
    LICENSE = "cc-by-sa-4.0"  # of its content, which is SQuAD's and XQuAD's; the repository is MIT
    LICENSE_LINK = "https://creativecommons.org/licenses/by-sa/4.0/"
    VERSION = Version("1.0.1")  # the licence and citations of the card
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    TAGS = ("noise", "keyboard", "speech-recognition")
    ANNOTATIONS = "crowdsourced"
    WHERE = "the folder Natural of https://github.com/noiseQA/NoiseQA"
    FILES = {
        "clean": "xquad-context-en-question-en.json",
        "keyboard": "xquad-keyboard-natural.json",
        "speech": "xquad-asr-natural.json",
    }
    ROWS = {"clean": {"test": 1_190}, "keyboard": {"test": 1_190}, "speech": {"test": 1_190}}


UNITS = (NoiseQa,)
