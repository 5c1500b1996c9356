"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import prediction_consistency

EXAMPLE = {
    "predictions": ["entailment", "neutral", "neutral"],
    "references": ["entailment", "entailment", "not_entailment"],
    "original_predictions": ["entailment", "entailment", "contradiction"],
    "label_map": {"neutral": "not_entailment", "contradiction": "not_entailment"},
}

if __name__ == "__main__":
    app(prediction_consistency, EXAMPLE).launch()
