"""The app of this metric's Space; `make generated` writes it."""

from lapsus.kernel.space import app
from lapsus.metrics.win_rate.score import win_rate
from lapsus.metrics.win_rate.win_rate import WinRate

if __name__ == "__main__":
    app(win_rate, WinRate.EXAMPLE).launch()
