"""Files that are written beside their target and moved there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from lapsus.core.files import stage_file, stage_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from lapsus.core.files import stage_file
with stage_file(Path(sys.argv[1])) as file:
    file.write(b"half of a longer tex")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="left-overs are found by locks of files")
def test_what_a_killed_run_left_behind_goes_with_the_next(tmp_path):
    out = tmp_path / "文 件"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, out], check=False)
        assert done.returncode == -signal.SIGKILL
    assert names(tmp_path) == [".文 件.partial"]
    with stage_file(out) as file:
        file.write(b"whole")
    assert names(tmp_path) == ["文 件"] and out.read_bytes() == b"whole"


def test_two_writers_of_one_file_do_not_mix(tmp_path):
    out = tmp_path / "out"
    with stage_file(out) as one, stage_file(out) as other:
        one.write(b"one")
        other.write(b"other")
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == ["out"] and out.read_bytes() == b"one"  # which ended last


def test_a_block_that_raises_leaves_the_old_file_alone(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with pytest.raises(TypeError), stage_file(out) as file:
        file.write("a text where bytes belong")
    assert names(tmp_path) == ["out"] and out.read_bytes() == b"old"


def test_a_link_in_the_way_is_not_written_through(tmp_path):
    (tmp_path / "other").write_bytes(b"somebody's")
    (tmp_path / ".out.partial").symlink_to(tmp_path / "other")
    with stage_file(tmp_path / "out") as file:
        file.write(b"mine")
    assert (tmp_path / "other").read_bytes() == b"somebody's"
    assert not (tmp_path / "out").is_symlink() and (tmp_path / "out").read_bytes() == b"mine"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_a_file_stays_and_what_it_names_is_written(tmp_path, there):
    (tmp_path / "disk").mkdir()
    if there:
        (tmp_path / "disk" / "real").write_bytes(b"old")
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "real")
    with stage_file(tmp_path / "out") as file:
        file.write(b"new")
    assert (tmp_path / "out").is_symlink() and (tmp_path / "disk" / "real").read_bytes() == b"new"
    assert names(tmp_path / "disk") == ["real"] and names(tmp_path) == ["disk", "out"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_a_folder_stays_and_what_it_names_is_written(tmp_path, there):
    (tmp_path / "disk").mkdir()
    if there:
        (tmp_path / "disk" / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "real")
    for _ in range(2):
        with stage_folder(tmp_path / "out", may_replace=lambda _: True, description="page") as folder:
            (folder / "index").write_bytes(b"new")
    assert (tmp_path / "out").is_symlink() and names(tmp_path / "disk" / "real") == ["index"]
    assert names(tmp_path / "disk") == ["real"] and names(tmp_path) == ["disk", "out"]
