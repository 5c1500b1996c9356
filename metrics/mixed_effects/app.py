"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import mixed_effects

EXAMPLE = {
    "predictions": [0.8, 0.5, 0.9, 0.5, 0.7, 0.6],
    "conditions": ["dialect", "perturbed", "dialect", "perturbed", "dialect", "perturbed"],
    "examples": ["a", "a", "b", "b", "c", "c"],
    "baseline": "perturbed",
}

if __name__ == "__main__":
    app(mixed_effects, EXAMPLE).launch()
