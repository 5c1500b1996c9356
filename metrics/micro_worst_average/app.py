"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import micro_worst_average

EXAMPLE = {
    "predictions": [[1, 1, 0], [1, 1, 1], [0, None, 1]],
    "clean_scores": [1, 1, 1],
    "groups": ["positive", "negative", "positive"],
}

if __name__ == "__main__":
    app(micro_worst_average, EXAMPLE).launch()
