"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.dialect_awareness.dialect_awareness import DialectAwareness
from lapsus.metrics.dialect_awareness.score import dialect_awareness
from lapsus.results.space import app

if __name__ == "__main__":
    app(dialect_awareness, DialectAwareness.EXAMPLE).launch()
