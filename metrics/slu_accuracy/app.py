"""The app of this metric's Space."""

from lapsus.space import app

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
    app("slu_accuracy", EXAMPLE).launch()
