"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.human_likeness.human_likeness import HumanLikeness
from lapsus.metrics.human_likeness.score import human_likeness

if __name__ == "__main__":
    build_app(human_likeness, HumanLikeness.EXAMPLE).launch()
