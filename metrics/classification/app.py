"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.classification.classification import Classification
from lapsus.metrics.classification.score import classification

if __name__ == "__main__":
    build_app(classification, Classification.EXAMPLE).launch()
