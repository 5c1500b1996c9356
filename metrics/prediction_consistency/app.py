"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.prediction_consistency.prediction_consistency import PredictionConsistency
from lapsus.metrics.prediction_consistency.score import prediction_consistency
from lapsus.results.space import app

if __name__ == "__main__":
    app(prediction_consistency, PredictionConsistency.EXAMPLE).launch()
