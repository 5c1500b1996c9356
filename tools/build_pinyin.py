"""Build the Chinese word list and bigrams from openly licensed packages: `python tools/build_pinyin.py`.

Needs PyPI's wordfreq, jieba, pypinyin and opencc, and Debian's rime-data-pinyin-simp, sunpinyin-data and
sunpinyin-utils. `perturbations/zh/data/pinyin/README.md` names each source's licence.
"""

from __future__ import annotations

import math
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "perturbations" / "zh" / "data" / "pinyin"
AOSP = Path("/usr/share/rime-data/pinyin_simp.dict.yaml")
OPEN_GRAM = Path("/usr/lib/x86_64-linux-gnu/sunpinyin/data")
WEIGHTS = {"open-gram": 0.45, "aosp": 0.25, "wordfreq": 0.30}
BIGRAMS = 1_200_000
CENTI = 100  # costs are hundredths of a nat
LONGEST = 7
NOISES = {"m", "n", "ng", "hm", "hng", "fiao"}  # readings that no one types
JIEBA_WEIGHT, JIEBA_COUNT = 0.1, 5  # jieba's counts are rough: they only bring in words that the others lack
RECENT = {  # words that the sources lack, most of them newer, with a probability that puts them among their homophones
    6e-5: "蚂蚁",
    2e-5: "还款 还钱 账户 账号",
    6e-6: "花呗 支付宝 微信 淘宝 新冠 疫情 二维码",
    1.5e-6: "网商贷 余额宝 芝麻信用 扫码 收款码 网贷 新冠肺炎 复工 返乡 药剂量",
    4e-7: "借呗 收钱码",
}

SHARES = {("还", "huan"): 0.02}  # of a reading, where the counts are about another use


def is_han(text: str) -> bool:
    """Say whether `text` holds nothing but common Chinese characters."""
    return all("\u4e00" <= character <= "\u9fff" for character in text)


def read_aosp() -> dict[str, dict[str, int]]:
    """Return the counts of each word of Android's list, by reading."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for line in AOSP.read_text(encoding="utf-8").split("...\n", 1)[1].splitlines():
        if line.count("\t") == 2:
            word, reading, count = line.split("\t")
            counts[word][reading] = int(count) + 1
    return counts


def read_jieba_counts() -> dict[str, int]:
    """Return the counts of jieba's word list."""
    import jieba  # type: ignore[import-untyped]

    lines = Path(jieba.__file__).with_name("dict.txt").read_text(encoding="utf-8").splitlines()
    return {word: int(count) for word, count, _ in (line.split(" ") for line in lines)}


def read_open_gram() -> tuple[dict[int, str], dict[int, tuple[float, float]], list[tuple[int, int, float]]]:
    """Return open-gram's words, (probability, back-off) by word, and bigrams."""
    blob = (OPEN_GRAM / "pydict_sc.bin").read_bytes()
    start = int.from_bytes(blob[8:12], "little")
    # Six numbers precede the strings, and the first six ids are no words.
    words = {n + 6: word for n, word in enumerate(blob[start + 24 :].decode("utf-32-le").split("\0"))}
    dump = subprocess.run(
        ["/usr/bin/tslminfo", "-v", "-p", str(OPEN_GRAM / "lm_sc.t3g")], check=True, capture_output=True, text=True
    ).stdout
    unigrams: dict[int, tuple[float, float]] = {}
    bigrams: list[tuple[int, int, float]] = []
    order = 0
    for line in dump.splitlines():
        if line.startswith("\\"):
            order = int(line[1])
            continue
        parts = line.split()
        if order == 1:
            unigrams[int(parts[0])] = float(parts[1]), float(parts[2])
        elif order == 2:
            bigrams.append((int(parts[0]), int(parts[1]), float(parts[2])))
        elif order == 3:
            break
    return words, unigrams, bigrams


