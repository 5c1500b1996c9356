"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.answer_f1.answer_f1 import AnswerF1
from lapsus.metrics.answer_f1.score import answer_f1
from lapsus.results.space import app

if __name__ == "__main__":
    app(answer_f1, AnswerF1.EXAMPLE).launch()
