"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import win_rate

EXAMPLE = {"predictions": [0.9, 0.8, 0.7, 0.7], "references": [0.1, 0.2, 0.7, 0.3], "comparisons": 5}

if __name__ == "__main__":
    app(win_rate, EXAMPLE).launch()
