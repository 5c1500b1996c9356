"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.micro_worst_average.micro_worst_average import MicroWorstAverage
from lapsus.metrics.micro_worst_average.score import micro_worst_average

if __name__ == "__main__":
    build_app(micro_worst_average, MicroWorstAverage.EXAMPLE).launch()
