"""The app of this metric's Space."""

from lapsus.space import app

EXAMPLE = {
    "predictions": [["the cat sat down", "the hat sat down"]],
    "references": ["the cat sat down"],
    "mode": "sentence",
}

if __name__ == "__main__":
    app("annotated_bleu", EXAMPLE).launch()
