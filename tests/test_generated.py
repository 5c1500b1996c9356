"""What is generated is fresh."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from lapsus import metrics
from lapsus.commands.catalogue import catalogue
from lapsus.commands.generated import texts

ROOT = Path(__file__).parents[1]


def test_generated_texts_are_fresh():
    stale = [path for path, text in texts(ROOT).items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make generated`"


def test_a_new_metric_needs_its_function_its_module_and_its_words(tmp_path, monkeypatch):
    """The rest is generated: README, app.py, requirements.txt and the import of the function."""
    shutil.copytree(ROOT / "metrics", tmp_path / "metrics")
    shutil.copy(ROOT / "README.md", tmp_path)
    old, new = tmp_path / "metrics" / "win_rate", tmp_path / "metrics" / "wins"
    new.mkdir()
    (new / "score.py").write_text((old / "score.py").read_text().replace("win_rate(", "wins("))
    module = (old / "win_rate.py").read_text()
    (new / "wins.py").write_text(
        module.replace("win_rate)", "wins)").replace("WinRate", "Wins").replace("import win_rate", "import wins")
    )
    words = "## Values from the papers\n\nNone.\n\n## Limits\n\nAs of any other.\n"
    (new / "README.md").write_text(words)
    monkeypatch.setattr(metrics, "__path__", [str(tmp_path / "metrics")])
    monkeypatch.setattr(metrics, "FOLDER", tmp_path / "metrics")
    written = {str(path.relative_to(tmp_path)): text for path, text in texts(tmp_path).items()}
    assert "from lapsus.metrics.wins.score import wins\n" in written["metrics/__init__.py"]
    assert '    "wins",\n' in written["metrics/__init__.py"]
    assert "    app(wins, Wins.EXAMPLE).launch()\n" in written["metrics/wins/app.py"]
    assert written["metrics/wins/requirements.txt"].split() == ["lapsus", "datasets", "evaluate", "numpy", "scipy"]
    assert "- **comparisons**: how many such tests" in written["metrics/wins/README.md"]
    assert written["metrics/wins/README.md"].count("As of any other.") == 1
    assert "[`wins`](metrics/wins/README.md)" in written["README.md"]
    for name in [name for name in sys.modules if name.startswith("lapsus.metrics.wins")]:
        monkeypatch.delitem(sys.modules, name)


def test_the_catalogue_names_the_extras_that_a_unit_needs():
    units = {unit["name"]: unit["needs"] for kind in catalogue().values() for unit in kind}
    assert units["dialect-zh"] == "a download; lapsus[zh]"
    assert units["nature-atis"].endswith("; lapsus[en,models,augment]")
    assert units["semantic_insert_zh"] == "lapsus[zh]"
    assert units["dialect-en"] == units["dialect-en-demszky"].partition("; ")[2] == units["semantic_insert_pt"] == ""
