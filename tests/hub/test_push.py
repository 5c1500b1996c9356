"""`lapsus push`: what must be confirmed before a built folder is published."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from paths import BENCHMARK_FILES
from toy_benchmark import Toy, toy

import lapsus.hub.upload
from lapsus.cli.main import main
from lapsus.hub.build import build_dataset


@pytest.fixture
def sent(monkeypatch):
    """Collect what would be uploaded."""
    calls = []
    monkeypatch.setattr(lapsus.hub.upload, "upload", lambda *a, **options: calls.append((*a, options)) or "the Hub")
    return calls


def push(*words):
    return CliRunner().invoke(main, ["push", *map(str, words)])


def test_a_built_folder_is_sent_without_a_rebuild(sent, tmp_path):
    build_dataset(Toy, tmp_path / "out")
    done = push(tmp_path / "out", "org", "--private")
    assert done.exit_code == 0, done.output
    wishes = {"private": True, "gated": None, "version": "1.0.0", "replace_version": False}
    assert sent == [(tmp_path / "out", "org/sample", wishes)]


def test_a_part_is_published_only_when_asked_for(sent, tmp_path):
    build_dataset(toy(ROWS={"clean": {"test": 3}}), tmp_path / "out", allow_partial=True)
    refused = push(tmp_path / "out", "org")
    assert refused.exit_code == 2 and "--allow-partial" in refused.output and not sent
    assert push(tmp_path / "out", "org", "--allow-partial").exit_code == 0
    assert sent[0][2]["version"] is None  # a part is no version of the data


def test_the_cure_for_a_part_without_a_licence_works_as_printed(sent, tmp_path):
    build_dataset(toy(LICENSE=None, ROWS={"clean": {"test": 3}}), tmp_path / "out", allow_partial=True)
    refused = push(tmp_path / "out", "org", "--i-have-the-rights")
    words = refused.output.split("lapsus push ")[1].split()
    assert push(*words).exit_code == 0 and sent


def test_rows_that_went_missing_after_the_build_are_found(tmp_path):
    """Who loads the card's numbers and other files gets an error from datasets, for as long as the tag is there."""
    build_dataset(Toy, tmp_path / "out")
    file = tmp_path / "out" / "clean" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)
    refused = push(tmp_path / "out", "org")
    assert refused.exit_code == 1
    assert "out was not uploaded to org/sample: clean/test has 1 rows, and README.md says 2" in refused.output


def test_a_split_that_its_address_cuts_short_is_no_part(sent, tmp_path):
    build_dataset(toy(ROWS={"clean": {"test": 3}}, AT_ADDRESS={"clean/test": 2}), tmp_path / "out")
    assert push(tmp_path / "out", "org").exit_code == 0 and sent


def test_without_a_licence_the_rights_are_asked_for(sent, tmp_path):
    build_dataset(toy(LICENSE=None), tmp_path / "out")
    refused = push(tmp_path / "out", "org")
    assert refused.exit_code == 2 and "pass --i-have-the-rights" in refused.output and not sent
    assert push(tmp_path / "out", "org", "--i-have-the-rights").exit_code == 0 and sent


def test_what_is_known_of_the_rights_is_said(sent, tmp_path):
    source = BENCHMARK_FILES / "zh_asr_pairs"
    words = ["build", "zh-asr", "--source", str(source), "--allow-partial", "--out", str(tmp_path / "zh-asr")]
    at_once = CliRunner().invoke(main, [*words, "--push", "org"])
    assert CliRunner().invoke(main, words).exit_code == 0
    for refused in (at_once, push(tmp_path / "zh-asr", "org")):
        assert refused.exit_code == 2 and "magicdata is under CC BY-NC-ND 4.0" in refused.output and not sent


@pytest.mark.parametrize("content", [None, "no front matter", "---\nlicense: mit\n---\n"])
def test_other_folders_are_refused(sent, content, tmp_path):
    if content is not None:
        (tmp_path / "README.md").write_text(content)
    refused = push(tmp_path, "org")
    assert refused.exit_code == 1 and "was not written by `lapsus build`" in refused.output and not sent


@pytest.mark.parametrize("content", [b"---\nlapsus: [1\n---\n", b"\xff\xfe\0", b"---\nlapsus: a: b\n---\n"])
def test_a_broken_card_is_one_sentence(sent, content, tmp_path):
    (tmp_path / "README.md").write_bytes(content)
    refused = push(tmp_path, "org")
    assert refused.exit_code == 1 and not sent
    assert refused.output.startswith(f"Error: {tmp_path}/README.md cannot be read (")
    assert refused.output.endswith("; build the folder again\n") and refused.output.count("\n") == 1


def test_build_pushes_no_part_unasked(sent, tmp_path):
    words = ["build", "rte", "--source", str(BENCHMARK_FILES / "rte"), "--allow-partial"]
    words += ["--out", str(tmp_path / "out"), "--push", "org", "--i-have-the-rights"]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2 and "--allow-partial" in refused.output and not sent
    assert CliRunner().invoke(main, [*words, "--push-partial"]).exit_code == 0 and sent