def main() -> None:
    """Write words.tsv, bigram_start.npy, bigram_next.npy, bigram_cost.npy, backoff.npy."""
    import opencc
    from pypinyin import Style, lazy_pinyin, pinyin
    from wordfreq import get_frequency_dict

    simplify = opencc.OpenCC("t2s").convert
    android = read_aosp()
    names, unigrams, bigrams = read_open_gram()
    rough = read_jieba_counts()
    modern = {w: p for w, p in get_frequency_dict("zh", wordlist="large").items() if is_han(w)}
    gram = {names[i]: p for i, (p, _) in unigrams.items() if i in names and names[i] and is_han(names[i])}
    total = sum(sum(c.values()) for c in android.values())
    gram_total, modern_total, rough_total = sum(gram.values()), sum(modern.values()), sum(rough.values())

    candidates = {w for w in android if is_han(w)} | set(gram)
    candidates |= {w for w, p in modern.items() if p > 2e-7 and 1 < len(w) <= 4}
    recent = {word: p for p, words in RECENT.items() for word in words.split()}
    candidates |= set(recent)
    candidates |= {w for w, n in rough.items() if n >= JIEBA_COUNT and 1 < len(w) <= 4 and is_han(w)}
    candidates = {w for w in candidates if len(w) <= LONGEST and simplify(w) == w}
    characters = {c for w in candidates if len(w) > 1 for c in w}
    entries: list[tuple[float, str, str]] = []
    for word in sorted(candidates):
        if len(word) == 1 and word not in characters and not _is_encodable(word, "gb2312"):
            continue
        counts = android.get(word, {})
        p = (
            WEIGHTS["open-gram"] * gram.get(word, 0) / gram_total
            + WEIGHTS["aosp"] * sum(counts.values()) / total
            + WEIGHTS["wordfreq"] * modern.get(word, 0) / modern_total
            + (JIEBA_WEIGHT * rough.get(word, 0) / rough_total if len(word) > 1 else 0)
        )
        p = max(p, recent.get(word, 1e-9))
        if counts:
            readings = {r: n / sum(counts.values()) for r, n in counts.items()}
        elif len(word) == 1:
            spellings = [r.replace("ü", "v") for r in pinyin(word, style=Style.NORMAL, heteronym=True)[0]]
            readings = {r: 1.0 if n == 0 else 0.01 for n, r in enumerate(dict.fromkeys(spellings))}
        else:
            readings = {" ".join(r.replace("ü", "v") for r in lazy_pinyin(word)): 1.0}
        for reading, share in readings.items():
            if (
                share >= 1e-4
                and not NOISES & set(reading.split())
                and reading.count(" ") == len(word) - 1
                and reading.isascii()
            ):
                entries.append((p * SHARES.get((word, reading), share), word, _spell(reading)))
    entries.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    lines = [f"{w}\t{r}\t{round(-math.log(p) * CENTI)}" for p, w, r in entries]
    (FOLDER / "words.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    first: dict[str, int] = {}
    for n, (_, word, _) in enumerate(entries):
        first.setdefault(word, n)
    _write_bigrams(first, names, unigrams, bigrams, len(entries))


def _spell(reading: str) -> str:
    """Return `reading` as it is typed: lue and nue for lve and nve."""
    return " ".join({"lve": "lue", "nve": "nue"}.get(s, s) for s in reading.split())


def _is_encodable(character: str, charset: str) -> bool:
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


def _write_bigrams(
    first: dict[str, int],
    names: dict[int, str],
    unigrams: dict[int, tuple[float, float]],
    bigrams: list[tuple[int, int, float]],
    size: int,
) -> None:
    """Keep the bigrams that tell most beyond their unigrams; rows `size` to `size + 3` are 。，：、."""
    contexts = {**first, **{mark: size + n for n, mark in enumerate("。，：、")}}
    ranked: list[tuple[float, int, int, float]] = []
    for left_id, right_id, p in bigrams:
        left, right = contexts.get(names.get(left_id, "")), first.get(names.get(right_id, ""))
        if left is None or right is None:
            continue
        p_left, backoff = unigrams[left_id]
        gain = p_left * p * abs(math.log(p / max(backoff * unigrams[right_id][0], 1e-12)))
        ranked.append((gain, left, right, p))
    ranked.sort(reverse=True)
    rows: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for _, left, right, p in ranked[:BIGRAMS]:
        rows[left].append((right, p))
    start = np.zeros(size + 5, dtype=np.uint32)
    following, cost = [], []
    for left in range(size + 4):
        for right, p in sorted(rows.get(left, ())):
            following.append(right)
            cost.append(min(255, round(-math.log(p) * 10)))
        start[left + 1] = len(following)
    weights = np.zeros(size + 4, dtype=np.uint8)
    for i, (_, weight) in unigrams.items():
        if (left := contexts.get(names.get(i, ""))) is not None:
            weights[left] = min(255, max(0, round(-math.log(weight) * 10)))
    np.save(FOLDER / "bigram_start.npy", start)
    np.save(FOLDER / "bigram_next.npy", np.array(following, dtype=np.uint32))
    np.save(FOLDER / "bigram_cost.npy", np.array(cost, dtype=np.uint8))
    np.save(FOLDER / "backoff.npy", weights)


if __name__ == "__main__":
    main()
