"""What is built goes through the Hub viewer's own worker, and mlcroissant reads what the Hub says of it.

These are a few datasets; `python tests/viewer_worker.py` takes them all.
"""

from __future__ import annotations

import pytest
import viewer
import viewer_worker

from lapsus.dataset_scripts import benchmarks
from lapsus.hub.publish import publish

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.skipif(
        not (viewer_worker.WORKER.exists() and viewer_worker.DATA.exists()), reason="the viewer's worker is not here"
    ),
    pytest.mark.skipif(viewer_worker.python() is None, reason=f"there is no Python {viewer_worker.PYTHON}"),
]
FEW = {
    "nature-atis": ("nature_slu/atis", ("original", "filler_bos", "synonym_verb", "speako")),
    "nature-snips": ("nature_slu/snips", ("filler_eos", "random.0")),
    "noiseqa": ("noiseqa", ("clean", "speech")),
    "readin-wmt2021": ("readin", ("clean", "keyboard.1", "speech")),
    "sample": (None, ("clean", "speech.1", "original", "filler_bos", "entailment", "dialect")),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    out = tmp_path_factory.mktemp("built")
    made = {}
    for name, (source, configs) in FEW.items():
        whole = benchmarks()[name]
        part = type(
            name, (whole,), {"__module__": whole.__module__, "ROWS": {config: whole.ROWS[config] for config in configs}}
        )
        made[name] = publish(part, out / name, source=source and viewer_worker.DATA / source, allow_partial=True).path
    return made


@pytest.fixture(scope="module")
def seen(folders):
    return viewer_worker.watch(folders)


@pytest.mark.parametrize("name", FEW)
def test_the_worker_and_mlcroissant_find_nothing_amiss(seen, name):
    assert (seen[name]["failures"], seen[name]["croissant"]) == ([], [])
    splits = sum(len(benchmarks()[name].ROWS[config]) for config in FEW[name][1])
    assert seen[name]["steps"]["split-descriptive-statistics"] == splits


@pytest.mark.parametrize("name", FEW)
def test_our_restatement_of_its_rules_agrees(folders, name):
    assert viewer.check_folder(folders[name]) == []


@pytest.mark.parametrize("name", FEW)
def test_the_first_config_is_the_first_that_a_visitor_sees(seen, name):
    first, *others = seen[name]["configs"]
    assert first == FEW[name][1][0]
    assert others == sorted(others)
