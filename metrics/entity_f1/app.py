"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.entity_f1.entity_f1 import EntityF1
from lapsus.metrics.entity_f1.score import entity_f1

if __name__ == "__main__":
    build_app(entity_f1, EntityF1.EXAMPLE).launch()
