"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.answer_f1.answer_f1 import AnswerF1
from lapsus.metrics.answer_f1.score import answer_f1

if __name__ == "__main__":
    build_app(answer_f1, AnswerF1.EXAMPLE).launch()
