"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import dialect_awareness

EXAMPLE = {"predictions": [0.8, 0.7, 0.7], "references": [0.6, 0.7, 0.9]}

if __name__ == "__main__":
    app(dialect_awareness, EXAMPLE).launch()
