"""What is built goes through the Hub viewer's own worker, and mlcroissant reads what the Hub says of it.

Of every dataset these are one config of a kind; `python tests/helpers/viewer_worker.py` takes all configs.
"""

from __future__ import annotations

import pytest
import viewer
import viewer_worker

from lapsus.dataset_scripts import benchmarks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.skipif(
        not (viewer_worker.WORKER.exists() and viewer_worker.DATA.exists()), reason="the viewer's worker is not here"
    ),
    pytest.mark.skipif(viewer_worker.python() is None, reason=f"there is no Python {viewer_worker.PYTHON}"),
]
ALSO = {  # where every row has few edits, and where the rows of `speech` are fewer
    "nature-atis": ("filler_bos", "synonym_verb", "speako"),
    "nature-snips": ("filler_eos", "random.0"),
    "readin-wmt2021": ("speech",),
}
NAMES = sorted(benchmarks())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return viewer_worker.build(NAMES, tmp_path_factory.mktemp("built"), ALSO)


@pytest.fixture(scope="module")
def seen(built):
    return viewer_worker.watch({name: each.path for name, each in built.items()})


@pytest.mark.parametrize("name", NAMES)
def test_the_worker_and_mlcroissant_find_nothing_amiss(built, seen, name):
    assert (seen[name]["failures"], seen[name]["croissant"]) == ([], [])
    splits = sum(bool(rows) for config in built[name].rows.values() for rows in config.values())
    assert seen[name]["steps"]["split-descriptive-statistics"] == splits > 0


@pytest.mark.parametrize("name", NAMES)
def test_our_restatement_of_its_rules_agrees(built, name):
    assert viewer.check_folder(built[name].path) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_first_config_is_the_first_that_a_visitor_sees(built, seen, name):
    first, *others = seen[name]["configs"]
    assert first == next(iter(built[name].rows))
    assert others == sorted(others)
