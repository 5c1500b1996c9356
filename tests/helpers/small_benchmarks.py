"""The small files of every benchmark, and how many rows are built from them."""

from lapsus.dataset_scripts.simulated import TRACKS
from lapsus.perturbations.en.nature import NATURE

READIN_CONFIGS = [f"{track}{who}" for track in ("keyboard", "speech") for who in (".1", ".2", ".3", "")]


def readin(clean, noisy, speech):
    return {"clean": clean} | {name: {"test": speech if "speech" in name else noisy} for name in READIN_CONFIGS}


OPERATORS = [*(op.name for op in NATURE), *(f"random.{number}" for number in range(10))]


def nature(**original):
    altered = {name: {"test": original["test"]} for name in [*OPERATORS, "hard"]}
    augmented = {split: 2 * original[split] for split in ("train", "validation")}
    return {"original": original, **altered, "augmented": augmented}


def simulated(test):
    return {config: {"test": test} for config in ("clean", *TRACKS)}


AALTO = (
    "clean",
    *(f"{kind}{speed}" for kind in ("typed", "uncorrected") for speed in (".slow", ".medium", ".fast", "")),
)

# benchmark -> (folder of its files, rows that are built from it)
BUILT = {
    "readin-afqmc": ("readin", readin({"train": 3, "validation": 2, "test": 4}, 4, 4)),
    "readin-cmrc2018": ("readin", readin({"train": 1, "validation": 1, "test": 3}, 3, 2)),
    "readin-cspider": ("readin", {**readin({"train": 1, "validation": 1, "test": 3}, 3, 3), "schemas": {"databases": 2}}),
    "readin-wmt2021": ("readin", readin({"test": 4}, 4, 3)),
    "readin-afqmc-sim": ("afqmc", simulated(4)),
    "readin-cmrc2018-sim": ("cmrc2018", simulated(3)),
    "readin-cspider-sim": ("cspider", {**simulated(3), "schemas": {"databases": 2}}),
    "readin-wmt2021-sim": ("wmt21", simulated(4)),
    "rte": ("rte", {f"rte{number}": {"validation": 2, "test": 2} for number in (1, 2, 3)}),
    "parte": ("parte", {config: {"test": rows} for config, rows in zip(
        ("default", "premise", "hypothesis", "both"), (3, 1, 1, 1), strict=True)}),
    "nature-atis": ("nature_slu", nature(train=2, validation=1, test=1)),
    "nature-snips": ("nature_slu", nature(train=2, validation=1, test=1)),
    "nature-nlued": ("nlued_csv", nature(train=16, validation=2, test=2)),
    "dialect-zh": ("frmt", {"default": {"exemplars": 3, "dev": 3, "test": 3}}),
    "dialect-pt": ("frmt", {"default": {"exemplars": 3, "dev": 3, "test": 3}}),
    "dialect-en": (None, {"default": {"exemplars": 12, "dev": 12, "test": 48}}),
    "dialect-en-demszky": ("demszky", {"default": {"test": 3}}),
    "slurp-asr": ("slurp", {"clean": {"train": 1, "validation": 1, "test": 3}, "speech": {"test": 2}}),
    "noiseqa": ("noiseqa", {config: {"test": 2} for config in ("clean", "keyboard", "speech")}),
    "zh-asr-slu": ("zh_asr_slu", {config: {"train": 2, "validation": 1} for config in ("clean", "speech")}),
    "zh-asr": ("zh_asr_pairs", {config: {"aishell1": 2, "magicdata": 2, "mandarin": 1, "accented": 3} for config in ("clean", "speech")}),
    "disfl-qa": ("disfl_qa", {config: {"train": train, "validation": 1, "test": 2} for config, train in (("clean", 4), ("disfluent", 2))}),
    "bfcl": ("bfcl", {"clean": {"simple_python": 2, **dict.fromkeys(("multiple", "parallel", "parallel_multiple", "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"), 1)}}),
    "hinglish-top": ("hinglish_top", {config: {"train": 2, "validation": 2, "test": 1} for config in ("clean", "hinglish")}),
    **{f"xsid-{language}": ("xsid", {config: {"validation": 1, "test": 1 if (language, config) == ("no", "writer.4") else 2} for config in ("clean", *(f"writer.{number}" for number in range(1, writers + 1)))}) for language, writers in (("no", 10), ("de", 4), ("it", 1))},
    "topical-chat-asr": ("topical_chat_asr", {config: {"test_freq": 2, "test_rare": 1} for config in ("clean", "speech.1", "speech.2")}),
    "dstc10-asr": ("dstc10_task2", {"speech": {"validation": 3}, "knowledge": {"snippets": 3}}),
    "odsqa": ("odsqa", {config: {"test": 3} for config in ("clean", "speech")}),
    "aalto-typing": ("aalto_typing", {config: {"test": rows} for config, rows in zip(AALTO, (3, 2, 2, 3, 3, 2, 2, 2, 3), strict=True)}),
}  # fmt: skip
