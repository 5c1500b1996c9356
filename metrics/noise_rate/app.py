"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.noise_rate.noise_rate import NoiseRate
from lapsus.metrics.noise_rate.score import noise_rate

if __name__ == "__main__":
    build_app(noise_rate, NoiseRate.EXAMPLE).launch()
