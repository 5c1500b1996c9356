"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.human_likeness.human_likeness import HumanLikeness
from lapsus.metrics.human_likeness.score import human_likeness
from lapsus.results.space import app

if __name__ == "__main__":
    app(human_likeness, HumanLikeness.EXAMPLE).launch()
