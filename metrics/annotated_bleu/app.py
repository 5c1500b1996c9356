"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import annotated_bleu

EXAMPLE = {
    "predictions": [["the cat sat down", "the hat sat down"]],
    "references": ["the cat sat down"],
    "mode": "sentence",
}

if __name__ == "__main__":
    app(annotated_bleu, EXAMPLE).launch()
