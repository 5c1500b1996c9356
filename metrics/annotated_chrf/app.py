"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.annotated_chrf.annotated_chrf import AnnotatedChrf
from lapsus.metrics.annotated_chrf.score import annotated_chrf
from lapsus.results.space import app

if __name__ == "__main__":
    app(annotated_chrf, AnnotatedChrf.EXAMPLE).launch()
