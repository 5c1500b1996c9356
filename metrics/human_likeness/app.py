"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import human_likeness

EXAMPLE = {
    "predictions": [["哗呗怎么不能提额了"], ["借呗额度为什么没有了"], ["怎么申请开通花呗"], ["今天几点自动扣款"]],
    "references": ["花呗怎么不能提额了", "借呗额度为什么没有了", "怎么申请开通花呗", "今天几点自动扣款"],
    "human": [["花呗怎么不能贴了"], ["借呗额度为什么没有了"], ["怎么申请开通画呗"], ["今天几点自动口款"]],
}

if __name__ == "__main__":
    app(human_likeness, EXAMPLE).launch()
