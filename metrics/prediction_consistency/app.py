"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.prediction_consistency.prediction_consistency import PredictionConsistency
from lapsus.metrics.prediction_consistency.score import prediction_consistency

if __name__ == "__main__":
    build_app(prediction_consistency, PredictionConsistency.EXAMPLE).launch()
