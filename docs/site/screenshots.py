"""Take the screenshots of the documentation from the report of `lapsus demo`, by Chromium without a window.

Where Chromium or its driver is not installed, those that are there stay.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from lapsus.cli.demo import run_demo

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from browsers import opened  # noqa: E402 - the driver of the tests

CELL = "document.querySelectorAll('td.drop a')[4].click(); scrollTo(0, 0)"
SHOTS = {  # width, height, dark, what is done first
    "report": (1280, 1000, False, ""),
    "report-cell": (1280, 1500, False, CELL),
    "report-dark": (1280, 1000, True, ""),
    "report-phone": (390, 844, False, ""),
}


def main() -> None:
    """Write the screenshots into docs/."""
    with opened() as browser, tempfile.TemporaryDirectory() as folder:
        if browser is None:
            print("Chromium is not installed: the screenshots stay as they are.")
            return
        page = run_demo(Path(folder) / "demo", echo=lambda _: None)
        for name, (width, height, dark, first) in SHOTS.items():
            browser.dark(dark)
            browser.open(page, width)
            browser.run(first)
            size = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
            shot = browser.devtools("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": size})
            (ROOT / "docs" / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
            print(f"wrote docs/{name}.png")


if __name__ == "__main__":
    main()
