"""Edits without their texts: what is rebuilt over the user's own copy is the direct build, byte for byte."""

from __future__ import annotations

import json
import shutil

import pytest
import viewer
from click.testing import CliRunner
from paths import BENCHMARK_FILES
from some_configs import SOURCES, build_some

from lapsus.cli.main import main
from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import build_dataset
from lapsus.hub.stand_off import make_edits_benchmark, make_rebuild_benchmark
from lapsus.io.streams import open_streams


def list_bytes(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.mark.parametrize("name", SOURCES)
def test_a_rebuild_equals_the_direct_build_byte_for_byte(name, tmp_path):
    direct = build_some(name, tmp_path / name)
    edits, left_out = make_edits_benchmark(direct, "cc-by-4.0")
    assert left_out == []
    folder = build_dataset(edits, tmp_path / "edits").path
    assert not [problem for problem in viewer.check_folder(folder) if "3440" not in problem]
    rebuilt = build_dataset(
        make_rebuild_benchmark(folder), tmp_path / "again", source=BENCHMARK_FILES / SOURCES[name], allow_partial=True
    )
    assert list_bytes(rebuilt.path) == list_bytes(direct) and len(list_bytes(direct)) > 2
    texts = {row["text"] for row in iter_rows(direct, "clean", "original") for row in [{"text": to_words(row)}]}
    published = b"".join(list_bytes(folder).values())
    assert not [text for text in texts if len(text) > 8 and text.encode() in published]


def iter_rows(folder, *configs):
    for config in configs:
        if (folder / config).is_dir():
            for stream in open_streams(str(folder / config / "*.parquet")).values():
                yield from stream.read()


def to_words(row):
    value = row.get("sentence1") or row.get("question") or row.get("tokens") or row["translation"]["zh"]
    return " ".join(value) if isinstance(value, list) else value


def test_other_sources_are_refused(tmp_path):
    direct = build_some("readin-afqmc-sim", tmp_path / "direct")
    folder = build_dataset(make_edits_benchmark(direct, None)[0], tmp_path / "edits").path
    source = shutil.copytree(BENCHMARK_FILES / "readin" / "afqmc_balanced", tmp_path / "source" / "afqmc_balanced")
    file = next(source.rglob("test_clean.json"))
    lines = file.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[1]) | {"sentence1": "另一个句子"}
    file.write_text("\n".join([lines[0], json.dumps(row, ensure_ascii=False), *lines[2:]]), encoding="utf-8")
    words = ["build", "--edits", str(folder), "--source", str(tmp_path / "source"), "--out", str(tmp_path / "x")]
    refused = CliRunner().invoke(main, [*words, "--allow-partial"])
    assert refused.exit_code == 1
    assert "row '1' of the source has another text than the edits were made for" in refused.output
    file.write_text(lines[0] + "\n", encoding="utf-8")
    refused = CliRunner().invoke(main, [*words, "--allow-partial"])
    assert "the source has no row '1', which the edits are for" in refused.output
    assert not (tmp_path / "x").exists()


def test_what_people_wrote_needs_their_permission(tmp_path):
    benchmark = benchmarks()["noiseqa"]
    build_dataset(benchmark, tmp_path / "noiseqa", source=BENCHMARK_FILES / "noiseqa", allow_partial=True)
    words = ["edits", str(tmp_path / "noiseqa"), "--out", str(tmp_path / "edits"), "--license", "cc-by-sa-4.0"]
    asked = CliRunner().invoke(main, words)
    assert asked.exit_code == 1 and "what people wrote needs their permission (--people-agreed)" in asked.output
    done = CliRunner().invoke(main, [*words, "--people-agreed"])
    assert done.exit_code == 0, done.output
    again = ["build", "--edits", str(tmp_path / "edits"), "--source", str(BENCHMARK_FILES / "noiseqa")]
    done = CliRunner().invoke(main, [*again, "--allow-partial", "--out", str(tmp_path / "again")])
    assert done.exit_code == 0, done.output
    assert list_bytes(tmp_path / "again") == list_bytes(tmp_path / "noiseqa")


def test_edits_need_a_licence_before_they_are_published(tmp_path):
    refused = CliRunner().invoke(main, ["edits", str(tmp_path), "--out", str(tmp_path / "x"), "--push", "org"])
    assert refused.exit_code == 2 and "name theirs with --license" in refused.output
    other = CliRunner().invoke(main, ["build", "--edits", str(tmp_path), "--out", str(tmp_path / "x")])
    assert other.exit_code == 1 and "has no edits.json; name a folder or repo that `lapsus edits` made" in other.output
