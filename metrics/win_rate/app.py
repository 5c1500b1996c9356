"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.win_rate.score import win_rate
from lapsus.metrics.win_rate.win_rate import WinRate

if __name__ == "__main__":
    build_app(win_rate, WinRate.EXAMPLE).launch()
