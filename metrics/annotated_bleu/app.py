"""The app of this metric's Space; `make generated` writes it."""

from lapsus.kernel.space import app
from lapsus.metrics.annotated_bleu.annotated_bleu import AnnotatedBleu
from lapsus.metrics.annotated_bleu.score import annotated_bleu

if __name__ == "__main__":
    app(annotated_bleu, AnnotatedBleu.EXAMPLE).launch()
