"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.noise_rate.noise_rate import NoiseRate
from lapsus.metrics.noise_rate.score import noise_rate
from lapsus.results.space import app

if __name__ == "__main__":
    app(noise_rate, NoiseRate.EXAMPLE).launch()
