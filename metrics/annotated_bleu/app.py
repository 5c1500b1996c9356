"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.annotated_bleu.annotated_bleu import AnnotatedBleu
from lapsus.metrics.annotated_bleu.score import annotated_bleu
from lapsus.results.space import app

if __name__ == "__main__":
    app(annotated_bleu, AnnotatedBleu.EXAMPLE).launch()
