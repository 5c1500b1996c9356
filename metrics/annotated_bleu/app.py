"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.annotated_bleu.annotated_bleu import AnnotatedBleu
from lapsus.metrics.annotated_bleu.score import annotated_bleu

if __name__ == "__main__":
    build_app(annotated_bleu, AnnotatedBleu.EXAMPLE).launch()
