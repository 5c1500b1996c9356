"""Measure the Chinese operators: speed against peers, likeness to READIN's humans, and what correction repairs.

    python benchmarks/fidelity/fidelity.py speed
    python benchmarks/fidelity/fidelity.py likeness SHARED_DATA_FOLDER
    python benchmarks/fidelity/fidelity.py recognisers SHARED_DATA_FOLDER
    python benchmarks/fidelity/fidelity.py careful TYPOS
    python benchmarks/fidelity/fidelity.py correction SHARED_DATA_FOLDER [CORRECTOR]
    python benchmarks/fidelity/fidelity.py accuracy SHARED_DATA_FOLDER [CORRECTOR]

TYPOS is a file of (typed, right) texts with a tab between, such as pycorrector/data/sighan2015_test.tsv in the wheel of
pycorrector 1.1.4, which holds test sentences of SIGHAN 2015. CORRECTOR is a folder that `lapsus train-corrector` wrote:
what it does alone and with the corpus beside it is shown.
Speeds are ratios in one process, in CPU time, the best of five, on sentences of about 15 characters. The peers are
nlpcda (its homophones) and JioNLP (its homophone substitution), needed by this script only.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from functools import cache, partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus.metrics.human_likeness.score import human_likeness
from lapsus.perturbations import apply, perturb, perturb_batch
from lapsus.perturbations.zh.correction.corrector import ZhCorrect
from lapsus.perturbations.zh.correction.tagger import Tagger
from lapsus.perturbations.zh.correction.task_words import Corpus
from lapsus.perturbations.zh.homophone import ZhHomophone
from lapsus.perturbations.zh.speech.dictation import ZhSpeech
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard
from lapsus.reporting.fidelity import format_fidelity

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.readin import labelled, news, questions, unseen
from corpora.recognised import FILES, bare, recognised

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lapsus.perturbations import Edit

AFQMC, WMT = "readin/afqmc_balanced", "readin/realtypo_nmt"
SUBJECTS = ["今天下午", "小区门口", "我的同事", "这家银行", "上个星期", "邻居的孩子", "外地的朋友", "新来的老师"]
VERBS = ["怎么突然", "为什么没有", "是不是已经", "想要尽快", "终于可以", "不得不", "打算重新", "忘记了"]
OBJECTS = [
    "申请提前还款",
    "修改登录密码",
    "参加数学考试",
    "更换手机号码",
    "购买火车票",
    "完成设计方案",
    "检查天然气",
    "联系维修师傅",
]
SENTENCES = [subject + verb + thing for subject in SUBJECTS for verb in VERBS for thing in OBJECTS]


def seconds(task: Callable[[], object]) -> float:
    """Return the CPU time of a task, the best of five."""
    task()
    times = []
    for _ in range(5):
        started = time.process_time()
        task()
        times.append(time.process_time() - started)
    return min(times)


def speed() -> None:
    """Print each operator's sentences per second, and the ratio to its peer's."""
    from jionlp import homophone_substitution
    from nlpcda import Homophone

    nlpcda = Homophone(create_num=2, change_rate=0.1)  # returns the text itself and one noisy copy
    homophone = ZhHomophone(0.1)
    peers = {
        "nlpcda homophone": seconds(lambda: [nlpcda.replace(text) for text in SENTENCES]),
        "JioNLP homophone": seconds(lambda: [homophone_substitution(text, augmentation_num=1) for text in SENTENCES]),
    }
    ours = {
        "zh_homophone, texts": (lambda: homophone.rewrite(SENTENCES), "nlpcda homophone", 5.0),
        "zh_homophone, edits": (lambda: perturb_batch(homophone, SENTENCES), "nlpcda homophone", 5.0),
        "zh_speech": (lambda: perturb_batch(ZhSpeech.annotator(1), SENTENCES), "JioNLP homophone", 0.7),
        "zh_correct": (lambda: perturb_batch(ZhCorrect(), SENTENCES), "JioNLP homophone", None),
    }
    for name, cost in peers.items():
        print(f"{name:22}{len(SENTENCES) / cost:12,.0f} sentences/s")
    for name, (task, peer, wanted) in ours.items():
        cost = seconds(task)
        aim = f", wanted {wanted}" if wanted else ""
        print(f"{name:22}{len(SENTENCES) / cost:12,.0f} sentences/s = {peers[peer] / cost:.2f} x {peer}{aim}")


def likeness(data: Path) -> None:
    """Print the fidelity of typed and dictated texts, on held-out rows and on the rows used for fitting."""
    typists = [ZhKeyboard.annotator(n) for n in (1, 2, 3)]
    voices = [ZhSpeech.annotator(n) for n in (1, 2, 3)]
    for name, (ids, clean, noisy), people, part in (
        ("AFQMC, keyboard", questions(data / AFQMC), typists, 1),
        ("WMT2021, keyboard", news(data / WMT, "keyboard"), typists, 1),
        ("WMT2021, speech", news(data / WMT, "asr"), voices, 10),
    ):
        for half, judged in ((1, "not fitted on"), (0, "fitted on")):
            rows = [n for n, key in enumerate(ids) if int(key.split("-")[0]) // part % 2 == half]
            texts, keys = [clean[n] for n in rows], [ids[n] for n in rows]
            made = [list(map(apply, texts, perturb_batch(person, texts, keys=keys))) for person in people]
            humans = [[side[n] for n in rows] for side in noisy]
            result = human_likeness(list(zip(*made, strict=True)), texts, list(zip(*humans, strict=True)))
            print(f"{name}, rows {judged} ({len(rows)}):\n{format_fidelity(result)}\n")


def recognisers(data: Path) -> None:
    """Print how the profiles of four recognisers, and an annotator, differ from what these wrote, without marks.

    On texts held back; shares of insertions, deletions and substitutions are of the characters.
    """
    for name in FILES:
        rows = recognised(data / "zh_asr_pairs", name, half=1)[:1000]
        clean, heard = ([row[n] for row in rows] for n in (0, 1))
        print(f"{name}, {len(rows)} texts\n{'recogniser':20}{errors(clean, heard)}")
        for who in (name, "annotator 2"):
            made = [
                bare(apply(text, edits)) for text, edits in zip(clean, perturb_batch(ZhSpeech(who), clean), strict=True)
            ]
            result = human_likeness(made, clean, heard)
            low, high = result["auc_ci"]
            print(f"{who:20}{errors(clean, made)}   AUC {result['auc']:.3f} [{low:.2f}, {high:.2f}]", flush=True)


def careful(typos: Path) -> None:
    """Print how `zh_keyboard` with care differs from people who take care: on all texts, and those of equal length."""
    rows = [line.split("\t") for line in typos.read_text(encoding="utf-8").splitlines()]
    typed, clean = ([row[n] for row in rows] for n in (0, 1))
    print(
        f"{len(clean)} texts\n{'people':12}{errors(clean, typed)}, one character each {plain_edits(clean, typed):.2f}"
    )
    for rate in (0.1, 0.15, 0.2, 0.25):
        people = [ZhKeyboard.annotator(n, rate=rate) for n in (1, 2, 3)]
        made = [list(map(apply, clean, perturb_batch(person, clean, keys=clean))) for person in people]
        every, noisy = clean * len(made), [text for side in made for text in side]
        told = f"{errors(every, noisy)}, one character each {plain_edits(every, noisy):.2f}"
        aucs = f"AUC {auc(clean, made, typed):.3f}, of equal length {auc(clean, made, typed, equal=True):.3f}"
        print(f"{f'rate {rate}':12}{told}, {aucs}", flush=True)


def auc(clean: list[str], made: list[list[str]], typed: list[str], *, equal: bool = False) -> float:
    """Return the AUC between what typists made of texts and what was typed; where asked, of texts as long as theirs."""

    def kept(old: str, new: str) -> str | None:
        return new if not equal or len(old) == len(new) else None

    rows = [
        (old, [kept(old, new) for new in ours], human)
        for old, human, *ours in zip(clean, typed, *made, strict=True)
        if kept(old, human) is not None
    ]
    found: float = human_likeness([row[1] for row in rows], [row[0] for row in rows], [row[2] for row in rows])["auc"]
    return found


def plain_edits(clean: list[str], noisy: list[str]) -> float:
    """Return the share of edits that put one character for one."""
    steps = [op for pair in zip(clean, noisy, strict=True) for op in Levenshtein.opcodes(*pair) if op.tag != "equal"]
    return sum(op.src_end - op.src_start == op.dest_end - op.dest_start == 1 for op in steps) / len(steps)


def errors(clean: list[str], noisy: list[str]) -> str:
    """Return the error rate, the shares of insertions, deletions, substitutions, and that of texts unchanged."""
    steps = Counter(op.tag for one, other in zip(clean, noisy, strict=True) for op in Levenshtein.editops(one, other))
    shares = "".join(f"{steps[tag] / steps.total():7.3f}" for tag in ("insert", "delete", "replace"))
    same = sum(map(str.__eq__, clean, noisy)) / len(clean)
    return f"rate {steps.total() / sum(map(len, clean)):.3f}, ins/del/sub {shares}, unchanged {same:.2f}"


class Track(NamedTuple):
    """The evaluated rows of a real track, and the texts that a corrector may learn from."""

    pairs: list[tuple[str, str]]
    clean: list[str]


def judged(data: Path) -> dict[str, Track]:
    """Return (clean, noisy) of the evaluated half of each track, and clean texts of the other half or of training."""
    found = {}
    for kind, per in (("keyboard", 1), ("asr", 10)):
        ids, clean, noisy = news(data / WMT, kind)
        odd = [int(n) // per % 2 == 1 for n in ids]
        other = [text for text, is_odd in zip(clean, odd, strict=True) if not is_odd]
        for n, side in enumerate(noisy, 1):
            found[f"wmt {kind} {n}"] = Track(list(compress(zip(clean, side, strict=True), odd)), other)
    train = unseen(data / AFQMC, "train")
    keys, clean, noisy = questions(data / AFQMC)
    odd = [int(key.split("-")[0]) % 2 == 1 for key in keys]
    for n, side in enumerate(noisy, 1):
        found[f"afqmc keyboard {n}"] = Track(list(compress(zip(clean, side, strict=True), odd)), train)
    turns = [
        (turn["manual_transcript"], turn["asr_1best"])
        for name in ("train", "development")
        for dialogue in json.loads((data / "zh_asr_slu" / f"{name}.json").read_text(encoding="utf-8"))
        for turn in dialogue
        if turn["manual_transcript"] and "(" not in turn["manual_transcript"]
    ]
    found["zh_asr_slu"] = Track(turns[1::2], [clean for clean, _ in turns[::2]])
    return found


def correction(data: Path, corrector: Path | None = None) -> None:
    """Print what correction repairs and spoils on the evaluated half of every real track.

    Plain, and adapted to the task: AFQMC's training texts; for the others the clean texts of the other half of the
    rows. To another task: AFQMC's for the others, WMT's for AFQMC. Or trained, on whatever the corrector was.
    """
    found = judged(data)
    print(f"{'':18}{'':16}{'texts':>7}{'errors':>8}{'repaired':>10}{'spoiled':>9}{'fewer':>7}{'clean changed':>15}")
    for name, (pairs, clean) in found.items():
        other = found["wmt keyboard 1" if name.startswith("afqmc") else "afqmc keyboard 1"].clean
        ways: dict[str, Callable[[], ZhCorrect]] = {
            "plain": ZhCorrect,
            "adapted": partial(ZhCorrect.from_texts, clean),
            "elsewhere": partial(ZhCorrect.from_texts, other),
        }
        for how, make in ways.items() if corrector is None else trained(corrector, clean).items():
            op = make()
            counts = "{:8}{:10.2%}{:9.3%}{:7}".format(*repaired(op, pairs))
            print(
                f"{name:18}{how:16}{len(pairs):7}{counts}{changed(op, [text for text, _ in pairs]):15.3%}", flush=True
            )


def trained(corrector: Path, clean: list[str]) -> dict[str, Callable[[], ZhCorrect]]:
    """Return a trained corrector, alone and beside what is learned from clean texts."""
    tagger = Tagger.read(str(corrector))
    return {
        "trained": partial(ZhCorrect, tagger=tagger),
        "trained, adapted": lambda: ZhCorrect(corpus=Corpus(tuple(clean)), tagger=tagger),
    }


def accuracy(data: Path, corrector: Path | None = None) -> None:
    """Print a model's balanced accuracy on AFQMC's tracks, public rows with odd numbers, as typed and corrected.

    What correction gains is shown in points, with the interval of 95 % of 2,000 samples of the rows.
    """
    from lapsus.papers.pair_model import BagNetwork, train

    folder = data / AFQMC
    pairs = labelled(folder, "train")
    clean = unseen(folder, "train")
    ops: dict[str, Callable[[], ZhCorrect]] = {"adapted": partial(ZhCorrect.from_texts, clean)}
    if corrector is not None:
        ops = trained(corrector, clean)
    model = train(
        pairs, labelled(folder, "dev"), network=partial(BagNetwork, size=16), epochs=2, batch_size=128, rate=1e-2
    )
    tracks = [labelled(folder, name)[1::2] for name in ("test_clean", *(f"test_noisy_{n}" for n in (1, 2, 3)))]
    labels = np.array([label for _, _, label in tracks[0]])
    draws = np.random.default_rng(0).multinomial(len(labels), np.full(len(labels), 1 / len(labels)), size=2000)
    print(f"{'':18}" + "".join(f"{name:>18}" for name in ("clean", "typed 1", "2", "3", "all three right")))
    typed: NDArray[np.float64] | None = None
    for how, make in {"as typed": lambda: None, **ops}.items():
        op = make()

        def read(text: str, op: ZhCorrect | None = op) -> str:
            return text if op is None else apply(text, corrections(op, text))

        guesses = [model.predict([(read(first), read(second)) for first, second, _ in track]) for track in tracks]
        right = np.array(guesses) == labels
        right = np.vstack([right, right[1:].all(axis=0)])
        shares = balanced(right, labels, np.ones((1, len(labels))))[:, 0]
        print(f"{how:18}" + "".join(f"{share:18.1%}" for share in shares), flush=True)
        sampled = balanced(right, labels, draws)
        if typed is None:
            first_shares, typed = shares, sampled
            continue
        low, high = np.percentile(100 * (sampled - typed), [2.5, 97.5], axis=1)
        gains = zip(100 * (shares - first_shares), low, high, strict=True)
        print(f"{'gained':18}" + "".join(f"{f'{gain:+.1f} [{one:.1f}, {two:.1f}]':>18}" for gain, one, two in gains))


def balanced(right: NDArray[np.bool_], labels: NDArray[np.str_], draws: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean over labels of the share of their rows that are right, for each line of `right` and each draw."""
    by_label = [(right & (labels == label)) @ draws.T / ((labels == label) @ draws.T) for label in np.unique(labels)]
    shares: NDArray[np.float64] = np.mean(by_label, axis=0)
    return shares


