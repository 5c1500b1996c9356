"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.slu_accuracy.score import slu_accuracy
from lapsus.metrics.slu_accuracy.slu_accuracy import SluAccuracy

if __name__ == "__main__":
    build_app(slu_accuracy, SluAccuracy.EXAMPLE).launch()
