"""The app of this metric's Space."""

from lapsus.kernel.space import app
from lapsus.metrics import noise_rate

EXAMPLE = {"predictions": [["花贝提额", "话贝提额"], ["你好", "您好"]], "references": ["花呗提额", "你好"]}

if __name__ == "__main__":
    app(noise_rate, EXAMPLE).launch()
