"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.annotated_chrf.annotated_chrf import AnnotatedChrf
from lapsus.metrics.annotated_chrf.score import annotated_chrf

if __name__ == "__main__":
    build_app(annotated_chrf, AnnotatedChrf.EXAMPLE).launch()
