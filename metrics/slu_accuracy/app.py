"""The app of this metric's Space; `make generated` writes it."""

from lapsus.kernel.space import app
from lapsus.metrics.slu_accuracy.score import slu_accuracy
from lapsus.metrics.slu_accuracy.slu_accuracy import SluAccuracy

if __name__ == "__main__":
    app(slu_accuracy, SluAccuracy.EXAMPLE).launch()
