"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.micro_worst_average.micro_worst_average import MicroWorstAverage
from lapsus.metrics.micro_worst_average.score import micro_worst_average
from lapsus.results.space import app

if __name__ == "__main__":
    app(micro_worst_average, MicroWorstAverage.EXAMPLE).launch()
