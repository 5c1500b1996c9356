"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import slu_accuracy

EXAMPLE = {
    "predictions": [
        {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
        {"intent": "play", "tags": ["O", "B-artist", "O"]},
    ],
    "references": [
        {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
        {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
    ],
}

if __name__ == "__main__":
    app(slu_accuracy, EXAMPLE).launch()
