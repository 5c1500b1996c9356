"""The app of this metric's Space; `make generated` writes it."""

from lapsus.integrations.metric_app import build_app
from lapsus.metrics.mixed_effects.mixed_effects import MixedEffects
from lapsus.metrics.mixed_effects.score import mixed_effects

if __name__ == "__main__":
    build_app(mixed_effects, MixedEffects.EXAMPLE).launch()
