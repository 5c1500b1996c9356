"""Fit how proposals of a tagger and of a corpus are weighed: logistic regression on READIN's rows with even numbers.

    python tools/fit_correction.py SHARED_DATA_FOLDER CORRECTOR [EVERY]

Prints `WEIGHTS` of `perturbations/zh/correction/combine.py`. A proposal is right if it leaves a typed text nearer to
the clean one; in a clean text each is wrong. CORRECTOR was trained on texts that are none of these, by `lapsus
train-corrector`. All texts take some minutes; with EVERY 10, every tenth is read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from corpora.readin import questions, unseen
from rapidfuzz.distance import Levenshtein
from sklearn.linear_model import LogisticRegression

from lapsus.core.edits import apply
from lapsus.perturbations.zh.correction.combine import extract_features, is_in_both_tasks
from lapsus.perturbations.zh.correction.tagger import Tagger
from lapsus.perturbations.zh.correction.task_words import TaskModel


def main(data: Path, corrector: Path, every: int = 1) -> None:
    """Print the weights."""
    folder = data / "readin/afqmc_balanced"
    train = unseen(folder, "train")
    known = set(train)
    tagger, model = Tagger.read(str(corrector)), TaskModel(train)
    dev = [text for text in unseen(folder, "dev") if text not in known][::every]
    keys, clean, noisy = questions(folder)
    even = [n for n, key in enumerate(keys) if int(key.split("-")[0]) % 2 == 0][::every]
    right = [(text, text, 1.0) for text in dict.fromkeys([*dev, *(clean[n] for n in even)])]
    typed = [(clean[n], side[n], 0.5) for side in noisy for n in even if side[n] != clean[n]]
    rows, labels, weights = [], [], []
    for meant, text, weight in right + typed:
        if not is_in_both_tasks(text, tagger, model):
            continue
        before = Levenshtein.distance(meant, text)
        for edit, features in extract_features(text, tagger, model):
            rows.append(features)
            labels.append(Levenshtein.distance(meant, apply(text, [edit])) < before)
            weights.append(weight)
    fitted = LogisticRegression(C=10, max_iter=2000).fit(rows, labels, weights)
    print(f"{len(rows)} proposals, {sum(labels)} right")
    print(f"WEIGHTS = ({', '.join(f'{weight:.2f}' for weight in fitted.coef_[0])})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared_data_folder", type=Path)
    parser.add_argument("corrector", type=Path, help="folder that `lapsus train-corrector` wrote")
    parser.add_argument("every", type=int, nargs="?", default=1, help="read every n-th text")
    options = parser.parse_args()
    main(options.shared_data_folder, options.corrector, options.every)
