"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.slu_accuracy.score import slu_accuracy
from lapsus.metrics.slu_accuracy.slu_accuracy import SluAccuracy
from lapsus.results.space import app

if __name__ == "__main__":
    app(slu_accuracy, SluAccuracy.EXAMPLE).launch()
