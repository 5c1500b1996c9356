"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.classification.classification import Classification
from lapsus.metrics.classification.score import classification
from lapsus.results.space import app

if __name__ == "__main__":
    app(classification, Classification.EXAMPLE).launch()