def repaired(op: ZhCorrect, texts: list[tuple[str, str]]) -> tuple[int, float, float, int]:
    """Return (errors, share repaired, share of right characters spoiled, errors fewer)."""
    errors = fewer = right = better = spoiled = 0
    for clean, noisy in texts:
        before = Levenshtein.distance(clean, noisy)
        errors += before
        right += sum(o.src_end - o.src_start for o in Levenshtein.opcodes(noisy, clean) if o.tag == "equal")
        edits = corrections(op, noisy)
        fewer += before - Levenshtein.distance(clean, apply(noisy, edits))
        for edit in edits:
            gain = before - Levenshtein.distance(clean, apply(noisy, [edit]))
            better, spoiled = better + max(gain, 0), spoiled + max(-gain, 0)
    return errors, better / errors, spoiled / right, fewer


@cache
def corrections(op: ZhCorrect, text: str) -> tuple[Edit, ...]:
    """Return the corrections of a text, which many of the parts below ask for."""
    return perturb(op, text)


def changed(op: ZhCorrect, texts: list[str]) -> float:
    """Return the share of characters of clean texts that are changed; duplicate texts count once."""
    texts = list(dict.fromkeys(texts))
    return sum(Levenshtein.distance(text, apply(text, corrections(op, text))) for text in texts) / sum(map(len, texts))


if __name__ == "__main__":
    task, *folder = sys.argv[1:]
    tasks: dict[str, Callable[..., None]] = {
        "speed": speed,
        "likeness": likeness,
        "recognisers": recognisers,
        "careful": careful,
        "correction": correction,
        "accuracy": accuracy,
    }
    tasks[task](*map(Path, folder))
