"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.dialect_awareness.dialect_awareness import DialectAwareness
from lapsus.metrics.dialect_awareness.score import dialect_awareness

if __name__ == "__main__":
    build_app(dialect_awareness, DialectAwareness.EXAMPLE).launch()
