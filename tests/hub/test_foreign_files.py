"""A push keeps what it did not write: files, configs and words of others survive every upload."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import fake_hub
import pytest
import small_folder
import yaml
from fake_hub import Fault
from huggingface_hub import CommitOperationAdd, HfApi, constants

from lapsus.hub.card_merge import merge_cards, merge_data, merge_lines, split_card
from lapsus.hub.upload import MANIFEST, UploadError, upload, upload_space

FOREIGN = {"LICENSE": b"mine", "human.1/test-00000-of-00001.parquet": b"rows", "figures/drop.png": b"png"}


@pytest.fixture
def here(monkeypatch):
    with fake_hub.serve() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("HF_TOKEN", fake_hub.WRITE_TOKEN)
        monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda _: None))
        yield hub


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("folders")
    contents = (small_folder.configs(), {"clean": small_folder.configs()["clean"]})
    for number, content in enumerate(contents, 1):
        (home / f"v{number}" / "small").mkdir(parents=True)
        small_folder.write(home / f"v{number}" / "small", content)
    return SimpleNamespace(first=home / "v1" / "small", second=home / "v2" / "small")


def edit_card(files, **data):
    """Return a card with other YAML, and a paragraph of its own."""
    known, body = split_card(files["README.md"].decode())
    known["configs"].append({"config_name": "human.1", "data_files": [{"split": "test", "path": "human.1/test-*"}]})
    body = body.replace("## Uses", "Own words of the author.\n\n## Uses", 1)
    return f"---\n{yaml.safe_dump(known | data, sort_keys=False)}---\n{body}".encode()


def commit(name, files):
    operations = [CommitOperationAdd(path, data) for path, data in files.items()]
    HfApi().create_commit(name, operations, commit_message="mine", repo_type="dataset")


def test_foreign_files_configs_and_words_survive_every_upload(here, folders, tmp_path):
    upload(folders.first, "org/small", version="1.0.0")
    card = edit_card(here.files("datasets", "org/small"), extra_gated_prompt="Promise.", doi="10.1/x")
    commit("org/small", {**FOREIGN, "README.md": card})
    ours = shutil.copytree(folders.second, tmp_path / "small")
    text = (ours / "README.md").read_text()
    (ours / "README.md").write_text(text.replace("Something true.", "Something new.", 1))
    steps = [(folders.first, "1.0.0"), (ours, "1.1.0"), (ours, "1.1.0"), (folders.first, "1.2.0")]
    for folder, version in steps:
        upload(folder, "org/small", version=version)
        files = here.files("datasets", "org/small")
        assert FOREIGN.items() <= files.items()
        data, body = split_card(files["README.md"].decode())
        assert data["extra_gated_prompt"] == "Promise." and data["doi"] == "10.1/x"
        names = [each["config_name"] for each in data["configs"]]
        own = ["clean", "keyboard.1"] if folder == folders.first else ["clean"]
        assert names == [*own, "human.1"]
        assert body.count("Own words of the author.") == 1
        assert ("Something new." in body) == (folder == ours)
    assert json.loads(files[MANIFEST])["files"] == [
        "README.md", "clean/test-00000-of-00001.parquet", "clean/train-00000-of-00001.parquet",
        "keyboard.1/test-00000-of-00001.parquet",
    ]  # fmt: skip


@pytest.mark.usefixtures("here")
def test_only_what_lapsus_listed_is_removed_and_each_file_is_named(folders):
    upload(folders.first, "org/small")
    commit("org/small", {"keyboard.2/test-00000-of-00001.parquet": b"others"})
    done = upload(folders.second, "org/small")
    assert done.removed == ("keyboard.1/test-00000-of-00001.parquet",)
    assert "1 removed (keyboard.1/test-00000-of-00001.parquet); not of this build and left there: keyboard.2" in str(
        done
    )


def test_a_file_of_somebody_else_is_not_replaced(here, folders):
    upload(folders.second, "org/small")
    commit("org/small", {"keyboard.1/test-00000-of-00001.parquet": b"others"})
    with pytest.raises(UploadError, match=r"somebody else put keyboard.1/test-00000-of-00001.parquet there; call your"):
        upload(folders.first, "org/small")
    assert here.files("datasets", "org/small")["keyboard.1/test-00000-of-00001.parquet"] == b"others"
    upload(folders.first, "org/small", replace_version=True)


def test_an_older_version_does_not_replace_a_newer_one(here, folders, tmp_path):
    for name, version in (("new", "1.10.0"), ("old", "1.9.0")):
        folder = shutil.copytree(folders.first, tmp_path / name / "small")
        card = (folder / "README.md").read_text()
        (folder / "README.md").write_text(card.replace("---\n", f"---\nlapsus: small\nversion: {version}\n", 1))
    upload(tmp_path / "new" / "small", "org/small", version="1.10.0")
    before = here.files("datasets", "org/small")
    for version in ("1.9.0", None):  # a part has no tag, and is no newer for it
        with pytest.raises(UploadError, match=r"version 1\.10\.0 is there, and this is 1\.9\.0; build the newer one"):
            upload(tmp_path / "old" / "small", "org/small", version=version)
    assert here.files("datasets", "org/small") == before
    upload(tmp_path / "old" / "small", "org/small", version="1.9.0", replace_version=True)


def test_files_beside_a_space_stay(here, tmp_path):
    folder = tmp_path / "count"
    folder.mkdir()
    for name in ("README.md", "count.py", "old.py"):
        (folder / name).write_text("---\ntitle: Count\n---\n")
    upload_space(folder, "org/count")
    here.repos["spaces", "org/count"].commit("main", {"examples.csv": b"a"}, (), "mine")
    (folder / "old.py").unlink()
    assert upload_space(folder, "org/count").removed == ("old.py",)
    assert here.files("spaces", "org/count")["examples.csv"] == b"a"


def test_a_card_of_an_earlier_owner_is_kept_by_the_first_upload(here, folders):
    here.create("datasets", "org/small").commit(
        "main", {"README.md": b"---\nlicense: mit\n---\nMy words.\n"}, (), "card"
    )
    upload(folders.first, "org/small")
    data, body = split_card(here.files("datasets", "org/small")["README.md"].decode())
    assert "My words." in body and "## Uses" in body and len(data["configs"]) == 2


def test_an_upload_that_fails_while_a_card_is_merged_is_no_success(here, folders, tmp_path):
    upload(folders.first, "org/small")
    changed = shutil.copytree(folders.first, tmp_path / "small")
    with (changed / "README.md").open("a") as card:
        card.write("A word more.\n")
    here.faults = [Fault("GET", r"resolve/.*README.md", times=99, status=500)]
    with pytest.raises(UploadError, match="the Hub answered 500"):
        upload(changed, "org/small")
    here.faults = []
    assert upload(changed, "org/small").uploaded == ("README.md",)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a b c", "a b c", "a x b c", "a x b c"),
        ("a b c", "a B c", "a b c d", "a B c d"),
        ("a b c", "a c", "a b c d", "a c d"),
        ("a b c", "a X c", "a Y c", "a X Y c"),
        ("a |1 c", "a |2 c", "a |3 c", "a |2 c"),
        ("", "a b", "c", "a b c"),
    ],
)
def test_lines_merge(base, ours, theirs, merged):
    assert merge_lines(base.split(), ours.split(), theirs.split()) == merged.split()


def test_data_merge_keeps_changes_of_both_and_what_is_generated():
    base = {"license": "mit", "version": "1", "tags": ["a"], "gone": 1}
    theirs = {"license": "cc0-1.0", "version": "0", "tags": ["a", "z"]}
    ours = {"license": "mit", "version": "2", "tags": ["a", "b"], "gone": 1}
    assert merge_data(base, ours, theirs) == {"license": "cc0-1.0", "version": "2", "tags": ["a", "b", "z"]}
    assert merge_cards("---\na: 1\n---\nx\n", "---\na: 2\n---\nx\n", "---\na: 1\n---\nx\n") == "---\na: 2\n---\nx\n"
