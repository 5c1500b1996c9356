"""Speed of the Chinese typist on new sentences, beside its peers: `python benchmarks/fidelity/chinese.py [FILE]`.

FILE holds one sentence per line; without it, sentences of about 15 characters are put together from templates.
Peers that are not installed are named and left out: `pip install jionlp nlpcda`. JioNLP comes with its segmenter in C;
to compare like with like, compile the typist too: `LAPSUS_COMPILE=1 pip install .` (see setup.py).
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from zlib import crc32

from lapsus.perturbations.core import perturb_batch
from lapsus.perturbations.zh.input_method import pinyin as pinyin_engine
from lapsus.perturbations.zh.input_method.installed import list_input_methods
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST = 36_000  # sentences
WARM_UP, BLOCKS = 2, 10  # blocks of sentences: not timed, timed
PARTS = (
    ("我的", "为什么", "请问", "昨天", "公司", "老师说", "他们", "这个周末"),
    ("银行卡", "手机", "作业", "会议", "订单", "火车票", "快递", "空调", "新买的电脑", "晚上的电影"),
    ("还没有", "怎么", "已经", "突然", "可以", "不能", "应该", "好像"),
    ("收到", "取消", "打开", "完成", "修改", "延期", "付款", "使用", "退回", "通知"),
    ("了吗", "怎么办", "比较好", "两三天了", "请帮我看一下", "，谢谢", "，他很着急"),
)


def sentences() -> list[str]:
    """Return every combination, shuffled the same way each time."""
    return sorted(("".join(parts) for parts in itertools.product(*PARTS)), key=lambda text: crc32(text.encode()))


def steady_rate(work: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    """Return new sentences per CPU second: the median over the blocks after warm-up; each text is processed once."""
    size = max(1, len(texts) // (WARM_UP + BLOCKS))
    blocks = [texts[n : n + size] for n in range(0, len(texts) - size + 1, size)]
    rates = []
    for block in blocks:
        before = time.process_time()
        work(block)
        rates.append(len(block) / (time.process_time() - before))
    return median(rates[WARM_UP:] or rates)


def workers() -> Iterator[tuple[str, Callable[[Sequence[str]], object]]]:
    """Yield the name and function of each contender that is installed."""
    how = "interpreted" if pinyin_engine.__file__.endswith(".py") else "compiled"
    yield f"zh_keyboard, embedded, {how}", lambda texts: perturb_batch(ZhKeyboard(1), texts)
    for engine in list_input_methods():
        if engine.available:
            operator = ZhKeyboard(1, engine=engine.name)
            yield f"zh_keyboard, {engine.name}", partial(perturb_batch, operator)
    if find_spec("jionlp"):
        import jionlp

        yield "JioNLP, as it comes", lambda texts: [jionlp.homophone_substitution(text) for text in texts]
        yield "JioNLP, one copy", lambda texts: [jionlp.homophone_substitution(t, augmentation_num=1) for t in texts]
    if find_spec("nlpcda"):
        import nlpcda

        homophone = nlpcda.Homophone(create_num=2, change_rate=0.3)
        yield "nlpcda Homophone", lambda texts: [homophone.replace(text) for text in texts]


def main() -> None:
    """Print one line per contender."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if len(sys.argv) > 1 else sentences()
    texts = list(dict.fromkeys(filter(None, map(str.strip, lines))))[:MOST]
    print(f"{len(texts)} sentences of {sum(map(len, texts)) / len(texts):.1f} characters on average, each seen once")
    for package in ("jionlp", "nlpcda"):
        if not find_spec(package):
            print(f"{package} is not installed: left out")
    cold = (
        "import time; t = time.process_time(); "
        "from lapsus.perturbations import ZhKeyboard, perturb; "
        "perturb(ZhKeyboard(1), '今天天气很好'); import resource; "
        "print(f'{time.process_time() - t:.2f} s of work, '"
        "f'{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB')"
    )
    print(
        "start, with a first sentence:",
        subprocess.run([sys.executable, "-c", cold], check=True, capture_output=True, text=True).stdout.strip(),
    )
    reference = 0.0
    for name, work in workers():
        first = time.process_time()
        work(texts[:1])
        first = time.process_time() - first
        steady = steady_rate(work, texts[1:])
        reference = reference or steady
        print(f"{name:36s} {steady:8.0f}/s new sentences; ×{steady / reference:.2f}; first call {first:.1f} s")
    print(f"memory at the end: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
