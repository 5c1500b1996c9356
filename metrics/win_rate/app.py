"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.win_rate.score import win_rate
from lapsus.metrics.win_rate.win_rate import WinRate
from lapsus.results.space import app

if __name__ == "__main__":
    app(win_rate, WinRate.EXAMPLE).launch()
