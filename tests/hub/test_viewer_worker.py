"""The Hub viewer's own statistics agree with our restatement of its rules, where a checkout of its source is given."""

from __future__ import annotations

import pytest
import viewer
import viewer_worker
from datasets import ClassLabel, Dataset, Features, List, Value
from own_rows import ROWS

from lapsus.dataset_scripts import benchmarks
from lapsus.hub import build_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.skipif(not viewer_worker.IS_HERE, reason=f"{viewer_worker.VARIABLE} names no checkout of the viewer"),
]
ALSO = {  # where every row has few edits, and where the rows of `speech` are fewer
    "nature-atis": ("filler_bos", "synonym_verb", "speako"),
    "nature-snips": ("filler_eos", "random.0"),
    "readin-wmt2021": ("speech",),
}
NAMES = sorted(benchmarks())
COLUMNS = {
    "binary": (Value("int64"), [n % 2 for n in range(24)]),
    "three": (Value("int64"), [n % 3 for n in range(24)]),
    "names": (ClassLabel(names=["no", "yes"]), [n % 2 for n in range(24)]),
    "yes": (Value("bool"), [n % 2 == 0 for n in range(24)]),
    "lengths": (Value("string"), ["x" * (7 + n % 2) + f"{n:02}" for n in range(24)]),
    "lists": (List(Value("int64")), [[1] * (1 + n % 2) for n in range(24)]),
    "alone": (Value("int64"), [5] + [None] * 23),
    "equal": (Value("int64"), [7] * 24),
    "floats": (Value("float32"), [n / 7 for n in range(24)]),
}


def find_ours(folder):
    return {
        f"{place} {words[1]}"
        for said in viewer.check_folder(folder)
        if "no statistics of" in said
        for place, words in [(said.partition(":")[0], said.split("'"))]
    }


def test_our_restatement_finds_what_the_worker_finds(tmp_path):
    features = Features(
        {"id": Value("string"), "text": Value("string"), **{k: kind for k, (kind, _) in COLUMNS.items()}}
    )
    values = {name: cells for name, (_, cells) in COLUMNS.items()}
    rows = Dataset.from_dict({**{k: [row[k] for row in ROWS] for k in ("id", "text")}, **values}, features=features)
    folder = build_rows(rows, tmp_path / "out", text="text", noise="noisy=filler_eos:2").path
    (seen,) = viewer_worker.watch({"out": folder}).values()
    assert set(seen) == find_ours(folder)
    assert {place.split()[1] for place in seen} == {"lengths", "lists", "alone"}  # `binary` became classes


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not viewer_worker.DATA.exists():
        pytest.skip("the real files are not here")
    return viewer_worker.build(NAMES, tmp_path_factory.mktemp("built"), ALSO)


@pytest.fixture(scope="module")
def seen(built):
    return viewer_worker.watch({name: each.path for name, each in built.items()})


@pytest.mark.parametrize("name", NAMES)
def test_the_worker_has_statistics_of_every_split(seen, name):
    assert seen[name] == {}


@pytest.mark.parametrize("name", NAMES)
def test_our_restatement_of_its_rules_agrees(built, name):
    assert viewer.check_folder(built[name].path) == []
