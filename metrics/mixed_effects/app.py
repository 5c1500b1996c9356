"""The app of this metric's Space; `make generated` writes it."""

from lapsus.metrics.mixed_effects.mixed_effects import MixedEffects
from lapsus.metrics.mixed_effects.score import mixed_effects
from lapsus.results.space import app

if __name__ == "__main__":
    app(mixed_effects, MixedEffects.EXAMPLE).launch()
